"""A report's questions about measurements on the live network, as SQL with typed rows.

For: look-ups by site, cache states, pings, the outcome of every load, and the settings of trials. Not for: statistics;
or the common parts of live and emulated datasets (`trial_loads`).

The site is the sampled unit: each configuration and site has one row, for any number of names of its page.
"""

import msgspec

from resolab.store.dataset import Dataset
from resolab.store.literals import literal_list
from resolab.store.query_limits import limit_as_sql

CACHED = ("within_ttl",)
"""States of the resolver's cache with the answer: asked before within its TTL, by us or by others."""
NOT_CACHED = ("first_asked", "after_ttl")
"""States without the answer, as far as visible from outside: on the live network others may have asked before."""
UNKNOWN = "unknown"

_CACHE = f"""CASE WHEN q.cache_state IN {literal_list(CACHED)} THEN 'hit'
                WHEN q.cache_state IN {literal_list(NOT_CACHED)} THEN 'miss' ELSE '{UNKNOWN}' END"""

# A failed query has no answer and counts as infinitely long. Where nobody could tell its cache state it stands in the
# rows of all states together, and nowhere among answers from the cache.
LOOKUPS = f"""
WITH told AS (
    SELECT t.profile, t.resolver, q.dns_transport, coalesce(q.connection, 'none') AS connection, t.page,
           {_CACHE} AS cache, {limit_as_sql("q", "t")} AS given_ns, q.failure IS NOT NULL AS failed,
           CASE WHEN q.failure IS NULL AND q.query_response_time_ns IS NOT NULL THEN q.query_response_time_ns / 1e6
                ELSE 'infinity'::DOUBLE END AS response_ms
    FROM queries AS q JOIN trials AS t USING (trial_id)
    WHERE q.purpose = 'measured'
), sites AS (
    SELECT profile, resolver, dns_transport, connection, page,
           CASE WHEN grouping(cache) = 1 THEN 'every' ELSE cache END AS cache,
           count(*) AS n, count(*) FILTER (failed) AS failed_count, median(response_ms) AS median_ms,
           min(given_ns) / 1e6 AS limit_ms
    FROM told
    GROUP BY GROUPING SETS (
        (profile, resolver, dns_transport, connection, page, cache),
        (profile, resolver, dns_transport, connection, page)
    )
)
SELECT * FROM sites ORDER BY profile, resolver, dns_transport, connection, cache, page
"""  # noqa: S608 - constants of this file

CACHE_STATES = f"""
SELECT t.profile, t.resolver, q.dns_transport, coalesce(q.cache_state, '{UNKNOWN}') AS cache_state,
       count(*) AS n, count(*) FILTER (q.failure IS NOT NULL) AS failed_count
FROM queries AS q JOIN trials AS t USING (trial_id)
WHERE q.purpose = 'measured'
GROUP BY ALL ORDER BY ALL
"""  # noqa: S608 - constants of this file

# A resolver that refuses answers our own client as it answered the browser: its look-ups of the same trial tell.
STATUSES = """
WITH refused AS (
    SELECT trial_id FROM queries WHERE purpose = 'measured'
    GROUP BY trial_id HAVING bool_and(coalesce(rcode, '') = 'REFUSED')
)
SELECT t.trial_id, t.profile, t.resolver, t.dns_transport, t.page, l.trial_id IS NOT NULL AS loaded, l.failure,
       l.failure_detail, l.dns_failure, r.trial_id IS NOT NULL AS refused
FROM trials AS t
LEFT JOIN (SELECT * FROM page_loads WHERE measured) AS l USING (trial_id)
LEFT JOIN refused AS r USING (trial_id)
WHERE t.replicate = 1
ORDER BY t.block, t.position
"""

PINGS = """
WITH sent AS (
    SELECT t.profile, t.resolver, t.page, p.address, p.method, p.port, len(p.rtt_ns) AS sent_count, p.rtt_ns
    FROM pings AS p JOIN trials AS t USING (trial_id)
), trips AS (SELECT * EXCLUDE (rtt_ns, sent_count), unnest(rtt_ns) / 1e6 AS rtt_ms FROM sent),
medians AS (
    SELECT profile, resolver, page, address, method, port, median(rtt_ms) AS median_ms, min(rtt_ms) AS least_ms,
           count(rtt_ms) AS answered_count
    FROM trips GROUP BY ALL
), counts AS (
    SELECT profile, resolver, page, address, method, port, sum(sent_count)::BIGINT AS sent_count,
           count(*) AS series_count
    FROM sent GROUP BY ALL
)
SELECT c.*, m.median_ms, m.least_ms, coalesce(m.answered_count, 0) AS answered_count
FROM counts AS c LEFT JOIN medians AS m
    ON (c.profile, c.resolver, c.page, c.address) = (m.profile, m.resolver, m.page, m.address)
    AND c.method IS NOT DISTINCT FROM m.method AND c.port IS NOT DISTINCT FROM m.port
ORDER BY c.profile, c.resolver, c.method, c.address, c.page
"""

