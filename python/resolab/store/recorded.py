"""The records of each trial: from the trial files or, of a published dataset, from the rows of its tables.

For: readers of records in need of both kinds of datasets. Not for: reading one trial's file (`trials`).
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from resolab.basics.errors import ConfigurationError
from resolab.basics.records import Record, TrialEndRecord, TrialRecord
from resolab.store.columns import END_COLUMNS, TABLES, list_columns
from resolab.store.dataset import Dataset, open_dataset
from resolab.store.folder import PLAN, is_published
from resolab.store.trials import find_finished_trials, read_trial

_TRIALS_AT_A_TIME = 200
_COLUMNS = {
    table: [one for one in list_columns(table) if one.path and (table != "trials" or one.name not in END_COLUMNS)]
    for table in TABLES
}
_ROWS = "SELECT * FROM {table} WHERE trial_id IN (SELECT unnest(?))"


def records_of_trials(folder: Path, tables: Sequence[str]) -> Iterator[list[Record]]:
    """Yield the records of every finished trial, in the order of the run: its first, those of the tables, its last.

    Records of other tables may be among them.
    """
    if not is_published(folder):
        for file in find_finished_trials(folder).values():
            yield list(read_trial(file))
        return
    with open_dataset(folder) as dataset:
        missing = [table for table in tables if table in dataset.missing_tables]
        if missing:
            problem = f"this published folder has no table {missing[0]}"
            hint = f"run its plan for new trials: resolab run {folder / PLAN}"
            raise ConfigurationError(f"failed to read the trials of {folder}: {problem}; {hint}")
        heads = dataset.sql("SELECT * FROM trials ORDER BY block, position")
        for first in range(0, len(heads), _TRIALS_AT_A_TIME):
            some = heads[first : first + _TRIALS_AT_A_TIME]
            rows = _rows(dataset, tables, [head["trial_id"] for head in some])
            for head in some:
                yield [_record(TrialRecord, "trials", head), *rows[head["trial_id"]], _end(head)]


def _rows(dataset: Dataset, tables: Sequence[str], trials: Sequence[str]) -> dict[str, list[Record]]:
    found: dict[str, list[Record]] = {trial: [] for trial in trials}
    for table in tables:
        for row in dataset.sql(_ROWS.format(table=table), [list(trials)]):
            found[row["trial_id"]].append(_record(TABLES[table], table, row))
    return found


def _end(row: dict[str, Any]) -> TrialEndRecord:
    fields = {field: row[column] for column, field in END_COLUMNS.items()}
    return TrialEndRecord(trial_id=row["trial_id"], **fields)


def _record(struct: type[msgspec.Struct], table: str, row: dict[str, Any]) -> Any:
    """Put a row's values back into the record's shapes; a shape without any value was absent."""
    shaped: dict[str, Any] = {}
    for column in _COLUMNS[table]:
        value = row[column.name]
        if value is None:
            continue
        above = shaped
        for part in column.path[:-1]:
            above = above.setdefault(part, {})
        above[column.path[-1]] = [msgspec.json.decode(one) for one in value] if column.of_shapes else value
    return msgspec.convert(shaped, struct)
