"""Arguments of the commands reading finished datasets.

For: `resolab compare`, `history`, `export`, `merge`, `har`, `waterfall` and `evidence`. Not for: the commands
themselves (modules of this folder), with imports too slow for `--help`.
"""

import argparse
from pathlib import Path

from resolab.cli.experiment_arguments import add_check_options
from resolab.cli.output_place import read_output_place


def add_compare(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> argparse.ArgumentParser:
    """Add the parser of `compare`."""
    compare = commands.add_parser(
        "compare",
        help="what changed between two datasets, and is it noise",
        description="Compare dataset B with dataset A: conditions both have, their effects against the baseline, and "
        "what differs in programs, machine and plan (docs/guides/compare.md). Positive: B takes longer.",
    )
    compare.add_argument("first", type=Path, metavar="A", help="a dataset's folder")
    compare.add_argument("second", type=Path, metavar="B", help="the dataset to hold against it")
    outcome = "what is compared, as plt or lcp (default: the trials' main outcome); an unknown name lists all"
    compare.add_argument("--outcome", metavar="NAME", help=outcome)
    compare.add_argument("--json", action="store_true", help="everything as one JSON object")
    compare.add_argument("--html", type=Path, metavar="FILE", help="write one self-contained page, too")
    compare.add_argument(
        "--check", action="store_true", help="verdicts on B's [[expect]]: has the difference from the baseline grown?"
    )
    compare.add_argument(
        "--any-margin", action="store_true", help="with --check: allow margins below the drift from day to day"
    )
    add_check_options(compare)
    return compare


def add_history(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> argparse.ArgumentParser:
    """Add the parser of `history`."""
    history = commands.add_parser(
        "history",
        help="checked datasets over time, for Apache Otava and bencher",
        description="Write a CSV line for each dataset of one plan: time, versions, and for each [[expect]] the median "
        "difference from the baseline, the share of slow trials or the number of failures "
        "(docs/guides/build-pipeline.md).",
        epilog="example: resolab history runs/mine-* -o history.csv --otava otava.yaml",
    )
    history.add_argument("datasets", type=Path, nargs="+", metavar="DIR", help="the datasets' folders, in any order")
    history.add_argument("-o", "--output", type=Path, metavar="FILE", help="the CSV file (default: standard output)")
    history.add_argument("--otava", type=Path, metavar="FILE", help="write Otava's configuration for the CSV file, too")
    history.add_argument(
        "--bencher", type=Path, metavar="FILE", help="write the last dataset in the Bencher Metric Format, too"
    )
    return history


def add_export(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> argparse.ArgumentParser:
    """Add the parser of `export`."""
    export = commands.add_parser(
        "export",
        help="tables of a dataset as CSV or Parquet",
        description="Write the tables of a dataset as CSV (lists as JSON text, null as an empty field) or Parquet, "
        "with a data dictionary (docs/formats/dataset.md).",
    )
    export.add_argument("dataset", type=Path, help="the dataset's folder")
    export.add_argument("--format", choices=["csv", "parquet"], default="csv", help="default: %(default)s")
    export.add_argument(
        "-o", "--output", type=read_output_place, metavar="OUT", help="the folder (default: DATASET/export)"
    )
    export.add_argument(
        "--table", action="append", metavar="NAME", help="this table; can be given again (default: all)"
    )
    return export


def add_merge(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> argparse.ArgumentParser:
    """Add the parser of `merge`."""
    merge = commands.add_parser(
        "merge",
        help="several runs of one plan as one dataset",
        description="Copy several runs of one plan into a new dataset: blocks are numbered on, every trial keeps the "
        "dataset it came from. Other conditions, profiles or formats are refused (docs/formats/dataset.md).",
    )
    merge.add_argument("output", type=Path, metavar="OUT", help="the new dataset's folder")
    merge.add_argument("datasets", type=Path, nargs="+", metavar="DIR", help="the datasets; two or more")
    return merge


def add_har(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> argparse.ArgumentParser:
    """Add the parser of `har`."""
    har = commands.add_parser(
        "har",
        help="export page loads of a dataset as HTTP Archives (HAR 1.2)",
        description="Export measured page loads as HTTP Archives (HAR 1.2): one trial to a file or standard output, "
        "several or all into a folder (docs/formats/har.md).",
    )
    har.add_argument("dataset", type=Path, help="the dataset's folder")
    har.add_argument("trials", nargs="*", metavar="TRIAL", help="as b003-t017 (default: all finished trials)")
    har.add_argument(
        "-o", "--output", type=read_output_place, metavar="PATH",
        help="file of a single trial (default: standard output), folder of several (default: DATASET/har)",
    )  # fmt: skip
    return har


def add_waterfall(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> argparse.ArgumentParser:
    """Add the parser of `waterfall`."""
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
        "-o", "--output", type=read_output_place, metavar="PATH",
        help="FILE.svg, .pdf or .png of a single load; FILE.html: a page of all; a name without a suffix is a folder",
    )  # fmt: skip
    return waterfall


def add_evidence(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> argparse.ArgumentParser:
    """Add the parser of `evidence`."""
    evidence = commands.add_parser(
        "evidence",
        help="lay out all there is of one trial, for Wireshark, Perfetto and browsers' own tools",
        description="Lay out one trial in a folder: its records, HTTP Archive, waterfall and a trace of every part on "
        "one clock; of a plan with instrument.pcap, key_log or netlog also the packets with their keys and the "
        "browser's own log. Prints the line that shows the packets. Guide: docs/guides/evidence.md.",
    )
    evidence.add_argument("dataset", type=Path, help="the dataset's folder")
    evidence.add_argument("trial", metavar="TRIAL", help="as b003-t017")
    evidence.add_argument(
        "-o", "--output", type=read_output_place, metavar="FOLDER", help="default: DATASET/evidence/TRIAL"
    )
    evidence.add_argument("--json", action="store_true", help="say what was written as JSON")
    return evidence
