"""Arguments of `resolab evidence`. Not for: the command itself (`evidence`)."""

import argparse
from pathlib import Path

from resolab.cli.output_place import named_place


def add_evidence(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> argparse.ArgumentParser:
    """Add the command's parser."""
    evidence = commands.add_parser(
        "evidence",
        help="lay out all there is of one trial, for Wireshark, Perfetto and browsers' own tools",
        description="Lay out one trial in a folder: its records, HTTP Archive, waterfall and a trace of every part on "
        "one clock; of a plan with instrument.pcap, key_log or netlog also the packets with their keys and the "
        "browser's own log. Prints the line that shows the packets. Guide: docs/guides/evidence.md.",
    )
    evidence.add_argument("dataset", type=Path, help="the dataset's folder")
    evidence.add_argument("trial", metavar="TRIAL", help="as b003-t017")
    evidence.add_argument("-o", "--output", type=named_place, metavar="FOLDER", help="default: DATASET/evidence/TRIAL")
    evidence.add_argument("--json", action="store_true", help="say what was written as JSON")
    return evidence
