"""Findings over several comparisons of a dataset: slopes on the round-trip time, equivalence, and the tails.

For: the numbers of the report's section on effects. Not for: single comparisons (`comparisons`), or words.

All of these findings need a number of blocks fixed in advance. A plan stopping by confidence sequences has no such
findings: its data decided its number of blocks.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from resolab.basics.records import HandshakeMode
from resolab.plan import Condition, Estimand, Plan, stream_seed
from resolab.plan.comparison import ComparisonKind
from resolab.report.findings.dataset_plan import is_live
from resolab.report.findings.findings import EquivalenceResult, ShiftResult, SlopeResult, TailResult
from resolab.report.findings.interval_level import find_level, find_significance
from resolab.report.findings.oracle import Oracle
from resolab.report.findings.page_loads import are_of_rounds, group_by_condition, pair_blocks, pair_samples
from resolab.stats import (
    EquivalenceTest,
    Sample,
    compare_shares_beyond,
    compute_slope,
    equivalence,
    estimate_paired_difference,
    pairs_for_quantile,
    quantile_differences,
    slope_over_blocks,
    subtract_pairs,
)
from resolab.store.outcomes import LoadOutcome, find_outcome, list_outcomes
from resolab.store.rows import LoadRow

SLOW_MS = 3_000.0
"""A longer load is called slow."""
Grouped = Mapping[str, Sequence[LoadRow]]
Pair = tuple[Condition, Condition]


def slopes(plan: Plan, loads: Sequence[LoadRow], oracle: Oracle, outcomes: Iterable[LoadOutcome]) -> list[SlopeResult]:
    """Estimate the slope of every comparison made by the plan at three or more distances, and of 0-RTT's gain."""
    if not _blocks_are_fixed(plan):
        return []
    grouped, level, rtt_ms = group_by_condition(loads), find_level(plan), oracle.rtt_ms
    families = _families([*_list_pairs(plan), *_gains(plan)], rtt_ms)
    found = []
    for outcome in outcomes:
        for (treatment, baseline), members in families.items():
            slope = slope_over_blocks(_differences(grouped, members, outcome, rtt_ms), level=level)
            if slope.n:
                expected = compute_slope(
                    [(rtt_ms[one[0].profile], oracle.predict_extra_time(*one).round_trips_ms) for one in members]
                )
                found.append(SlopeResult(treatment, baseline, outcome, len(members), slope, expected))
    return found


def equivalences(plan: Plan, loads: Sequence[LoadRow], rtt_ms: Mapping[str, float]) -> list[EquivalenceResult]:
    """Test every comparison against the plan's margin, except comparisons without a margin in ms.

    A margin in round trips is undefined with unknown round-trip times, or on a link without any (profile `ideal`).
    """
    margin, outcome = plan.analysis.equivalence_margin, find_outcome(plan.analysis.primary)
    if margin is None or not _blocks_are_fixed(plan):
        return []
    test = EquivalenceTest.SIGNED_RANK if plan.analysis.estimand is Estimand.SHIFT else EquivalenceTest.SIGN
    grouped = group_by_condition(loads)
    tested = [one for one in _list_pairs(plan) if margin.ms is not None or rtt_ms.get(one[0].profile)]
    return [
        EquivalenceResult(
            *one,
            equivalence(
                subtract_pairs(*_samples(grouped, one, outcome, both_failed=not is_live(plan))),
                margin.compute_ms(rtt_ms.get(one[0].profile, 0.0)),
                test=test,
                significance=find_significance(plan),
            ),
        )
        for one in tested
    ]


def slow_loads(plan: Plan, loads: Sequence[LoadRow]) -> list[TailResult]:
    """Compare the shares of slow loads for conditions with a slow load, when all loads' limits are later.

    A mean over a page's rounds is not a load, and may be only partly known. So there are no shares of slow loads for
    sampled pages with several rounds.
    """
    outcome, grouped = list_outcomes(plan.kind, plan.study)[0], group_by_condition(loads)
    if plan.limits.page_timeout_s * 1e3 <= SLOW_MS or not _blocks_are_fixed(plan) or are_of_rounds(loads):
        return []
    found = (_compare_tails(plan, one, _samples(grouped, one, outcome)) for one in _list_pairs(plan))
    return [one for one in found if one.found.treatment.value or one.found.baseline.value]


