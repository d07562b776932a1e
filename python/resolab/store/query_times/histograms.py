"""Response times of queries as counts by cell and bucket: one pass over `queries`, of any size.

For: the SQL of the pass and its reading. Not for: quantiles (`distributions`).

A cell is one combination of levels; a bucket is a response time. Up to `EXACT_ROWS_COUNT` rows a bucket is one
nanosecond. Beyond, buckets are equally wide in the logarithm, so memory follows the number of cells instead of rows.
Each factor e has `BUCKETS_PER_E_FOLD` buckets. A bucket's time is its middle, at most `RELATIVE_ERROR` away.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray

from resolab.basics.errors import ConfigurationError
from resolab.basics.records import CacheState, ConnectionState, DnsTransport, HandshakeMode
from resolab.plan.condition import DECLARED
from resolab.store.columns import list_columns

EXACT_ROWS_COUNT = 200_000
BUCKETS_PER_E_FOLD = 4_096
RELATIVE_ERROR = math.expm1(0.5 / BUCKETS_PER_E_FOLD)
"""0.012 %: the largest relative difference between a wide bucket's time and the measured time."""
FAILED = -1
"""The bucket of queries without an answer."""

QUERY_KEYS: Mapping[str, type[StrEnum]] = {
    "dns_transport": DnsTransport,
    "requested_handshake_mode": HandshakeMode,
    "handshake_mode": HandshakeMode,
    "connection": ConnectionState,
    "cache_state": CacheState,
}
"""The keys of queries, with their words; every other key is a column of `trials`."""
_ABSENT = {"requested_handshake_mode": "full", "connection": "cold"}
"""Words for null of a query: over DoUDP and DoTCP no handshake is asked for, and no connection was there before."""

IntegerArray = NDArray[np.int64]
Cell = Mapping[str, str]


@dataclass(frozen=True, slots=True, eq=False)
class Histogram:
    """Counts of queries: position i of the three arrays says how many of a cell fell into a bucket."""

    keys: frozenset[str]
    cells: Sequence[Cell]
    cell_index: IntegerArray
    bucket: IntegerArray
    count: IntegerArray
    exact: bool

    @property
    def relative_error(self) -> float:
        """Return the largest relative error of `time_ms` against the measured time."""
        return 0.0 if self.exact else RELATIVE_ERROR

    def time_ms(self, bucket: int) -> float:
        """Return the response time of a bucket; infinite for the failed."""
        if bucket == FAILED:
            return math.inf
        return (bucket if self.exact else math.exp(bucket / BUCKETS_PER_E_FOLD)) / 1e6


def trial_keys() -> frozenset[str]:
    """Return the columns of `trials` usable as keys."""
    return frozenset(one.name for one in list_columns("trials") if not one.duckdb_type.endswith("[]")) - {"trial_id"}


def check_keys(keys: Sequence[str]) -> None:
    """Raise ValueError for unknown keys."""
    unknown = sorted(set(keys) - QUERY_KEYS.keys() - trial_keys())
    if unknown:
        raise ValueError(f"no key {unknown[0]!r}: keys are {', '.join(QUERY_KEYS)} and columns of trials")


def count_queries(connection: duckdb.DuckDBPyConnection, keys: frozenset[str]) -> Histogram:
    """Count the measured queries by the levels of `keys`, in one pass."""
    of_trials = sorted(keys - QUERY_KEYS.keys())
    levels = _trial_levels(connection, of_trials)
    counts = "SELECT count(*), count(*) FILTER (purpose = 'measured') FROM queries"
    ((rows_count, measured_count),) = connection.execute(counts).fetchall()
    exact = rows_count <= EXACT_ROWS_COUNT
    of_queries = sorted(keys & QUERY_KEYS.keys())
    found = connection.execute(_statement(of_trials, of_queries, exact=exact)).fetchnumpy()
    codes, inverse = np.unique(np.asarray(found["cell"], dtype=np.int64), return_inverse=True)
    cells = [_cell(int(code), levels, of_queries) for code in codes]
    bucket, count = (np.asarray(found[name], dtype=np.int64) for name in ("bucket", "count"))
    if int(count.sum()) != measured_count:
        problem = f"{measured_count - int(count.sum())} queries belong to no trial of the table trials"
        raise ConfigurationError(f"failed to read the table queries: {problem}; make the tables anew")
    return Histogram(keys, cells, inverse.astype(np.int64), bucket, count, exact)


