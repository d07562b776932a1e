"""Choose the action of `resolab internet`. Not for: the action itself."""

import argparse


def run(options: argparse.Namespace) -> int:
    """Run the chosen action."""
    from resolab.cli.internet import check, contacts, places, show, up

    actions = {
        "up": up.up,
        "run": up.run,
        "show": show.show,
        "truth": show.truth,
        "failures": show.failures,
        "check": check.check,
        "places": places.places,
        "contacts": contacts.contacts,
    }
    return actions[options.action](options)
