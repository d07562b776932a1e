"""`resolab evidence`: a trial's files in a folder.

For: the output for people. Not for: making the files (`resolab.extras.evidence`).
"""

import argparse
import json
from dataclasses import asdict

from resolab.basics.installation import check_extra


def run(options: argparse.Namespace) -> int:
    """Write a trial's files; print the written and missing files, and the command to view the packets."""
    check_extra("evidence")
    from resolab.extras.evidence import lay_out

    evidence = lay_out(options.dataset, options.trial, options.output)
    if options.json:
        print(json.dumps(asdict(evidence) | {"folder": str(evidence.folder)}, indent=1))
        return 0
    print(f"{evidence.folder}:")
    width = max(len(one.name) for one in evidence.pieces)
    for one in evidence.pieces:
        print(f"  {one.name:<{width}}  {one.what}")
    for lack in evidence.lacks:
        print(f"not there: {lack}")
    if evidence.wireshark is not None:
        print(f"the measured load's packets:\n  {evidence.wireshark}")
    return 0
