"""Arguments of `resolab compare`. Not for: the command (`compare`), with imports too slow for `--help`."""

import argparse
from pathlib import Path


def add_compare(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> argparse.ArgumentParser:
    """Add the command's parser."""
    compare = commands.add_parser(
        "compare",
        help="what changed between two datasets, and is it noise",
        description="Compare dataset B with dataset A: conditions both have, their effects against the baseline, and "
        "what differs in programs, machine and plan (docs/guides/compare.md). Positive: B takes longer.",
    )
    compare.add_argument("first", type=Path, metavar="A", help="a dataset's folder")
    compare.add_argument("second", type=Path, metavar="B", help="the dataset to hold against it")
    outcome = "what of the page loads is compared, as plt (default) or lcp; an unknown name lists them all"
    compare.add_argument("--outcome", default="plt", metavar="NAME", help=outcome)
    compare.add_argument("--json", action="store_true", help="everything as one JSON object")
    compare.add_argument("--html", type=Path, metavar="FILE", help="write one self-contained page, too")
    return compare
