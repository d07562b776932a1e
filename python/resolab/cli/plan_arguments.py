"""Arguments of `resolab plan`. Not for: what it does (`plan`), which needs more imports than `--help` may cost."""

import argparse
from pathlib import Path


def add_plan(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> argparse.ArgumentParser:
    """Add the command and its two actions."""
    plan = commands.add_parser("plan", help="check a plan without running it")
    actions = plan.add_subparsers(title="actions", required=True, metavar="ACTION")
    check = actions.add_parser(
        "check",
        help="conditions, trials, expected duration and exclusions of a plan",
        description="Read a plan as `run` does and say what it would run. Nothing is started.",
    )
    check.add_argument("plan", type=Path, help="the plan: a TOML file, or the name of one that comes along (quick)")
    check.add_argument("--seed", type=int, help="use this seed instead of the plan's")
    check.add_argument("--blocks", type=int, help="assume this many blocks instead of the plan's number")
    check.add_argument("--json", action="store_true", help="one JSON object, every condition with its levels")
    check.set_defaults(action="check")
    schema = actions.add_parser("schema", help="JSON Schema of plan files, for editors")
    schema.set_defaults(action="schema")
    return plan
