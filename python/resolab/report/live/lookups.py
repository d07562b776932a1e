"""Lookup times of each configuration, over sites: cached and not cached, over open and cold connections.

For: medians, and differences from Do53 of the same resolver and from the plan's baseline, with intervals over sites.
Not for: distributions of single queries (`responses`).

Each site counts once, with the median of its lookups in a state, because a page's names are looked up together and have
similar times. Differences are within sites. A site with mostly failed lookups is censored at the client's limit.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from resolab.basics.protocols import WITHOUT_CONNECTION, transport_position
from resolab.report.findings.interval_level import level_text
from resolab.report.findings.page_loads import drop_both_failed
from resolab.report.live.study import LiveStudy
from resolab.report.parts.named_table import NamedTable
from resolab.report.parts.tables import Table, both_text
from resolab.report.plots import ABSENT, transport_label
from resolab.report.plots.save import Value
from resolab.stats import Estimate, Sample, estimate_paired_difference, median
from resolab.store.live.queries import LookupRow

CACHE_WORDS = {"hit": "cached", "miss": "not cached", "unknown": "cache unknown", "every": "all"}
CONNECTION_WORDS = {"none": "none", "cold": "cold", "warm": "open"}
_CONNECTION_ORDER = tuple(CONNECTION_WORDS)
Sites = Mapping[str, LookupRow]


@dataclass(frozen=True, slots=True)
class LookupConfiguration:
    """A configuration from a vantage point, with the state of the connection."""

    profile: str
    resolver: str
    dns_transport: str
    connection: str


@dataclass(frozen=True, slots=True)
class LookupSummary:
    """The lookups of a configuration and connection state, in a cache state; every estimate is over sites."""

    way: LookupConfiguration
    cache: str
    n: int
    failed_count: int
    median_ms: Estimate
    against_do53_ms: Estimate | None
    """`None` for Do53 itself, or for a resolver without Do53 queries."""
    against_baseline_ms: Estimate | None
    """`None` for the baseline itself, or for a plan with several baselines."""


def lookup_results(study: LiveStudy) -> list[LookupSummary]:
    """Summarise every configuration in every cache state, in the study's order."""
    groups: dict[tuple[LookupConfiguration, str], dict[str, LookupRow]] = {}
    for row in study.lookups:
        way = LookupConfiguration(row.profile, row.resolver, row.dns_transport, row.connection)
        groups.setdefault((way, row.cache), {})[row.page] = row
    ordered = sorted(groups, key=lambda key: (_place(study, key[0]), list(CACHE_WORDS).index(key[1])))
    return [_result(study, groups, *key) for key in ordered]


def _place(study: LiveStudy, way: LookupConfiguration) -> tuple[int, ...]:
    connection = _CONNECTION_ORDER.index(way.connection)
    resolver = study.resolver_order[way.resolver]
    return list(study.profiles).index(way.profile), resolver, transport_position(way.dns_transport), connection


def _result(
    study: LiveStudy, groups: Mapping[tuple[LookupConfiguration, str], Sites], way: LookupConfiguration, cache: str
) -> LookupSummary:
    own = groups[way, cache]
    do53 = LookupConfiguration(way.profile, way.resolver, "doudp", "none")
    return LookupSummary(
        way=way,
        cache=cache,
        n=sum(row.n for row in own.values()),
        failed_count=sum(row.failed_count for row in own.values()),
        median_ms=median(sample_of_sites(own.values()), level=study.level),
        against_do53_ms=_compare_lookups(study, groups, way, cache, do53),
        against_baseline_ms=_compare_lookups(study, groups, way, cache, baseline_way(study, way)),
    )


def baseline_way(study: LiveStudy, way: LookupConfiguration) -> LookupConfiguration | None:
    """Return the plan's baseline from the same vantage point, in the same connection state if applicable."""
    levels = study.findings.plan.baseline.levels
    if not {"resolver", "dns_transport"} <= levels.keys():
        return None
    transport = str(levels["dns_transport"])
    connection = "none" if transport in WITHOUT_CONNECTION else way.connection
    return LookupConfiguration(way.profile, str(levels["resolver"]), transport, connection)


