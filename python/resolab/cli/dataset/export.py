"""`resolab export`: tables of a dataset as files for other programs.

For: the destination and the output for people. Not for: writing the tables (`store`).
"""

import sys
from collections.abc import Sequence
from pathlib import Path


def run(dataset: Path, output: Path | None, file_format: str, tables: Sequence[str]) -> int:
    """Write the tables; print the file names."""
    from resolab.store import ExportFormat, export_tables
    from resolab.store.columns import TABLES

    out = output or dataset / "export"
    files = export_tables(dataset, out, file_format=ExportFormat(file_format), tables=tables)
    for file in files:
        print(file)
    missing = [table for table in tables or TABLES if table not in {file.stem for file in files}]
    if missing:
        print(f"not in this published folder: {', '.join(missing)}", file=sys.stderr)
    return 0
