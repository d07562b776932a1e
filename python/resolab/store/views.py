"""Tables on the disk as DuckDB views, after a check of their columns.

For: refusing foreign and broken files; reading tables of an older minor version. Not for: queries (`queries`).

A missing column is read as the default of records without the field, if the record has a default. So tables made before
a format's minor version stay readable. Any other missing column, and any column of another type, makes the file
foreign. Unknown columns are ignored. A missing table is empty; `Dataset.missing_tables` separates it from an empty one.
"""

from pathlib import Path

import duckdb

from resolab.basics.errors import ConfigurationError
from resolab.basics.records import PageFailure, TrialFlag
from resolab.store.columns import REQUIRED, TABLES, Column, list_columns
from resolab.store.files import escape_for_duckdb
from resolab.store.folder import TABLES as TABLES_FOLDER
from resolab.store.folder import is_published
from resolab.store.literals import literal

_RECORDED = "page_loads_as_recorded"
_PAGE_LOADS = f"""
CREATE VIEW page_loads AS
SELECT l.* REPLACE (
           CASE WHEN i.trial_id IS NULL THEN l.failure ELSE '{PageFailure.INCOMPLETE}' END AS failure,
           CASE WHEN i.trial_id IS NULL THEN l.failure_detail ELSE 'fewer requests answered than the page has' END
               AS failure_detail,
           coalesce(l.last_byte_ms, b.last_byte_ms) AS last_byte_ms
       )
FROM {_RECORDED} AS l
LEFT JOIN (SELECT trial_id FROM trials WHERE list_contains(flags, '{TrialFlag.RESOURCES_MISSING}')) AS i
    ON i.trial_id = l.trial_id AND l.measured AND l.failure IS NULL
LEFT JOIN (
    SELECT w.trial_id, max(r.response_end_ms) AS last_byte_ms
    FROM {_RECORDED} AS w JOIN requests AS r ON r.trial_id = w.trial_id AND r.response_end_ms <= w.plt_ms
    WHERE w.measured AND w.last_byte_ms IS NULL
    GROUP BY w.trial_id
) AS b ON b.trial_id = l.trial_id AND l.measured
"""  # noqa: S608 - constants of this file
"""Loads before format 1.8 in the form since: a load without all of its page failed, and its last byte is the last byte
of its requests."""

_PAGES_AS_ONE = """
CREATE VIEW trials AS
SELECT * REPLACE ({name} || substr(condition, length(page) + 1) AS condition) FROM trials_by_page
"""
"""Renames the page in conditions: a condition's identifier begins with its page."""

_PLACES_AS_PROFILES = """
CREATE VIEW trials AS
SELECT * REPLACE (
    vantage_point AS profile,
    page || '.' || vantage_point || substr(condition, length(page) + 2 + length(profile)) AS condition
) FROM trials_by_profile
"""
"""Renames the profile in conditions: a condition's identifier begins with its page and its profile."""


def view_tables(connection: duckdb.DuckDBPyConnection, folder: Path) -> None:
    """Make a view of every table of a dataset."""
    for table in TABLES:
        file = folder / TABLES_FOLDER / f"{table}.parquet"
        if not file.is_file():
            connection.execute(_empty(table))
            continue
        try:
            relation = connection.read_parquet(escape_for_duckdb(file))
            found = dict(zip(relation.columns, map(str, relation.types), strict=True))
            missing = _list_missing_columns(file, folder, found, list_columns(table))
            if missing:
                relation = relation.project(", ".join(["*", *map(_default, missing)]))
            relation.create_view(_RECORDED if table == "page_loads" else table)
        except duckdb.Error as error:
            raise unreadable(folder, error) from error
    _check_trials(connection, folder)
    connection.execute(_PAGE_LOADS)


def _empty(table: str) -> str:
    """Write the view of a table missing in an older or a published dataset."""
    columns = ", ".join(f'NULL::{column.duckdb_type} AS "{column.name}"' for column in list_columns(table))
    return f"CREATE VIEW {table} AS SELECT {columns} WHERE false"


def view_pages_as_one(connection: duckdb.DuckDBPyConnection, name: str) -> None:
    """Show every query the conditions of all pages as conditions of one page; `page` keeps its value."""
    connection.execute("ALTER VIEW trials RENAME TO trials_by_page")
    connection.execute(_PAGES_AS_ONE.format(name=literal(name)))


def view_places_as_profiles(connection: duckdb.DuckDBPyConnection) -> None:
    """Have every query see the vantage point as the profile, in conditions, too; before `view_pages_as_one`."""
    connection.execute("ALTER VIEW trials RENAME TO trials_by_profile")
    connection.execute(_PLACES_AS_PROFILES)


def unreadable(folder: Path, error: duckdb.Error) -> ConfigurationError:
    """Make the one-line error for an unreadable table."""
    reason = " ".join(str(error).split())
    return ConfigurationError(f"failed to read the tables of {folder}: {reason}; {_hint(folder)}")


def _list_missing_columns(file: Path, folder: Path, found: dict[str, str], expected: list[Column]) -> list[Column]:
    for column in expected:
        kind = found.get(column.name)
        if kind is None and column.default is REQUIRED:
            problem = f"it has no column {column.name!r}, so it is no table of resolab"
            raise ConfigurationError(f"failed to read {file}: {problem}; {_hint(folder)}")
        if kind is not None and kind != column.duckdb_type:
            problem = f"its column {column.name!r} is {kind}, not {column.duckdb_type}"
            raise ConfigurationError(f"failed to read {file}: {problem}; {_hint(folder)}")
    return [column for column in expected if column.name not in found]


def _default(column: Column) -> str:
    value = column.default
    if value is None:
        literal = "NULL"
    elif isinstance(value, str):
        literal = "'" + value.replace("'", "''") + "'"
    else:
        literal = str(value)
    return f'{literal}::{column.duckdb_type} AS "{column.name}"'


def _check_trials(connection: duckdb.DuckDBPyConnection, folder: Path) -> None:
    """Refuse a repeated trial in `trials`, and a second trial of one condition in a block.

    Rows joined with a repeated trial would count twice. Of two trials of a condition, the block's own would be unknown.
    """
    once = "SELECT min(trial_id), min(block) FROM trials GROUP BY {} HAVING count(*) > 1 ORDER BY ALL LIMIT 1"
    try:
        twice = connection.execute(once.format("trial_id")).fetchall()
        again = connection.execute(once.format("block, condition, vantage_point")).fetchall()
    except duckdb.Error as error:
        raise unreadable(folder, error) from error
    if twice:
        problem = f"trial {twice[0][0]} stands in the table trials more than once"
        raise ConfigurationError(f"failed to read the tables of {folder}: {problem}; {_hint(folder)}")
    if again:
        problem = f"trial {again[0][0]} is not the only one of its condition in block {again[0][1]}"
        raise ConfigurationError(f"failed to read the tables of {folder}: {problem}; remove the other from trials/")


def _hint(folder: Path) -> str:
    if is_published(folder):
        return "restore the published folder"
    return f"make the tables anew with `resolab report {folder}`"