def _compare_tails(plan: Plan, pair: Pair, samples: tuple[Sample, Sample]) -> TailResult:
    treatment, baseline = samples
    found = compare_shares_beyond(treatment, baseline, SLOW_MS, level=find_level(plan))
    both_in_time = (treatment.low <= SLOW_MS) & (baseline.low <= SLOW_MS)
    kept = [place for place, in_time in enumerate(both_in_time) if in_time]
    neither = estimate_paired_difference(treatment.take(kept), baseline.take(kept), level=find_level(plan))
    return TailResult(*pair, found, neither)


def shifts(plan: Plan, loads: Sequence[LoadRow]) -> list[ShiftResult]:
    """Compare quantiles of the primary outcome, given enough pairs for the interval of any quantile."""
    if not _blocks_are_fixed(plan):
        return []
    outcome, grouped = find_outcome(plan.analysis.primary), group_by_condition(loads)
    found = []
    for pair in _list_pairs(plan):
        samples = _samples(grouped, pair, outcome, both_failed=not is_live(plan))
        if len(samples[0]) >= pairs_for_quantile(0.5):
            seed = stream_seed(plan.seed, "quantiles", *(one.id for one in pair))
            found.append(ShiftResult(*pair, quantile_differences(*samples, seed=seed, level=find_level(plan))))
    return found


def _blocks_are_fixed(plan: Plan) -> bool:
    return plan.stop is None or not plan.stop.drops_conditions


def _list_pairs(plan: Plan) -> list[Pair]:
    comparisons = (one for one in plan.comparisons() if one.kind is not ComparisonKind.AA)
    return list(dict.fromkeys((one.treatment, one.baseline) for one in comparisons))


def _gains(plan: Plan) -> list[Pair]:
    """Pair each condition with a full handshake with its 0-RTT counterpart: the value of the saved round trip."""
    conditions = [one for one in plan.conditions() if one.replicate == 1]
    early = {replace(one, requested_handshake_mode=HandshakeMode.FULL): one for one in conditions if _is_early(one)}
    return [(one, early[one]) for one in conditions if one in early]


def _is_early(one: Condition) -> bool:
    return one.requested_handshake_mode is HandshakeMode.ZERO_RTT


def _families(compared: Iterable[Pair], rtt_ms: Mapping[str, float]) -> dict[Pair, list[Pair]]:
    """Group pairs differing only in the profile, among the profiles with a known round-trip time."""
    families: dict[Pair, list[Pair]] = {}
    for treatment, baseline in compared:
        if treatment.profile not in rtt_ms:
            continue
        key = replace(treatment, profile=""), replace(baseline, profile="")
        if treatment.profile == baseline.profile:
            families.setdefault(key, []).append((treatment, baseline))
    return families


def _differences(
    grouped: Grouped, members: Sequence[Pair], outcome: LoadOutcome, rtt_ms: Mapping[str, float]
) -> list[list[tuple[float, tuple[float, float]]]]:
    """Return each block's differences with their bounds, each beside the profile's round-trip time."""
    blocks: dict[int, list[tuple[float, tuple[float, float]]]] = {}
    for treatment, baseline in members:
        own, other = (grouped.get(one.id, []) for one in (treatment, baseline))
        shared, *samples = pair_blocks(outcome, own, other)
        found = subtract_pairs(*samples)
        for block, low, high in zip(shared, found.low, found.high, strict=True):
            blocks.setdefault(block, []).append((rtt_ms[treatment.profile], (float(low), float(high))))
    return [blocks[block] for block in sorted(blocks)]


def _samples(grouped: Grouped, pair: Pair, outcome: LoadOutcome, *, both_failed: bool = True) -> tuple[Sample, Sample]:
    own, other = (grouped.get(one.id, []) for one in pair)
    return pair_samples(outcome, own, other, both_failed=both_failed)
