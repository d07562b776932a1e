"""Choose the action of `resolab fleet`. Not for: the action itself."""

import argparse
import importlib.util

from resolab.errors import MachineError

NEEDED = ("nats", "cryptography")


def run(options: argparse.Namespace) -> int:
    """Run the chosen action."""
    if any(importlib.util.find_spec(one) is None for one in NEEDED):
        raise MachineError("a fleet needs packages that are not installed: install resolab's wheel as resolab[fleet]")
    from resolab.cli.fleet import agent, membership, runs, serve

    actions = {
        "serve": serve.serve,
        "invite": membership.invite,
        "withdraw": membership.withdraw,
        "agent": agent.take_part,
        "run": runs.run,
        "status": runs.status,
        "fetch": runs.fetch,
        "stop": runs.stop,
    }
    return actions[options.action](options)
