"""Arguments of `resolab merge`. Not for: the command itself (`merge`)."""

import argparse
from pathlib import Path


def add_merge(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> argparse.ArgumentParser:
    """Add the command's parser."""
    merge = commands.add_parser(
        "merge",
        help="several runs of one plan as one dataset",
        description="Copy several runs of one plan into a new dataset: blocks are numbered on, every trial keeps the "
        "dataset it came from. Other conditions, profiles or formats are refused (docs/formats/dataset.md).",
    )
    merge.add_argument("output", type=Path, metavar="OUT", help="the new dataset's folder")
    merge.add_argument("datasets", type=Path, nargs="+", metavar="DIR", help="the datasets; two or more")
    return merge
