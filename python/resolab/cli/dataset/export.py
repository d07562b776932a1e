"""`resolab export`: tables of a dataset as files for other programs.

For: the destination and the output for people. Not for: writing the tables (`store`).
"""

from collections.abc import Sequence
from pathlib import Path


def run(dataset: Path, output: Path | None, file_format: str, tables: Sequence[str]) -> int:
    """Write the tables; print the file names."""
    from resolab.store import ExportFormat, export_tables

    out = output or dataset / "export"
    for file in export_tables(dataset, out, file_format=ExportFormat(file_format), tables=tables):
        print(file)
    return 0
