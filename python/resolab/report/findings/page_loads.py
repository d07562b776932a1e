"""Page loads into estimates per condition, and comparisons with the baseline.

For: deciding what each load contributes. Not for: the estimates' mathematics (`stats`).

A load the network or server failed (time-out, DNS, connect, TLS, HTTP) never ended: its times are 'at least the
limit', so that a transport cannot look better by failing. A load the instrument failed (driver, browser) says nothing
about the network and is left out; both are counted.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from resolab.plan import Condition, Plan, stream_seed
from resolab.protocols import lookup_round_trips, page_handshake_round_trips
from resolab.records import ResolverCache
from resolab.report.findings.findings import Comparison, ConditionResult
from resolab.report.findings.interval_level import level_of
from resolab.stats import Sample, cliffs_delta, hodges_lehmann, median, paired_difference, pairs, relative_change
from resolab.store.rows import LoadRow

INSTRUMENT_FAILURES = ("driver", "browser_crash", "browser_hang")


def condition_results(plan: Plan, loads: Sequence[LoadRow], rtt_ms: Mapping[str, float]) -> list[ConditionResult]:
    """Sum up every condition of the plan, those without any load included."""
    by_condition: dict[str, list[LoadRow]] = {}
    for load in loads:
        by_condition.setdefault(load.condition, []).append(load)
    results = []
    for condition in plan.conditions():
        own = by_condition.get(condition.id, [])
        baseline = plan.baseline_of(condition)
        comparison = None
        # A copy is compared with its first and nothing else (`comparisons`).
        if baseline != condition and condition.replicate == 1:
            comparison = _compare(plan, condition, own, by_condition.get(baseline.id, []), rtt_ms)
        results.append(_result(plan, condition, own, comparison))
    return results


def _result(
    plan: Plan, condition: Condition, loads: Sequence[LoadRow], comparison: Comparison | None
) -> ConditionResult:
    usable = usable_loads(loads)
    ended = [load.plt_ms for load in usable if load.failure is None and load.plt_ms is not None]
    level = level_of(plan)
    return ConditionResult(
        condition=condition,
        trials_count=len(loads),
        failed_count=sum(load.failure is not None for load in usable),
        unusable_count=len(loads) - len(usable),
        reached_count=sum(load.handshake_mode == load.requested_handshake_mode for load in usable),
        plt_ms=median(_sample(usable, _plt), level=level),
        response_start_ms=median(_sample(usable, _response_start), level=level),
        comparison=comparison,
        range_ms=(min(ended), max(ended)) if ended else None,
    )


def _compare(
    plan: Plan,
    condition: Condition,
    loads: Sequence[LoadRow],
    baseline_loads: Sequence[LoadRow],
    rtt_ms: Mapping[str, float],
) -> Comparison:
    own, other = usable_loads(loads), usable_loads(baseline_loads)
    treated, compared = pairs([load.block for load in own], [load.block for load in other])
    treatment = _sample(own, _plt).take(treated)
    baseline = _sample(other, _plt).take(compared)
    both = (treatment.low == treatment.high) & (baseline.low == baseline.high)
    reference = plan.baseline_of(condition)
    level = level_of(plan)
    return Comparison(
        baseline=reference,
        difference_ms=paired_difference(treatment, baseline, level=level),
        blocks_ms=tuple(float(value) for value in np.subtract(treatment.low, baseline.low)[both]),
        change=relative_change(treatment, baseline, seed=stream_seed(plan.seed, "change", condition.id), level=level),
        expected_ms=_before_request_ms(plan, condition, rtt_ms) - _before_request_ms(plan, reference, rtt_ms),
        shift_ms=hodges_lehmann(treatment, baseline, paired=True, level=level),
        delta=cliffs_delta(treatment, baseline, level=level),
    )


def _before_request_ms(plan: Plan, condition: Condition, rtt_ms: Mapping[str, float]) -> float:
    """Time a page load spends before its first request: look-up at the resolver's distance, the page's handshake."""
    lookup = lookup_round_trips(
        condition.dns_transport, condition.requested_dns_handshake_mode, condition.dns_connection_state
    )
    page = page_handshake_round_trips(condition.http_version, condition.requested_handshake_mode)
    miss_ms = plan.resolver.miss_delay_ms if condition.resolver_cache is ResolverCache.MISS else 0.0
    link_ms = rtt_ms[condition.profile]
    return lookup * (link_ms + condition.resolver_extra_rtt_ms) + miss_ms + page * link_ms


def usable_loads(loads: Sequence[LoadRow]) -> list[LoadRow]:
    """Leave out what the instrument lost."""
    return [load for load in loads if load.loaded and load.failure not in INSTRUMENT_FAILURES]


def plt_sample(loads: Sequence[LoadRow]) -> Sample:
    """Return the page load times of usable loads; a failed one is at least its limit."""
    return _sample(loads, _plt)


def _sample(loads: Sequence[LoadRow], value: Callable[[LoadRow], float | None]) -> Sample:
    values = [None if load.failure else value(load) for load in loads]
    return Sample.censored(values, [load.limit_ms or 0.0 for load in loads])


def _plt(load: LoadRow) -> float | None:
    return load.plt_ms


def _response_start(load: LoadRow) -> float | None:
    return load.response_start_ms
