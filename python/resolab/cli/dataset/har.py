"""`resolab har`: page loads of a dataset as HTTP Archives.

For: the destination and the output for people. Not for: making archives (`resolab.store.har`).
"""

from collections.abc import Sequence
from pathlib import Path


def run(dataset: Path, trials: Sequence[str], output: Path | None) -> int:
    """Write a single trial's archive to a file or standard output, several or all trials' into a folder."""
    from resolab.store.har import har_text, write_archive, write_archives

    if len(trials) == 1:
        if output is None:
            print(har_text(dataset, trials[0]), end="")
        else:
            write_archive(dataset, trials[0], output)
        return 0
    folder = output or dataset / "har"
    written = write_archives(dataset, trials, folder)
    print(f"{len(written)} archives in {folder}")
    return 0
