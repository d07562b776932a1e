"""The questions about DNS queries of the figures and tables of Hounsel et al. (WWW 2020), as SQL with typed rows.

For: the cost of queries on one connection, summed up in the database: a few hundred rows for any number of queries.
Not for: statistics, or page loads (`store.trial_loads`).
"""

import msgspec

from resolab.plan.factors import QUERY_FACTORS
from resolab.store.dataset import Dataset
from resolab.store.query_limits import limit_as_sql
from resolab.store.query_times.cold_phases import BINS_PER_E_FOLD, EXCHANGE, LEVELS, count_cold_phases

BATCHES_COUNT = 100
"""The largest number of batches. Whole blocks are folded into batches, so resampling stays cheap."""

_LEVELS = ", ".join(QUERY_FACTORS)
# Levels as one number for each trial: 1e8 queries are grouped by small integers.
_CELLS = f"""
cells AS (
    SELECT trial_id, block % {BATCHES_COUNT} AS batch, {_LEVELS},
           dense_rank() OVER (ORDER BY {_LEVELS})::INTEGER AS cell
    FROM trials
), levels AS (SELECT DISTINCT cell, {_LEVELS} FROM cells)
"""  # noqa: S608 - constants of this file
_LIMIT_NS = limit_as_sql("q", "c")
_MEASURED = "q.purpose = 'measured' AND coalesce(q.requested_handshake_mode, 'full') = 'full'"

# Beside what a query took stands its exchange alone: sent on the open connection to answered. A query that never got
# as far as an open connection says nothing of that. Sums are of integers: no order in which threads add changes them.
# DuckDB's `least` passes over null, so what has no end counts as its limit; so does, among exchanges, what never
# began: that is taken off where rows are few, for a branch for each of 1e8 rows is slower. Of limits there are few.
QUERY_COSTS = f"""
WITH {_CELLS}, counted AS (
    SELECT c.cell, c.batch, q.dns_transport, q.connection, {_LIMIT_NS} AS given_ns,
           count(*) AS n, count(*) - count(query_response_time_ns) AS failed_count,
           count(*) FILTER (attempt_count > 1) AS retried_count,
           sum(least(query_response_time_ns, {_LIMIT_NS})) AS sum_ns,
           count(query_exchange_start_ns) AS exchanges_count,
           sum(least(query_exchange_end_ns - query_exchange_start_ns, {_LIMIT_NS})) AS with_unbegun_sum_ns
    FROM queries AS q JOIN cells AS c USING (trial_id)
    WHERE {_MEASURED} AND {{known}}
    GROUP BY ALL
)
SELECT {_LEVELS}, dns_transport, coalesce(connection, 'none') AS connection, batch,
       sum(n)::BIGINT AS n, sum(failed_count)::BIGINT AS failed_count, sum(retried_count)::BIGINT AS retried_count,
       min(given_ns) / 1e6 AS least_limit_ms, max(given_ns) / 1e6 AS limit_ms,
       sum(sum_ns)::DOUBLE / 1e6 AS sum_ms, sum(exchanges_count)::BIGINT AS exchanges_count,
       sum(with_unbegun_sum_ns - (n - exchanges_count) * given_ns)::DOUBLE / 1e6 AS exchanges_sum_ms
FROM counted JOIN levels USING (cell)
GROUP BY ALL
ORDER BY ALL
"""  # noqa: S608

# An exact median of 1e8 values would need all of them in memory; bins of a ten thousandth of the value need few.
EXCHANGE_MEDIANS = f"""
WITH ranked AS (
    SELECT {LEVELS}, dns_transport, exp((bin::DOUBLE + 0.5) / {BINS_PER_E_FOLD}) / 1e6 AS exchange_ms,
           sum(members) OVER (PARTITION BY {LEVELS}, dns_transport ORDER BY bin) AS upto,
           sum(members) OVER (PARTITION BY {LEVELS}, dns_transport) AS total
    FROM cold_phases
    WHERE quantity = '{EXCHANGE}' AND bin IS NOT NULL
)
SELECT {LEVELS}, dns_transport, any_value(total)::BIGINT AS n,
       min(exchange_ms) FILTER (upto >= (total + 1) // 2) AS median_ms
FROM ranked
GROUP BY ALL
ORDER BY ALL
"""  # noqa: S608 - constants of this file and the next


class QueryCostRow(msgspec.Struct, kw_only=True, frozen=True):
    """Queries of one batch of blocks, summed up; `connection` is `none` (DoUDP), `cold` or `warm`."""

    profile: str
    resolver_extra_rtt_ms: float
    resolver_cache: str
    resolver: str
    resolver_software: str
    dns_transport: str
    connection: str
    batch: int
    n: int
    failed_count: int
    retried_count: int
    """Sent more than once by the client itself: DoUDP's timer."""
    least_limit_ms: float
    limit_ms: float
    """Least and greatest limit of the queries; a failed query counts as its own limit."""
    sum_ms: float
    """Sum of response times, each at most its query's limit."""
    exchanges_count: int
    exchanges_sum_ms: float


class ExchangeMedianRow(msgspec.Struct, kw_only=True, frozen=True):
    """The median exchange after opening the connection, of answered queries except warm ones; to a ten thousandth."""

    profile: str
    resolver_extra_rtt_ms: float
    resolver_cache: str
    resolver: str
    resolver_software: str
    dns_transport: str
    n: int
    median_ms: float


def query_costs(dataset: Dataset, *, cached_only: bool = False) -> list[QueryCostRow]:
    """Sum up the queries' durations, by network, resolver, transport, connection state and batch of blocks.

    `cached_only` leaves out uncached answers and refusals; queries without an answer stay.
    """
    cached = "(q.cache_state = 'within_ttl' OR (q.failure IS NOT NULL AND q.failure != 'dns_rcode'))"
    known = cached if cached_only else "TRUE"
    return msgspec.convert(dataset.sql(QUERY_COSTS.format(known=known)), list[QueryCostRow])


def exchange_medians(dataset: Dataset) -> list[ExchangeMedianRow]:
    """Find the median exchange by network, resolver and transport."""
    count_cold_phases(dataset)
    return msgspec.convert(dataset.sql(EXCHANGE_MEDIANS), list[ExchangeMedianRow])
