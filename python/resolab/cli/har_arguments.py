"""Arguments of `resolab har`. Not for: the command itself (`har`)."""

import argparse
from pathlib import Path

from resolab.cli.output_place import named_place


def add_har(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> argparse.ArgumentParser:
    """Add the command's parser."""
    har = commands.add_parser(
        "har",
        help="export page loads of a dataset as HTTP Archives (HAR 1.2)",
        description="Export measured page loads as HTTP Archives (HAR 1.2): one trial to a file or standard output, "
        "several or all into a folder (docs/formats/har.md).",
    )
    har.add_argument("dataset", type=Path, help="the dataset's folder")
    har.add_argument("trials", nargs="*", metavar="TRIAL", help="as b003-t017 (default: all finished trials)")
    har.add_argument(
        "-o", "--output", type=named_place, metavar="PATH", help="file of a single trial (default: standard output), "
        "folder of several (default: DATASET/har)",
    )  # fmt: skip
    return har
