"""Arguments of `resolab export`. Not for: the command itself (`export`)."""

import argparse
from pathlib import Path

from resolab.cli.output_place import named_place


def add_export(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> argparse.ArgumentParser:
    """Add the command's parser."""
    export = commands.add_parser(
        "export",
        help="tables of a dataset as CSV or Parquet",
        description="Write the tables of a dataset as CSV (lists as JSON text, null as an empty field) or Parquet, "
        "with a data dictionary (docs/formats/dataset.md).",
    )
    export.add_argument("dataset", type=Path, help="the dataset's folder")
    export.add_argument("--format", choices=["csv", "parquet"], default="csv", help="default: %(default)s")
    export.add_argument("-o", "--output", type=named_place, metavar="OUT", help="the folder (default: DATASET/export)")
    export.add_argument(
        "--table", action="append", metavar="NAME", help="this table; can be given again (default: all)"
    )
    return export
