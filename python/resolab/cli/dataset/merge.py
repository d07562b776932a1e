"""`resolab merge`: several runs of a plan as a single dataset.

For: the output for people. Not for: the merge itself and its rules (`store`).
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from resolab.basics.wording import format_count


def run(output: Path, datasets: Sequence[Path]) -> int:
    """Merge datasets; print the differences between the runs, and the result."""
    from resolab.store import merge_datasets

    manifest = merge_datasets(output, datasets)
    for warning in manifest.warnings:
        print(f"resolab: warning: {warning}", file=sys.stderr)
    count, blocks = manifest.trials_finished_count, manifest.blocks
    runs = format_count(len(manifest.merged_from), "run")
    print(f"dataset: {output} ({format_count(count, 'trial')} in {format_count(blocks, 'block')} of {runs})")
    print(f"next:    ./resolab report {output}")
    return 0
