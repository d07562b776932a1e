"""`resolab history DIR...`: several datasets of one plan for programs that find changes over time.

For: reading the datasets and writing the files. Not for: their content (`report.verdicts.history`).
"""

import argparse
import json
import sys

from resolab.basics.errors import UsageError


def run(options: argparse.Namespace) -> int:
    """Write the history as CSV, and the files asked for."""
    from resolab.report.verdicts import history
    from resolab.store import dataset_folder, write_named

    if options.otava and not options.output:
        raise UsageError("history: --otava names the CSV file, so it needs -o FILE")
    rows = history.read_history([dataset_folder(folder) for folder in options.datasets])
    text = history.as_csv(rows)
    for name in history.list_left_out_metrics(rows):
        print(f"note: left out, as not all datasets have a value: {name}", file=sys.stderr)
    if options.output:
        write_named(options.output, text.encode())
    else:
        print(text, end="")
    if options.otava:
        configuration = history.as_otava_configuration(rows, options.output.absolute())
        write_named(options.otava, configuration.encode())
    if options.bencher:
        write_named(options.bencher, (json.dumps(history.as_bencher_metrics(rows[-1]), indent=2) + "\n").encode())
    return 0
