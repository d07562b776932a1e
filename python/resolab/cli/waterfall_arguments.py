"""Arguments of `resolab waterfall`. Not for: the command itself (`waterfall`)."""

import argparse
from pathlib import Path

from resolab.cli.output_place import named_place


def add_waterfall(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> argparse.ArgumentParser:
    """Add the command's parser."""
    waterfall = commands.add_parser(
        "waterfall",
        help="print or draw page loads request by request",
        description="Print the measured load of a trial, or the median load of a condition (default: of every "
        "condition), request by request: look-up, connecting, wait, receive; FCP, LCP, load event. -o draws it, too. "
        "Guide: docs/guides/waterfall.md.",
    )
    waterfall.add_argument("dataset", type=Path, help="the dataset's folder")
    waterfall.add_argument("load", nargs="?", metavar="TRIAL|CONDITION", help="as b003-t017 or example.4g.doq.h3.full")
    waterfall.add_argument(
        "-o", "--output", type=named_place, metavar="PATH",
        help="FILE.svg, .pdf or .png of a single load; a name without a suffix is a folder for all of each",
    )  # fmt: skip
    return waterfall
