"""The verdict of each expectation of a dataset, with the numbers behind it.

For: pure functions from a plan and its trials to verdicts. Not for: the decisions (`checks.decision`), reading datasets
(`dataset_check`) or the forms of verdicts (`forms`).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from resolab.checks.decision import (
    Interval,
    Verdict,
    interval_at_any_look,
    interval_of_fixed_blocks,
    judge_failures,
    judge_share,
    judge_times,
    subtract_scaled,
)
from resolab.plan import Plan, PlannedComparison
from resolab.plan.expectation import TIME_KINDS, Expectation, ExpectationKind
from resolab.report.findings.page_loads import group_by_condition, pair_samples
from resolab.stats import Estimate, Sample, difference_at_any_look, estimate_paired_difference
from resolab.store.outcomes import OUTCOMES, is_usable
from resolab.store.rows import LoadRow

MAD_TO_SD = 1.4826
"""The standard deviation of a normal distribution over its median absolute deviation."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """An expectation of one comparison, with its verdict and the numbers behind it."""

    expectation: Expectation
    comparison: PlannedComparison
    verdict: Verdict
    sentence: str
    blocks_count: int
    """The pairs of the comparison; of failures and shares, the treatment's trials."""
    estimate_ms: float | None = None
    interval_ms: Interval | None = None
    share: float | None = None
    share_interval: Interval | None = None
    failures_count: int = 0
    spread_ms: float | None = None
    """The spread of the pairs' differences: 1.4826 times their median absolute deviation, so that no tail sets it."""
    seconds: float = 0.0
    """The time spent on the trials of the comparison."""


def is_sequential(plan: Plan) -> bool:
    """Return True when the data decide about the number of blocks."""
    return plan.stop is not None


def check_expectations(plan: Plan, loads: Sequence[LoadRow], *, is_complete: bool) -> list[CheckResult]:
    """Judge every expectation of every comparison; `is_complete` when no trial is left to run."""
    grouped = group_by_condition(loads)
    conditions = plan.conditions()
    return [
        _check(plan, one, pair, grouped, is_complete=is_complete)
        for one in plan.expectations
        for pair in one.list_comparisons(conditions, plan.find_with_levels)
    ]


def _check(
    plan: Plan,
    one: Expectation,
    pair: PlannedComparison,
    grouped: Mapping[str, Sequence[LoadRow]],
    *,
    is_complete: bool,
) -> CheckResult:
    own, other = (grouped.get(arm.id, []) for arm in (pair.treatment, pair.baseline))
    if one.kind in TIME_KINDS:
        return _check_time(plan, one, pair, own, other)
    usable = [load for load in own if is_usable(load)]
    if one.kind is ExpectationKind.FAILURES_AT_MOST:
        return _check_failures(one, pair, usable, is_complete=is_complete)
    return _check_share(one, pair, usable)


def _check_time(
    plan: Plan, one: Expectation, pair: PlannedComparison, own: Sequence[LoadRow], other: Sequence[LoadRow]
) -> CheckResult:
    treatment, baseline = pair_samples(OUTCOMES[one.outcome], own, other)
    interval_of = interval_at_any_look if is_sequential(plan) else interval_of_fixed_blocks
    differences = subtract_scaled(treatment, baseline, 0.0, 1.0)
    interval, verdict = interval_of(differences), judge_times(one, treatment, baseline, interval_of)
    estimate = _estimate(plan, treatment, baseline)
    found = CheckResult(
        expectation=one, comparison=pair, verdict=verdict, sentence="", blocks_count=len(treatment),
        estimate_ms=estimate.value, interval_ms=interval, spread_ms=_spread(differences),
        failures_count=sum(load.failure is not None for load in (*own, *other) if is_usable(load)),
    )  # fmt: skip
    return replace(found, sentence=_time_sentence(found))


def _estimate(plan: Plan, treatment: Sample, baseline: Sample) -> Estimate:
    if is_sequential(plan):
        return difference_at_any_look(treatment, baseline)
    return estimate_paired_difference(treatment, baseline)


def _spread(differences: Sample) -> float | None:
    known = differences.low[np.isfinite(differences.low) & (differences.low == differences.high)]
    return float(MAD_TO_SD * np.median(np.abs(known - np.median(known)))) if len(known) > 1 else None


def _check_failures(
    one: Expectation, pair: PlannedComparison, usable: Sequence[LoadRow], *, is_complete: bool
) -> CheckResult:
    count = sum(load.failure is not None for load in usable)
    verdict = judge_failures(one, count, is_complete=is_complete)
    sentence = f"{count} of {len(usable)} failed, bound {one.failures_count}"
    return CheckResult(one, pair, verdict, sentence, len(usable), failures_count=count)


def _check_share(one: Expectation, pair: PlannedComparison, usable: Sequence[LoadRow]) -> CheckResult:
    contributed = (OUTCOMES[one.outcome].contribution(load) for load in usable)
    values_ms = [told.value_ms for told in contributed if told is not None]
    found = judge_share(one, values_ms)
    share = found.slow_count / len(values_ms) if values_ms else None
    ends = f"[{found.interval.low:.1%}, {found.interval.high:.1%}]"
    told = "" if share is None else f" ({share:.1%} {ends})"
    counted = f"{found.slow_count} of {len(values_ms)} failed or above {one.slow_ms:g} ms"
    return CheckResult(
        one, pair, found.verdict, f"{counted}{told}, bound {one.share_percent:g} %", len(values_ms),
        share=share, share_interval=found.interval,
        failures_count=sum(load.failure is not None for load in usable),
    )  # fmt: skip


def _time_sentence(found: CheckResult) -> str:
    one = found.expectation
    if found.estimate_ms is None or found.interval_ms is None:
        return f"no pair of blocks yet, bound {one.bound}"
    low, high = found.interval_ms.low, found.interval_ms.high
    side = "slower" if found.estimate_ms > 0 else "faster"
    ends = f"[{_end(low)}, {_end(high)}]"
    told = f"{abs(found.estimate_ms):.1f} ms {side} {ends}, bound {one.bound}, {found.blocks_count} blocks"
    if found.interval_ms.contradicts_itself:
        told += "; two intervals without a common point: the pairs change over time"
    return told


def _end(value: float) -> str:
    return f"{value:.1f}" if math.isfinite(value) else "no bound"
