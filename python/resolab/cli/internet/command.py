"""Which action of `resolab internet` was asked for. Not for: doing it."""

import argparse


def run(options: argparse.Namespace) -> int:
    """Hand over to the action."""
    from resolab.cli.internet import checking, contacting, placing, running, showing

    actions = {
        "up": running.up,
        "run": running.run,
        "show": showing.show,
        "truth": showing.truth,
        "failures": showing.failures,
        "check": checking.check,
        "places": placing.places,
        "contacts": contacting.contacts,
    }
    return actions[options.action](options)
