"""Cold DNS exchanges into estimates per profile, transport and handshake, held against the closed form.

For: medians, round trips and what is left beyond them. Not for: page loads.

A failed exchange never gave an answer and counts as infinitely long: medians stay numbers while fewer than half fail.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from resolab.plan import Plan, stream_seed
from resolab.report.findings import ExchangeResult
from resolab.stats import Estimate, Sample, cold_exchange_round_trips, in_round_trips, median, remainder_ms
from resolab.store.rows import ExchangeRow

_TRANSPORT_ORDER = ("doudp", "dotcp", "dot", "doh", "doh3", "doq")
_MODE_ORDER = ("full", "resumed", "zero_rtt")
_WITHOUT_HANDSHAKE = ("doudp", "dotcp")


def exchange_results(plan: Plan, rows: Sequence[ExchangeRow], rtt_ms: Mapping[str, float]) -> list[ExchangeResult]:
    """Sum up the exchanges in the plan's order of profiles."""
    groups: dict[tuple[str, str, str], list[ExchangeRow]] = {}
    for row in rows:
        groups.setdefault((row.profile, row.dns_transport, row.requested_handshake_mode), []).append(row)
    profiles = plan.factors.profile

    def place(key: tuple[str, str, str]) -> tuple[int, int, int]:
        profile, transport, mode = key
        return profiles.index(profile), _TRANSPORT_ORDER.index(transport), _MODE_ORDER.index(mode)

    return [_result(plan, key, groups[key], rtt_ms[key[0]]) for key in sorted(groups, key=place)]


def _result(plan: Plan, key: tuple[str, str, str], rows: Sequence[ExchangeRow], rtt: float) -> ExchangeResult:
    profile, transport, mode = key
    times_ns = [row.query_response_time_ns for row in rows if row.query_response_time_ns is not None]
    times_ms = [math.inf if row.query_response_time_ns is None else row.query_response_time_ns / 1e6 for row in rows]
    trips = cold_exchange_round_trips(transport, mode)
    middle = median(Sample.exact(times_ms), seed=stream_seed(plan.seed, "exchange", *key))
    return ExchangeResult(
        profile=profile,
        rtt_ms=rtt,
        dns_transport=transport,
        requested_handshake_mode=mode,
        n=len(rows),
        failed_count=len(rows) - len(times_ns),
        reached_count=sum(transport in _WITHOUT_HANDSHAKE or row.handshake_mode == mode for row in rows),
        round_trips=tuple(in_round_trips(time, rtt) for time in times_ns),
        expected_round_trips=trips,
        median_ms=middle,
        remainder_ms=_remainder(middle, rtt, trips),
    )


def _remainder(middle: Estimate, rtt: float, trips: int) -> Estimate:
    """Shift an estimate of T to one of T - k x RTT; k and RTT are constants, so the interval shifts along."""

    def shift(number: float | None) -> float | None:
        return None if number is None else remainder_ms(number, rtt, trips)

    return replace(
        middle,
        low=shift(middle.low),
        high=shift(middle.high),
        ci_low=shift(middle.ci_low),
        ci_high=shift(middle.ci_high),
    )
