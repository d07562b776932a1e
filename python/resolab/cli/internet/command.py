"""Choose the action of `resolab internet`. Not for: the action itself."""

import argparse


def run(options: argparse.Namespace) -> int:
    """Run the chosen action."""
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
