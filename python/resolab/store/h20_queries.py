"""What the figures and tables of Hounsel et al. (WWW 2020) ask of the tables, as SQL with typed rows.

For: page loads by network and resolver, and what queries cost on one connection, summed up where the rows are.
Not for: statistics; what leaves here is one row per load, or a few hundred per kind of query however many there were.
"""

import msgspec

from resolab.store.dataset import Dataset

QUERY_DEADLINE_MS = 10_000.0
"""`resolab-core query` gives a query up after so long, set-up and retries included; a failed one counts as that."""
BATCHES_COUNT = 100
"""Blocks are folded into at most so many batches, whole blocks each, so that resampling them stays cheap."""
_BINS_PER_E_FOLD = 10_000
_NORMAL_QUANTILE = 2.394
"""Of 1 - 0.05 / 3 / 2: three intervals that hold together with 95 % (Bonferroni)."""

LOADS = """
WITH names AS (
    SELECT trial_id, count(DISTINCT regexp_extract(url, '^[a-z]+://([^/:]+)', 1)) AS names_count
    FROM requests GROUP BY trial_id
)
SELECT t.trial_id, t.block, t.condition, t.page, t.profile, t.dns_transport, t.resolver_path, t.http_version,
       t.requested_handshake_mode, t.browser, t.h3_discovery, t.name_resolution, t.doh_method,
       t.dns_connection_state, t.requested_dns_handshake_mode, t.resolver_extra_rtt_ms, t.resolver_cache,
       t.browser_preset, l.trial_id IS NOT NULL AS loaded, l.plt_ms, l.limit_ms, l.failure, n.names_count
FROM trials AS t
LEFT JOIN (SELECT * FROM page_loads WHERE measured) AS l USING (trial_id)
LEFT JOIN names AS n USING (trial_id)
WHERE t.replicate = 1
ORDER BY t.block, t.position
"""

# What a query took by the state of its connection. `open` is the exchange alone of a query that had to open its
# connection: sent on the open connection to answered. A query that never got so far says nothing of an open one.
_COSTS = f"""
WITH measured AS (
    SELECT t.profile, t.resolver_extra_rtt_ms, t.resolver_cache, t.block, q.dns_transport, q.connection,
           q.query_response_time_ns / 1e6 AS response_ms, q.query_exchange_start_ns IS NOT NULL AS sent,
           (q.query_exchange_end_ns - q.query_exchange_start_ns) / 1e6 AS exchange_ms, q.attempt_count
    FROM queries AS q JOIN trials AS t USING (trial_id)
    WHERE q.purpose = 'measured' AND coalesce(q.requested_handshake_mode, 'full') = 'full'
), costs AS (
    SELECT * EXCLUDE (connection, response_ms, sent, exchange_ms), coalesce(connection, 'none') AS connection,
           response_ms AS cost_ms
    FROM measured
    UNION ALL
    SELECT * EXCLUDE (connection, response_ms, sent, exchange_ms), 'open', exchange_ms
    FROM measured WHERE connection = 'cold' AND sent
)
"""

QUERY_COSTS = f"""{_COSTS}
SELECT profile, resolver_extra_rtt_ms, resolver_cache, dns_transport, connection, block % {BATCHES_COUNT} AS batch,
       count(*) AS n, count(*) - count(cost_ms) AS failed_count,
       count(*) FILTER (attempt_count > 1) AS retried_count,
       sum(least(coalesce(cost_ms, {QUERY_DEADLINE_MS}), {QUERY_DEADLINE_MS})) AS sum_ms
FROM costs
GROUP BY ALL
ORDER BY ALL
"""  # noqa: S608 - constants of this file

