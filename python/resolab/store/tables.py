"""Trial files into Parquet tables: every record checked against its shape, one row each, with declared types.

For: `DIR/tables`, made anew from `DIR/trials` at any time. Not for: queries over the tables (`dataset`).
"""

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO

import duckdb
import msgspec

from resolab.basics.errors import ConfigurationError, MachineError
from resolab.basics.records import Record, TrialEndRecord, TrialRecord
from resolab.store.columns import END_COLUMNS, SINCE, TABLES, Column, data_dictionary, list_columns, tables_of_format
from resolab.store.files import escape_for_duckdb, machine_errors, write_whole
from resolab.store.folder import README, dataset_folder, is_published
from resolab.store.folder import TABLES as TABLES_FOLDER
from resolab.store.manifest import load_manifest
from resolab.store.readme import dataset_readme
from resolab.store.trials import find_finished_trials, read_trial

_TABLE_OF = {struct: table for table, struct in TABLES.items()}


def ensure_tables(folder: Path) -> Path:
    """Make `tables/` unless the tables match the trials and are newer than each, or the dataset has no trials."""
    target = dataset_folder(folder) / TABLES_FOLDER
    if is_published(folder):
        return _published_tables(folder)
    trials = find_finished_trials(folder)
    # Of a dataset without its trials no table can be made that it lacks.
    version = load_manifest(folder).format_version
    needed = tables_of_format(version) if trials else [table for table in TABLES if table not in SINCE]
    whole = all((target / f"{table}.parquet").is_file() for table in needed)
    if whole and not trials:
        return target
    newest_ns = max((file.stat().st_mtime_ns for file in trials.values()), default=0)
    fresh = whole and (folder / README).is_file() and target.stat().st_mtime_ns >= newest_ns
    return target if fresh and _trials_in(target) == trials.keys() else build_tables(folder)


def _published_tables(folder: Path) -> Path:
    """Return the tables of a published dataset, with every trial of the manifest."""
    tables, counted = folder / TABLES_FOLDER, load_manifest(folder).trials_finished_count
    found = len(_trials_in(tables))
    if found != counted:
        problem = f"its tables hold {found} trials and its manifest counts {counted}"
        raise ConfigurationError(f"failed to open dataset {folder}: {problem}; restore its trials or tables")
    return tables


def _trials_in(tables: Path) -> set[str]:
    """List the trials in the tables; empty for unreadable tables."""
    with duckdb.connect(config={"autoinstall_known_extensions": "false"}) as connection:
        try:
            rows = connection.read_parquet(escape_for_duckdb(tables / "trials.parquet")).project("trial_id").fetchall()
        except duckdb.Error:
            return set()
    return {trial for (trial,) in rows}


def build_tables(folder: Path) -> Path:
    """Make `tables/` from the finished trials; the old tables stay until the new ones are whole."""
    manifest = load_manifest(folder)
    if manifest.trials_finished_count and not find_finished_trials(folder):
        problem = f"none of the {manifest.trials_finished_count} trials that its manifest counts is there"
        raise ConfigurationError(f"failed to make the tables of {folder}: {problem}; restore its trials")
    target = folder / TABLES_FOLDER
    with machine_errors(f"write tables into {folder}"):
        for left in folder.glob(f".{TABLES_FOLDER}-*"):
            shutil.rmtree(left)
        fresh = Path(tempfile.mkdtemp(prefix=f".{TABLES_FOLDER}-", dir=folder))
        try:
            fresh.chmod(0o755)
            _write_rows(folder, fresh)
            rows_count = _write_parquet(fresh)
            (fresh / "README.md").write_text(data_dictionary(), "utf-8")
            if target.exists():
                shutil.rmtree(target)
            fresh.rename(target)
            write_whole(folder / README, dataset_readme(manifest, rows_count).encode())
        except duckdb.Error as error:
            reason = str(error).partition("\n")[0]
            raise MachineError(f"failed to write tables into {folder}: {reason}; is the disk full?") from error
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
    return target


def _write_rows(folder: Path, fresh: Path) -> None:
    """Write one JSON Lines file of rows per table; DuckDB reads such files in bulk, with our types."""
    columns = {table: list_columns(table) for table in TABLES}
    encoder = msgspec.json.Encoder()
    with ExitStack() as stack:
        streams: dict[str, BinaryIO] = {
            table: stack.enter_context((fresh / f"{table}.jsonl").open("wb")) for table in TABLES
        }
        for trial, file in find_finished_trials(folder).items():
            for table, record in _table_records(trial, file):
                row = {column.name: _value(record, column) for column in columns[table]}
                streams[table].write(encoder.encode(row) + b"\n")


def _table_records(trial: str, file: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the records with a table, each with its trial's identifier; the trial's two frames become one row."""
    frame: dict[str, Any] | None = None
    end: Record | None = None
    for record in read_trial(file):
        if isinstance(record, TrialRecord):
            frame = msgspec.to_builtins(record)
        elif isinstance(record, TrialEndRecord):
            end = record
        elif table := _TABLE_OF.get(type(record)):
            yield table, msgspec.to_builtins(record) | {"trial_id": trial}
    if frame is None or end is None:
        raise ConfigurationError(f"failed to read {file}: it lacks its first or last line; remove it and resume")
    if frame["trial_id"] != trial:
        problem = f"it is the file of trial {frame['trial_id']}, copied or renamed"
        raise ConfigurationError(f"failed to read {file}: {problem}; remove it")
    closing = {name: getattr(end, field) for name, field in END_COLUMNS.items()}
    yield "trials", frame | closing | {"trial_id": trial}


def _value(record: Mapping[str, Any], column: Column) -> Any:
    if column.made is not None:
        return column.made(record)
    value: Any = record
    for name in column.path:
        value = None if value is None else value[name]
    if isinstance(value, list):
        return [msgspec.json.encode(one).decode() if isinstance(one, dict) else one for one in value]
    return value


def _write_parquet(fresh: Path) -> dict[str, int]:
    """Turn the rows into Parquet files; return how many each table has."""
    counts: dict[str, int] = {}
    with duckdb.connect(config={"autoinstall_known_extensions": "false"}) as connection:
        for table in TABLES:
            rows = fresh / f"{table}.jsonl"
            types = {column.name: column.duckdb_type for column in list_columns(table)}
            relation = connection.read_json(escape_for_duckdb(rows), columns=types, format="newline_delimited")
            file = fresh / f"{table}.parquet"
            relation.write_parquet(str(file), compression="zstd")
            counts[table] = len(connection.read_parquet(escape_for_duckdb(file)))
            rows.unlink()
    return counts
