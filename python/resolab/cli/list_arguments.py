"""Arguments of `resolab list`. Not for: the lists themselves (`listing`)."""

import argparse

KINDS = ("pages", "profiles", "plans", "factors", "studies")


def add_list(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> argparse.ArgumentParser:
    """Add the parser of `list`."""
    listed = commands.add_parser(
        "list",
        help="what plans can name: pages, profiles, plans that come along, factors with their levels, studies",
        description="List what plans can name. Shapes: docs/formats/page.md, profile.md, plan.md.",
    )
    listed.add_argument("what", choices=KINDS)
    listed.add_argument("words", nargs="*", metavar="WORD", help="only names that contain one of these words")
    listed.add_argument("--all", action="store_true", help="every profile, also of sources with many profiles")
    listed.add_argument("--json", action="store_true", help="one JSON object a line")
    return listed
