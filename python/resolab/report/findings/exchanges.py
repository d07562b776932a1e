"""Cold DNS exchanges as estimates per profile, resolver, transport and handshake, compared with the closed form.

For: medians, round trips and the remaining time. Not for: page loads.

A failed exchange gave no answer and counts as infinitely long: medians stay numbers while fewer than half fail. Up to
`LISTED_COUNT` exchanges are listed and resampled; a larger number is counted in the dataset, as distributions.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from resolab.basics.protocols import (
    cold_exchange_round_trips,
    express_in_round_trips,
    has_handshake,
    remainder_ms,
    transport_position,
)
from resolab.plan import Plan
from resolab.plan.factors import QUERY_FACTORS
from resolab.report.findings.findings import ExchangeResult
from resolab.report.findings.interval_level import find_level
from resolab.report.findings.resolvers import Resolver, make_resolver
from resolab.stats import Estimate, Method, Sample, ecdf, median
from resolab.store import DISTRIBUTION_PROBABILITIES, Dataset, QueryDistribution
from resolab.store.rows import ExchangeRow

LISTED_COUNT = 20_000
_MODE_ORDER = ("full", "resumed", "zero_rtt")


@dataclass(frozen=True, slots=True)
class ExchangeKey:
    """The common properties of a group of exchanges."""

    profile: str
    resolver: Resolver
    dns_transport: str
    requested_handshake_mode: str


_KEYS = (*QUERY_FACTORS, "dns_transport", "requested_handshake_mode")


def exchange_results(plan: Plan, dataset: Dataset, rtt_ms: Mapping[str, float]) -> list[ExchangeResult]:
    """Summarise the exchanges, profiles in the plan's order; `rtt_ms` holds the access links' round-trip times."""
    if dataset.has_more_cold_exchanges(LISTED_COUNT):
        results = _summarise_distributions(dataset, rtt_ms, find_level(plan))
    else:
        results = _summarise_rows(dataset.cold_exchanges(), rtt_ms, find_level(plan))
    profiles = plan.factors.profile

    def place(one: ExchangeResult) -> tuple[object, ...]:
        transport, mode = transport_position(one.dns_transport), _MODE_ORDER.index(one.requested_handshake_mode)
        return profiles.index(one.profile), make_resolver(one).place, transport, mode

    return sorted(results, key=place)


def _summarise_rows(rows: Sequence[ExchangeRow], rtt_ms: Mapping[str, float], level: float) -> list[ExchangeResult]:
    groups: dict[ExchangeKey, list[ExchangeRow]] = {}
    for row in rows:
        resolver = Resolver(row.resolver_extra_rtt_ms, row.resolver_cache, row.resolver, row.resolver_software)
        key = ExchangeKey(row.profile, resolver, row.dns_transport, row.requested_handshake_mode)
        groups.setdefault(key, []).append(row)
    return [_row_result(key, group, rtt_ms[key.profile], level) for key, group in groups.items()]


def _row_result(key: ExchangeKey, rows: Sequence[ExchangeRow], link_rtt_ms: float, level: float) -> ExchangeResult:
    times_ns = [row.query_response_time_ns for row in rows if row.query_response_time_ns is not None]
    times_ms = [math.inf if row.query_response_time_ns is None else row.query_response_time_ns / 1e6 for row in rows]
    rtt = link_rtt_ms + key.resolver.extra_rtt_ms
    # Without a round trip there is nothing to count times in: no curve, the median in milliseconds alone.
    ordered, _ = ecdf([express_in_round_trips(time, rtt) for time in times_ns] if rtt else [])
    return _result(
        key,
        rtt,
        n=len(rows),
        failed_count=len(rows) - len(times_ns),
        reached_count=_count_reached(key, ((row.handshake_mode or "none", 1) for row in rows)),
        curve=[(float(value), (rank + 1) / len(rows)) for rank, value in enumerate(ordered)],
        middle=median(Sample.exact(times_ms), level=level),
    )


def _summarise_distributions(dataset: Dataset, rtt_ms: Mapping[str, float], level: float) -> list[ExchangeResult]:
    cold = {"connection": ["cold"]}
    modes: dict[ExchangeKey, list[tuple[str, int]]] = {}
    for one in dataset.query_distributions([*_KEYS, "handshake_mode"], cold):
        modes.setdefault(_key(one), []).append((one.key["handshake_mode"], one.n))
    return [
        _distribution_result(one, _count_reached(_key(one), modes[_key(one)]), rtt_ms[one.key["profile"]])
        for one in dataset.query_distributions(_KEYS, cold, level=level)
    ]


def _key(one: QueryDistribution) -> ExchangeKey:
    levels = one.key["resolver_cache"], one.key["resolver"], one.key["resolver_software"]
    resolver = Resolver(float(one.key["resolver_extra_rtt_ms"]), *levels)
    return ExchangeKey(one.key["profile"], resolver, one.key["dns_transport"], one.key["requested_handshake_mode"])


def _distribution_result(one: QueryDistribution, reached_count: int, link_rtt_ms: float) -> ExchangeResult:
    points = zip(one.quantiles_ms, DISTRIBUTION_PROBABILITIES, strict=True)
    key = _key(one)
    rtt = link_rtt_ms + key.resolver.extra_rtt_ms
    return _result(
        key,
        rtt,
        n=one.n,
        failed_count=one.failed_count,
        reached_count=reached_count,
        curve=[
            (express_in_round_trips(time * 1e6, rtt), share) for time, share in points if rtt and math.isfinite(time)
        ],
        middle=Estimate(
            low=one.median_ms,
            high=one.median_ms,
            ci_low=one.median_ci_low_ms,
            ci_high=one.median_ci_high_ms,
            n=one.n,
            censored_count=one.failed_count,
            level=one.level,
            method=Method.NONE if one.median_ci_low_ms is None else Method.ORDER_STATISTIC,
        ),
    )


def _count_reached(key: ExchangeKey, modes: Iterable[tuple[str, int]]) -> int:
    """Count the exchanges with the requested handshake; for transports without a handshake, count all exchanges."""
    return sum(
        count for mode, count in modes if not has_handshake(key.dns_transport) or mode == key.requested_handshake_mode
    )


def _result(
    key: ExchangeKey,
    rtt: float,
    *,
    n: int,
    failed_count: int,
    reached_count: int,
    curve: Sequence[tuple[float, float]],
    middle: Estimate,
) -> ExchangeResult:
    trips = cold_exchange_round_trips(key.dns_transport, key.requested_handshake_mode)
    return ExchangeResult(
        profile=key.profile,
        resolver_extra_rtt_ms=key.resolver.extra_rtt_ms,
        resolver_cache=key.resolver.cache,
        resolver=key.resolver.name,
        resolver_software=key.resolver.software,
        rtt_ms=rtt,
        dns_transport=key.dns_transport,
        requested_handshake_mode=key.requested_handshake_mode,
        n=n,
        failed_count=failed_count,
        reached_count=reached_count,
        round_trips=tuple(value for value, _ in curve),
        shares=tuple(share for _, share in curve),
        expected_round_trips=trips,
        median_ms=middle,
        remainder_ms=_remainder(middle, rtt, trips),
    )


def _remainder(middle: Estimate, rtt: float, trips: int) -> Estimate:
    """Convert an estimate of T to an estimate of T - k x RTT; k and RTT are constants, so the interval shifts along."""

    def shift(number: float | None) -> float | None:
        return None if number is None else remainder_ms(number, rtt, trips)

    return replace(
        middle,
        low=shift(middle.low),
        high=shift(middle.high),
        ci_low=shift(middle.ci_low),
        ci_high=shift(middle.ci_high),
    )
