"""Tables of a dataset as CSV or Parquet files for other programs, with the data dictionary beside the files.

For: `resolab export`. Not for: making the tables (`tables`).

In CSV a list is JSON text, null is an empty field and an empty text is `""`, so reading restores every row.
"""

from collections.abc import Collection, Sequence
from enum import StrEnum
from pathlib import Path

import duckdb

from resolab.basics.errors import ConfigurationError, MachineError, UsageError
from resolab.store.columns import TABLES, data_dictionary, list_columns
from resolab.store.dataset import open_dataset
from resolab.store.files import machine_errors, write_whole
from resolab.store.folder import TABLES as TABLES_FOLDER
from resolab.store.folder import is_published
from resolab.store.tables import ensure_tables


class ExportFormat(StrEnum):
    """Files an export is made of."""

    CSV = "csv"
    PARQUET = "parquet"


_OPTIONS = {
    ExportFormat.CSV: "FORMAT csv, HEADER true, DELIMITER ',', NULLSTR ''",
    ExportFormat.PARQUET: "FORMAT parquet, COMPRESSION zstd",
}


def export_tables(
    folder: Path, out: Path, *, file_format: ExportFormat = ExportFormat.CSV, tables: Sequence[str] = ()
) -> list[Path]:
    """Write the tables named, or all, into a folder; return the files.

    Of all tables, those that a published folder lacks are left out.
    """
    unknown = [table for table in tables if table not in TABLES]
    if unknown:
        raise UsageError(f"could not export table {unknown[0]!r}: there are {', '.join(TABLES)}")
    ensure_tables(folder)
    dictionary = out / "data_dictionary.md"
    with open_dataset(folder) as dataset:
        missing = set(dataset.missing_tables) | _find_later_tables(folder)
        lacking = sorted(missing.intersection(tables))
        if lacking:
            problem = f"this published folder has no table {lacking[0]}"
            raise ConfigurationError(f"failed to export from {folder}: {problem}; it has {', '.join(_others(missing))}")
        wanted = tables or _others(missing)
        with machine_errors(f"make the folder {out}"):
            out.mkdir(parents=True, exist_ok=True)
        files = [_export(dataset.connection, table, out, file_format) for table in wanted]
    write_whole(dictionary, data_dictionary(_others(missing)).encode())
    return [*files, dictionary]


def _find_later_tables(folder: Path) -> set[str]:
    """List the tables that formats since a published folder's added; they would be empty."""
    if not is_published(folder):
        return set()
    return {table for table in TABLES if not (folder / TABLES_FOLDER / f"{table}.parquet").is_file()}


def _others(missing: Collection[str]) -> list[str]:
    """List the tables without the missing ones."""
    return [table for table in TABLES if table not in missing]


def _export(connection: duckdb.DuckDBPyConnection, table: str, out: Path, file_format: ExportFormat) -> Path:
    file = out / f"{table}.{file_format}"
    partial = file.with_name(file.name + ".partial")
    try:
        connection.execute(f"COPY ({_selection(table, file_format)}) TO '{_quoted(partial)}' ({_OPTIONS[file_format]})")
        with machine_errors(f"write {file}"):
            partial.replace(file)
    except duckdb.Error as error:
        reason = str(error).partition("\n")[0]
        raise MachineError(f"failed to write {file}: {reason}; see to that or give another folder") from error
    finally:
        partial.unlink(missing_ok=True)
    return file


def _selection(table: str, file_format: ExportFormat) -> str:
    """Name the columns individually; the names come from the records."""
    texts = file_format is ExportFormat.CSV
    columns = ", ".join(
        f'to_json("{one.name}")::VARCHAR AS "{one.name}"'
        if texts and one.duckdb_type.endswith("[]")
        else f'"{one.name}"'
        for one in list_columns(table)
    )
    return f"SELECT {columns} FROM {table}"  # noqa: S608 - names of the records


def _quoted(file: Path) -> str:
    return str(file).replace("'", "''")
