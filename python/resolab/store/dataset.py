"""A dataset opened for reading: DuckDB over the Parquet files, in place.

For: named queries with typed rows, and free SQL for people. Not for: making the tables (`tables`).
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import duckdb
import msgspec

from resolab.basics.errors import ConfigurationError
from resolab.basics.protocols import ExchangeSizes
from resolab.basics.records import TrialKind
from resolab.store import queries
from resolab.store.columns import ALWAYS_PUBLISHED, SINCE, TABLES, tables_of_format
from resolab.store.connections.hellos import HELLOS, HelloRow
from resolab.store.connections.loads import LOAD_CONNECTIONS, LoadConnectionsRow
from resolab.store.folder import TABLES as TABLES_FOLDER
from resolab.store.folder import is_published
from resolab.store.manifest import Manifest, load_manifest
from resolab.store.query_times.distributions import LEVEL, DistributionSource, QueryDistribution
from resolab.store.rows import (
    BrowserRow,
    ExchangeRow,
    FailureRow,
    FlagRow,
    HandshakeRow,
    LatenessRow,
    LoadRow,
)
from resolab.store.views import unreadable, view_pages_as_one, view_places_as_profiles, view_tables

# So that a report on any number of rows stays below 2 GB with what Python holds beside; DuckDB spills what needs more.
_SETTINGS = {"autoinstall_known_extensions": "false", "memory_limit": "1GB"}
_HELLOS_SINCE = (1, 8)
_MEASURED_PARTS = {
    TrialKind.PAGE_LOAD: queries.MEASURED_LOADS,
    TrialKind.EXCHANGE: queries.MEASURED_EXCHANGES,
    TrialKind.FETCH: queries.MEASURED_FETCHES,
    TrialKind.STUDY: queries.MEASURED_STUDIES,
}
Row = TypeVar("Row", bound=msgspec.Struct)


def open_dataset(folder: Path) -> "Dataset":
    """Open the tables of a dataset, made before by `build_tables` or published."""
    manifest = load_manifest(folder)
    needed = ALWAYS_PUBLISHED if is_published(folder) else [table for table in TABLES if table not in SINCE]
    missing = [table for table in needed if not (folder / TABLES_FOLDER / f"{table}.parquet").is_file()]
    if missing:
        hint = f"make them with `resolab report {folder}`"
        raise ConfigurationError(f"failed to open dataset {folder}: no table {missing[0]}; {hint}")
    return Dataset(folder, manifest)


def missing_tables(folder: Path, manifest: Manifest) -> tuple[str, ...]:
    """List the tables that a dataset of this format has, and this folder lacks; only a published folder lacks any."""
    tables = tables_of_format(manifest.format_version)
    return tuple(table for table in tables if not (folder / TABLES_FOLDER / f"{table}.parquet").is_file())


class Dataset:
    """Tables of one dataset as DuckDB views of the same names; close the dataset, or use a `with` statement.

    `connection` is for this package; other code uses the methods.
    """

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self.folder = folder
        self.manifest = manifest
        self.missing_tables = missing_tables(folder, manifest)
        self.connection = duckdb.connect(config=dict(_SETTINGS))
        try:
            view_tables(self.connection, folder)
        except ConfigurationError:
            self.connection.close()
            raise
        self._distributions = DistributionSource(self.connection)
        self._takes_pages_as_one = False
        self._takes_places_as_profiles = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the files."""
        self.connection.close()

    def sql(self, statement: str, parameters: Sequence[object] = ()) -> list[dict[str, Any]]:
        """Run any statement over the tables and return the rows by column name."""
        try:
            cursor = self.connection.execute(statement, list(parameters))
            names = [column[0] for column in cursor.description or ()]
            return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
        except duckdb.ProgrammingError:
            raise  # The statement is wrong, not the dataset.
        except duckdb.Error as error:
            raise unreadable(self.folder, error) from error

    def take_pages_as_one(self, name: str) -> None:
        """From now on, count conditions of all pages as conditions of a page with this name."""
        if not self._takes_pages_as_one:
            view_pages_as_one(self.connection, name)
            self._takes_pages_as_one = True

    def take_places_as_profiles(self) -> None:
        """Separate conditions of the live network by vantage point, as emulated conditions by profile."""
        if not self._takes_places_as_profiles:
            view_places_as_profiles(self.connection)
            self._takes_places_as_profiles = True

    def vantage_points(self) -> list[str]:
        """Return the vantage points of the trials, in order of their first block."""
        statement = "SELECT vantage_point FROM trials GROUP BY 1 ORDER BY min(block), 1"
        return [row["vantage_point"] for row in self.sql(statement)]

    def vantage_point_of_trials(self) -> dict[str, str]:
        """Name the place each trial was run from."""
        return {row["trial_id"]: row["vantage_point"] for row in self.sql("SELECT trial_id, vantage_point FROM trials")}

    def measured_loads(self) -> list[LoadRow]:
        """List one row per finished trial, in the order of running: its page load, or its exchange.

        With pages taken as one, a page loaded in several blocks has all its rows in the first of them.
        """
        rows = self._rows(_MEASURED_PARTS[self.kind()], LoadRow)
        if not self._takes_pages_as_one:
            return rows
        first: dict[str, int] = {}
        return [
            msgspec.structs.replace(row, block=first.setdefault(row.page, row.block), round=row.block) for row in rows
        ]

    def kind(self) -> TrialKind:
        """Return the kind of the dataset's trials; a dataset has one kind."""
        found = self.sql("SELECT DISTINCT kind FROM trials")
        return TrialKind(found[0]["kind"]) if found else TrialKind.PAGE_LOAD

    def settled_conditions(self) -> set[str]:
        """Name the conditions with loads neither looking up nor connecting after the document's request."""
        return {row["condition"] for row in self.sql(queries.SETTLED_CONDITIONS)}

    def trial_seconds(self) -> dict[str, float]:
        """Return the mean duration of each condition's trials in seconds, warm-up, queries and clearing included."""
        return {row["condition"]: row["seconds"] for row in self.sql(queries.TRIAL_SECONDS)}

    def has_more_cold_exchanges(self, than: int) -> bool:
        """Return True when the DNS client made more cold exchanges than `than`; for many, use `query_distributions`."""
        return int(self.sql(queries.COLD_EXCHANGES_COUNT, [than + 1])[0]["count"]) > than

    def cold_exchanges(self) -> list[ExchangeRow]:
        """List the DNS client's cold exchanges, each a row in memory."""
        return self._rows(queries.COLD_EXCHANGES, ExchangeRow)

    def query_distributions(
        self, by: Sequence[str], where: Mapping[str, Sequence[str]] | None = None, *, level: float = LEVEL
    ) -> list[QueryDistribution]:
        """Return the distributions of the measured queries' response times, for each combination of levels of `by`.

        Keys of `by` and `where` are columns of `trials`, except the query's own keys: `dns_transport`,
        `requested_handshake_mode`, `handshake_mode` and `connection`. Levels are words as in plans. Without
        `connection` in either, queries over cold and warm connections are pooled. `level` is the level of the medians'
        intervals.
        """
        try:
            return self._distributions.distributions(by, where, level)
        except duckdb.Error as error:
            raise unreadable(self.folder, error) from error

    def failures(self) -> list[FailureRow]:
        """Count failures by kind, class and condition."""
        return self._rows(queries.FAILURES, FailureRow)

    def flags(self) -> list[FlagRow]:
        """Count flags by condition."""
        return self._rows(queries.FLAGS, FlagRow)

    def hellos(self) -> list[HelloRow]:
        """Count connections by client and by hello, as the edge saw them."""
        return self._rows(HELLOS, HelloRow)

    def has_hellos(self) -> bool:
        """Return True when the edge recorded hellos; without its table, when its format version records them."""
        if "connections" not in self.missing_tables:
            return bool(self.hellos())
        is_recorded = tuple(map(int, self.manifest.format_version.split("."))) >= _HELLOS_SINCE
        return is_recorded and self.manifest.live is None

    def exchange_sizes(self) -> dict[str, ExchangeSizes]:
        """Return the recorded sizes of each condition's cold exchanges with one query; empty for other kinds."""
        return {row.pop("condition"): ExchangeSizes(**row) for row in self.sql(queries.EXCHANGE_SIZES)}

    def load_connections(self) -> list[LoadConnectionsRow]:
        """List the connections of each successful measured load, as the edge saw them; empty for live loads."""
        return self._rows(LOAD_CONNECTIONS, LoadConnectionsRow)

    def handshakes(self) -> list[HandshakeRow]:
        """Count requested handshakes by actual mode."""
        return self._rows(queries.HANDSHAKES, HandshakeRow)

    def lateness(self) -> list[LatenessRow]:
        """Sum up the path's own error by profile."""
        return self._rows(queries.LATENESS, LatenessRow)

    def browsers(self) -> list[BrowserRow]:
        """List the browsers of the trials."""
        return self._rows(queries.BROWSERS, BrowserRow)

    def _rows(self, statement: str, row: type[Row]) -> list[Row]:
        return msgspec.convert(self.sql(statement), list[row])  # type: ignore[valid-type]
