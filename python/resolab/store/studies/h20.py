"""The questions of the figures and tables of Hounsel et al. (WWW 2020), as SQL with typed rows.

For: page loads by network and resolver, and the cost of queries on one connection, summed up in the database. Not for:
statistics. The result is one row per load, or a few hundred per kind of query for any number of queries.
"""

import msgspec

from resolab.plan.factor import FactorSubject
from resolab.plan.factors import EVERY_FACTOR, QUERY_FACTORS, select_factors
from resolab.store.cold_phases import BINS_PER_E_FOLD, EXCHANGE, LEVELS, count_cold_phases
from resolab.store.dataset import Dataset
from resolab.store.outcomes import EXCHANGE_FAILED, times_as_sql
from resolab.store.query_limits import limit_as_sql

BATCHES_COUNT = 100
"""The largest number of batches. Whole blocks are folded into batches, so resampling stays cheap."""

LOADS = f"""
WITH names AS (
    SELECT trial_id, count(DISTINCT regexp_extract(url, '^[a-z]+://([^/:]+)', 1)) AS names_count
    FROM requests GROUP BY trial_id
)
SELECT t.trial_id, t.block, t.condition, {", ".join(f"t.{factor}" for factor in EVERY_FACTOR)},
       l.trial_id IS NOT NULL AS loaded, l.limit_ms, l.failure, {EXCHANGE_FAILED},
       {times_as_sql("l")}, n.names_count
FROM trials AS t
LEFT JOIN (SELECT * FROM page_loads WHERE measured) AS l USING (trial_id)
LEFT JOIN names AS n USING (trial_id)
WHERE t.replicate = 1
ORDER BY t.block, t.position
"""  # noqa: S608 - columns of `outcomes`

# Asked apart from the loads: figures of queries need no list of a million trials.
RESOLVERS = f"""
SELECT DISTINCT {", ".join(select_factors(FactorSubject.RESOLVER))} FROM trials WHERE replicate = 1 ORDER BY ALL
"""  # noqa: S608 - names of factors

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


class H20LoadRow(msgspec.Struct, kw_only=True, frozen=True):
    """One finished trial with its measured load and all its levels; later copies of a condition are left out."""

    trial_id: str
    block: int
    condition: str
    page: str
    profile: str
    dns_transport: str
    resolver_path: str
    http_version: str
    requested_handshake_mode: str
    browser: str
    h3_discovery: str
    name_resolution: str
    doh_method: str | None
    dns_connection_state: str
    requested_dns_handshake_mode: str
    resolver_extra_rtt_ms: float
    resolver_cache: str
    resolver: str
    browser_preset: str | None
    connection_sharing: str
    speculation: str
    query_gathering: str
    answer_push: str
    resolver_miss_ratio: float
    loaded: bool
    limit_ms: float | None
    failure: str | None
    exchange_failed: bool = False
    times_ms: dict[str, float | None]
    """By name of its outcome (`outcomes`)."""
    names_count: int | None
    """Number of hosts with requests, and so the number of names to look up."""


class ResolverRow(msgspec.Struct, kw_only=True, frozen=True):
    """A resolver's distance and cache state in the trials."""

    resolver_extra_rtt_ms: float
    resolver_cache: str
    resolver: str


class QueryCostRow(msgspec.Struct, kw_only=True, frozen=True):
    """Queries of one batch of blocks, summed up; `connection` is `none` (DoUDP), `cold` or `warm`."""

    profile: str
    resolver_extra_rtt_ms: float
    resolver_cache: str
    resolver: str
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
    dns_transport: str
    n: int
    median_ms: float


def h20_loads(dataset: Dataset) -> list[H20LoadRow]:
    """List the finished trials in the order they ran."""
    return msgspec.convert(dataset.sql(LOADS), list[H20LoadRow])


def h20_resolvers(dataset: Dataset) -> list[ResolverRow]:
    """List the resolvers of the study's trials."""
    return msgspec.convert(dataset.sql(RESOLVERS), list[ResolverRow])


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