# Exact medians of 1e8 values would need all of them in memory. Bins of a ten thousandth of the value need a few
# thousand, and the order statistics around the median bound it without any distribution. A failed query is last.
QUERY_MEDIANS = f"""{_COSTS}, binned AS (
    SELECT profile, resolver_extra_rtt_ms, resolver_cache, dns_transport, connection,
           floor(ln(CASE WHEN cost_ms < 1e-6 THEN 1e-6 ELSE cost_ms END) * {_BINS_PER_E_FOLD}) AS bin, count(*) AS members
    FROM costs GROUP BY ALL
), ranked AS (
    SELECT *, exp((bin + 0.5) / {_BINS_PER_E_FOLD}) AS cost_ms,
           sum(members) OVER (PARTITION BY profile, resolver_extra_rtt_ms, resolver_cache, dns_transport, connection
                              ORDER BY bin NULLS LAST) AS upto,
           sum(members) OVER (PARTITION BY profile, resolver_extra_rtt_ms, resolver_cache, dns_transport, connection)
               AS total
    FROM binned
), bounds AS (
    SELECT *, floor((total - {_NORMAL_QUANTILE} * sqrt(total)) / 2) AS low_rank,
           ceil(1 + (total + {_NORMAL_QUANTILE} * sqrt(total)) / 2) AS high_rank
    FROM ranked
)
SELECT profile, resolver_extra_rtt_ms, resolver_cache, dns_transport, connection, any_value(total)::BIGINT AS n,
       coalesce(sum(members) FILTER (bin IS NULL), 0)::BIGINT AS failed_count,
       min(cost_ms) FILTER (upto >= (total + 1) // 2) AS low_median_ms,
       min(cost_ms) FILTER (upto >= total // 2 + 1) AS high_median_ms,
       CASE WHEN any_value(low_rank) >= 1 THEN min(cost_ms) FILTER (upto >= low_rank) END AS ci_low_ms,
       CASE WHEN any_value(high_rank) <= any_value(total) THEN min(cost_ms) FILTER (upto >= high_rank) END
           AS ci_high_ms,
       any_value(low_rank >= 1 AND high_rank <= total) AS has_interval
FROM bounds
GROUP BY profile, resolver_extra_rtt_ms, resolver_cache, dns_transport, connection
ORDER BY ALL
"""  # noqa: S608


class H20LoadRow(msgspec.Struct, kw_only=True, frozen=True):
    """One finished trial with its measured load and all its levels; second and later copies of a condition are not."""

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
    browser_preset: str | None
    loaded: bool
    plt_ms: float | None
    limit_ms: float | None
    failure: str | None
    names_count: int | None
    """Different hosts its requests went to: as many names had to be looked up."""


class QueryCostRow(msgspec.Struct, kw_only=True, frozen=True):
    """Queries of one batch of blocks, summed up.

    `connection`: `none` (DoUDP), `cold`, `warm`, or `open`: the exchanges of the cold ones on the connection they
    opened.
    """

    profile: str
    resolver_extra_rtt_ms: float
    resolver_cache: str
    dns_transport: str
    connection: str
    batch: int
    n: int
    failed_count: int
    retried_count: int
    sum_ms: float


class QueryMedianRow(msgspec.Struct, kw_only=True, frozen=True):
    """Median of the queries of one kind, to a ten thousandth, with order statistics that bound it; null: never."""

    profile: str
    resolver_extra_rtt_ms: float
    resolver_cache: str
    dns_transport: str
    connection: str
    n: int
    failed_count: int
    low_median_ms: float | None
    high_median_ms: float | None
    ci_low_ms: float | None
    ci_high_ms: float | None
    has_interval: bool


def h20_loads(dataset: Dataset) -> list[H20LoadRow]:
    """List the finished trials in the order they ran."""
    return msgspec.convert(dataset.sql(LOADS), list[H20LoadRow])


def query_costs(dataset: Dataset) -> list[QueryCostRow]:
    """Sum up what queries took, by network, resolver, transport, state of the connection and batch of blocks."""
    return msgspec.convert(dataset.sql(QUERY_COSTS), list[QueryCostRow])


def query_medians(dataset: Dataset) -> list[QueryMedianRow]:
    """Find the median of what queries took, by the same."""
    return msgspec.convert(dataset.sql(QUERY_MEDIANS), list[QueryMedianRow])
