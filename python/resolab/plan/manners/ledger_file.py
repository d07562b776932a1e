"""The ledger's database: an SQLite file in the user's state folder, safe for any number of processes at once.

For: one transaction at a time, whole or not at all, and errors in one line with advice. Not for: the meaning of rows
(`ledger`), or lines of former versions (`legacy_ledger`).

The file is opened for each transaction. A process without an open file cannot count in a file removed or replaced
meanwhile. Reasons for SQLite, and for leaving out the write-ahead log: docs/decisions/0029.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from resolab.basics.errors import ConfigurationError, StorageError
from resolab.plan.manners.legacy_ledger import former_lines

LEDGER = "ledger.sqlite"
BUSY_S = 60.0
"""The longest wait for another process's transaction, in s; each transaction takes milliseconds."""
_SCHEMA = """
CREATE TABLE IF NOT EXISTS loads (at_s REAL NOT NULL, site TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS loads_of_site ON loads (site, at_s);
CREATE INDEX IF NOT EXISTS loads_of_all ON loads (at_s);
CREATE TABLE IF NOT EXISTS queries (
    id INTEGER PRIMARY KEY, at_s REAL NOT NULL, resolver TEXT NOT NULL, queries_count INTEGER NOT NULL,
    paced INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS queries_of_resolver ON queries (resolver, at_s);
CREATE TABLE IF NOT EXISTS stops (
    at_s REAL NOT NULL, reason TEXT NOT NULL, until_s REAL NOT NULL, run TEXT NOT NULL, site TEXT, resolver TEXT,
    detail TEXT NOT NULL
);
"""
_SCHEMA_VERSION = 1


class LedgerFile:
    """The database file of a state folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        with self._errors():
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    @contextmanager
    def open_for_reading(self) -> Iterator[sqlite3.Cursor]:
        """Open a read transaction on a single state of the ledger."""
        with self._errors(), closing(self._open()) as ledger, closing(ledger.cursor()) as rows:
            rows.execute("BEGIN")
            yield rows

    @contextmanager
    def open_for_writing(self) -> Iterator[sqlite3.Cursor]:
        """Open a write transaction: on disk when the block ends, rolled back when the block raises."""
        with self._errors(), closing(self._open()) as ledger, closing(ledger.cursor()) as rows:
            rows.execute("BEGIN IMMEDIATE")
            yield rows
            rows.execute("COMMIT")

    def _open(self) -> sqlite3.Connection:
        # Without a transaction of its own: each begins and ends where it is written.
        ledger = sqlite3.connect(self._folder / LEDGER, timeout=BUSY_S, isolation_level=None)
        try:
            self._prepare(ledger)
        except BaseException:
            ledger.close()
            raise
        return ledger

    def _prepare(self, ledger: sqlite3.Connection) -> None:
        """Create the tables of a new file, and import the notes of a former version.

        The former version may still be running beside this version.
        """
        version = ledger.execute("PRAGMA user_version").fetchone()[0]
        if version > _SCHEMA_VERSION:
            raise ConfigurationError(
                f"could not read {self._folder / LEDGER}: a later resolab made it; use that one, or a later one"
            )
        if version < _SCHEMA_VERSION:
            ledger.execute("BEGIN IMMEDIATE")
            for statement in _SCHEMA.strip().split(";\n"):
                ledger.execute(statement)
            ledger.execute(f"PRAGMA user_version = {_SCHEMA_VERSION}")
            ledger.execute("COMMIT")
        with former_lines(self._folder) as rows_of:
            if not rows_of:
                return
            ledger.execute("BEGIN IMMEDIATE")
            for table, rows in rows_of.items():
                names = ", ".join(rows[0])
                values = ", ".join(f":{name}" for name in rows[0])
                ledger.executemany(f"INSERT INTO {table} ({names}) VALUES ({values})", rows)  # noqa: S608 -- our names
            ledger.execute("COMMIT")

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Turn errors of the system or SQLite into a single line."""
        try:
            yield
        except (sqlite3.OperationalError, OSError) as error:
            reason = error.strerror or error if isinstance(error, OSError) else error
            raise StorageError(
                f"could not keep the ledger of what was asked in {self._folder}: {reason}; "
                "make room there, or give a folder you may write with XDG_STATE_HOME"
            ) from error
        except sqlite3.DatabaseError as error:
            raise ConfigurationError(
                f"could not read {self._folder / LEDGER}: {error}; without it nobody knows what was asked: "
                "move it away a day after the last load"
            ) from error