TRIAL_SETTINGS = """
SELECT t.profile, l.way, l.operator_url, l.system_resolver, l.user_agent, l.ipv6,
       l.authority_sha256 IS NOT NULL AS further_authority, l.stop_sign, count(*) AS trials_count,
       min(t.wall_time_unix_ns) AS first_unix_ns, max(t.wall_time_unix_ns) AS last_unix_ns
FROM live_trials AS l JOIN trials AS t USING (trial_id)
GROUP BY ALL ORDER BY t.profile, first_unix_ns
"""


class LookupRow(msgspec.Struct, kw_only=True, frozen=True):
    """The look-ups of one site's names over one configuration, in one state of the connection and of the cache."""

    profile: str
    """The name of the vantage point."""
    resolver: str
    dns_transport: str
    connection: str
    """`none` (DoUDP), `cold` or `warm`."""
    page: str
    cache: str
    """`hit`, `miss`, `unknown` for an unknown state, `every` for all states together."""
    n: int
    failed_count: int
    median_ms: float
    """Infinite where half or more failed."""
    limit_ms: float
    """The smallest limit of these look-ups: the least duration of an infinite median."""


class CacheStateRow(msgspec.Struct, kw_only=True, frozen=True):
    """Number of look-ups over one configuration in one state of the resolver's cache."""

    profile: str
    resolver: str
    dns_transport: str
    cache_state: str
    n: int
    failed_count: int


class StatusRow(msgspec.Struct, kw_only=True, frozen=True):
    """The outcome of one trial's load."""

    trial_id: str
    profile: str
    resolver: str
    dns_transport: str
    page: str
    loaded: bool
    failure: str | None
    failure_detail: str | None
    dns_failure: str | None = None
    """The failure of the document's look-up, as far as known from the client's side."""
    refused: bool
    """True when the resolver refused every look-up of the trial."""


class PingRow(msgspec.Struct, kw_only=True, frozen=True):
    """Pings of one address beside the loads of one site; without any answer the round trip is unknown."""

    profile: str
    resolver: str
    page: str
    address: str
    method: str | None
    """`icmp`, `tcp`, `quic`; `None` without an answer."""
    port: int | None
    series_count: int
    sent_count: int
    answered_count: int
    median_ms: float | None
    least_ms: float | None


class TrialSettingsRow(msgspec.Struct, kw_only=True, frozen=True):
    """The common settings of a number of trials."""

    profile: str
    way: str
    operator_url: str
    system_resolver: str | None
    user_agent: str | None
    ipv6: bool
    further_authority: bool
    stop_sign: str | None
    trials_count: int
    first_unix_ns: int
    last_unix_ns: int


def lookups_by_site(dataset: Dataset) -> list[LookupRow]:
    """List the look-ups of every configuration and site, each state of connection and cache by itself."""
    return msgspec.convert(dataset.sql(LOOKUPS), list[LookupRow])


def cache_states(dataset: Dataset) -> list[CacheStateRow]:
    """Count look-ups by the state of the resolver's cache."""
    return msgspec.convert(dataset.sql(CACHE_STATES), list[CacheStateRow])


def statuses(dataset: Dataset) -> list[StatusRow]:
    """List the outcome of every trial's load, in the order of running."""
    return msgspec.convert(dataset.sql(STATUSES), list[StatusRow])


def pings(dataset: Dataset) -> list[PingRow]:
    """List the resolvers' pings by site, address and method."""
    return msgspec.convert(dataset.sql(PINGS), list[PingRow])


def read_trial_settings(dataset: Dataset) -> list[TrialSettingsRow]:
    """List the settings of trials, with equal settings merged."""
    return msgspec.convert(dataset.sql(TRIAL_SETTINGS), list[TrialSettingsRow])