def _compare_lookups(
    study: LiveStudy,
    groups: Mapping[tuple[LookupConfiguration, str], Sites],
    way: LookupConfiguration,
    cache: str,
    other: LookupConfiguration | None,
) -> Estimate | None:
    if other is None or other == way or (other, cache) not in groups:
        return None
    own, compared = groups[way, cache], groups[other, cache]
    sites = [page for page in own if page in compared]
    both = (sample_of_sites([arm[page] for page in sites]) for arm in (own, compared))
    return estimate_paired_difference(*drop_both_failed(*both), level=study.level)


def sample_of_sites(rows: Iterable[LookupRow]) -> Sample:
    """Return each site's median; a site with mostly failed lookups is censored at their limit."""
    told = [(row.median_ms if math.isfinite(row.median_ms) else None, row.limit_ms) for row in rows]
    return Sample.from_censored([median for median, _ in told], [limit for _, limit in told])


def lookup_table(study: LiveStudy, found: Sequence[LookupSummary]) -> NamedTable:
    """List each configuration in a row, with the cache states side by side."""
    # Of failed look-ups alone nobody needs a column: they are counted.
    answered = {one.cache for one in found if one.failed_count < one.n}
    apart = [state for state in CACHE_WORDS if state in answered and state != "every"]
    shown = apart if study.knows_caches else ["every"]
    by_way: dict[LookupConfiguration, dict[str, LookupSummary]] = {}
    for one in found:
        by_way.setdefault(one.way, {})[one.cache] = one
    columns = (
        "vantage point", "resolver", "transport", "connection", "look-ups", "failed",
        *(head for state in shown for head in _heads(state)),
    )  # fmt: skip
    rows = [
        (
            way.profile,
            way.resolver,
            transport_label(way.dns_transport),
            CONNECTION_WORDS[way.connection],
            str(one["every"].n),
            str(one["every"].failed_count),
            *(cell for state in shown for cell in _cells(one.get(state))),
        )
        for way, one in by_way.items()
    ]
    return NamedTable(
        "live_lookups", "Look-ups by configuration", Table(columns, rows, frozenset(range(4))),
        [_row(study, one) for one in found], _note(study),
    )  # fmt: skip


def _heads(state: str) -> tuple[str, ...]:
    words = CACHE_WORDS[state]
    return f"{words}: sites", f"{words}: median ms", f"{words}: against its Do53, ms", f"{words}: against baseline, ms"


def _cells(one: LookupSummary | None) -> tuple[str, ...]:
    if one is None:
        return "0", ABSENT, "", ""
    differences = (one.against_do53_ms, one.against_baseline_ms)
    texts = ("" if estimate is None else both_text(estimate, 2, signed=True) for estimate in differences)
    return str(one.median_ms.n), both_text(one.median_ms, 2), *texts


def _note(study: LiveStudy) -> str:
    return (
        f"Of each site the median of its names' look-ups; median over sites with {level_text(study.level)} interval. "
        "Differences are within sites: against Do53 of the same resolver, and against the plan's baseline. Cached: the "
        "resolver had the answer (asked within its TTL); not cached: as far as known it had to find it. The set-up of "
        "a cold connection is inside. Look-ups of an unknown cache, as most failed ones are, are counted in any case."
    )


def _row(study: LiveStudy, one: LookupSummary) -> dict[str, Value]:
    return {
        "vantage_point": one.way.profile,
        "resolver": one.way.resolver,
        "dns_transport": one.way.dns_transport,
        "connection": one.way.connection,
        "cache": one.cache,
        "sites_count": one.median_ms.n,
        "lookups_count": one.n,
        "failed_count": one.failed_count,
        **estimate_columns("median", one.median_ms),
        **estimate_columns("against_do53", one.against_do53_ms),
        **estimate_columns("against_baseline", one.against_baseline_ms),
        "ci_level": study.level,
    }


def estimate_columns(name: str, one: Estimate | None) -> dict[str, Value]:
    """Return an estimate in ms as columns of a CSV; `None` for a missing estimate."""
    value, low, high = (None, None, None) if one is None else (one.value, one.ci_low, one.ci_high)
    return {f"{name}_ms": value, f"{name}_ci_low_ms": low, f"{name}_ci_high_ms": high}