def _trial_levels(connection: duckdb.DuckDBPyConnection, columns: Sequence[str]) -> list[dict[str, str]]:
    """Assign a number to each combination of the trials' levels; return the combinations in this order."""
    listed = ", ".join(f'"{column}"' for column in columns) or "TRUE"
    numbered = f"(dense_rank() OVER (ORDER BY {listed}) - 1)::BIGINT AS trial_cell"
    statement = f"CREATE OR REPLACE TEMP TABLE trial_cells AS SELECT trial_id, {numbered} FROM trials"  # noqa: S608
    connection.execute(statement)
    some = "".join(f', any_value("{column}") AS "{column}"' for column in columns)
    statement = f"SELECT trial_cell{some} FROM trials JOIN trial_cells USING (trial_id) GROUP BY 1 ORDER BY 1"  # noqa: S608
    rows = connection.execute(statement).fetchall()
    return [{column: word(column, value) for column, value in zip(columns, row[1:], strict=True)} for row in rows]


def _statement(of_trials: Sequence[str], of_queries: Sequence[str], *, exact: bool) -> str:
    code = "trial_cell" if of_trials else "0"
    for key in of_queries:
        words = " ".join(f"WHEN '{one}' THEN {number}" for number, one in enumerate(QUERY_KEYS[key], start=1))
        unknown = f"CASE WHEN {key} IS NULL THEN 0 ELSE {_size(key) - 1} END"
        code = f"({code}) * {_size(key)} + CASE {key} {words} ELSE {unknown} END"
    time = "q.query_response_time_ns"
    bucket = time if exact else f"round(ln(greatest({time}, 1)) * {BUCKETS_PER_E_FOLD})"
    # Grouped by the words themselves, of which each block of rows has a dictionary, and numbered once they are few.
    # The keys are names of columns and words of closed vocabularies, checked above; nothing comes from a dataset.
    listed = "".join(f"q.{key}, " for key in of_queries)
    return f"""
WITH counted AS (
    SELECT c.trial_cell, {listed}coalesce(CASE WHEN q.failure IS NULL THEN {bucket} END, {FAILED})::BIGINT AS bucket,
           count(*) AS count
    FROM queries AS q JOIN trial_cells AS c USING (trial_id)
    WHERE q.purpose = 'measured'
    GROUP BY ALL
)
SELECT ({code})::BIGINT AS cell, bucket, sum(count)::BIGINT AS count FROM counted GROUP BY ALL
"""  # noqa: S608


def _size(key: str) -> int:
    """Return the number of codes for a query's key: null, each word, and anything else."""
    return len(QUERY_KEYS[key]) + 2


def _cell(code: int, levels: Sequence[dict[str, str]], of_queries: Sequence[str]) -> Cell:
    cell: dict[str, str] = {}
    for key in reversed(of_queries):
        code, number = divmod(code, _size(key))
        if number == _size(key) - 1:
            problem = f"a query's {key} is none of {', '.join(QUERY_KEYS[key])}"
            raise ConfigurationError(f"failed to read the table queries: {problem}; make the tables anew")
        cell[key] = list(QUERY_KEYS[key])[number - 1].value if number else word(key, None)
    return cell | (levels[code] if levels else {})


def word(key: str, level: Any) -> str:
    """Write a level as plans do."""
    if level is None:
        of_factor = DECLARED[key].about.absent_word if key in DECLARED else None
        return _ABSENT.get(key) or of_factor or "none"
    if isinstance(level, bool):
        return str(level).lower()
    return f"{level:g}" if isinstance(level, float) else str(level)
