"""Choose the action of `resolab fleet`. Not for: the action itself."""

import argparse

from resolab.basics.installation import check_extra


def run(options: argparse.Namespace) -> int:
    """Run the chosen action."""
    check_extra("fleet")
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
