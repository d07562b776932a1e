"""Trials with their page loads and all their levels, and the resolvers of trials, as SQL with typed rows.

For: loads by configuration, one row per finished trial, also without a load. Not for: statistics, or loads of the
report's comparisons (`dataset`).
"""

import msgspec

from resolab.plan.factor import FactorSubject
from resolab.plan.factors import LOAD_FACTORS, select_factors
from resolab.store.dataset import Dataset
from resolab.store.outcomes import EXCHANGE_FAILED, times_as_sql

LOADS = f"""
WITH names AS (
    SELECT trial_id, count(DISTINCT regexp_extract(url, '^[a-z]+://([^/:]+)', 1)) AS names_count
    FROM requests GROUP BY trial_id
)
SELECT t.trial_id, t.block, t.condition, {", ".join(f"t.{factor}" for factor in LOAD_FACTORS)},
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


class TrialLoadRow(msgspec.Struct, kw_only=True, frozen=True):
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
    resolver_software: str
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
    resolver_software: str


def trial_loads(dataset: Dataset) -> list[TrialLoadRow]:
    """List the finished trials in the order they ran."""
    return msgspec.convert(dataset.sql(LOADS), list[TrialLoadRow])


def trial_resolvers(dataset: Dataset) -> list[ResolverRow]:
    """List the resolvers of the study's trials."""
    return msgspec.convert(dataset.sql(RESOLVERS), list[ResolverRow])
