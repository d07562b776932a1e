"""The decision of an expectation: met, not met or undecided, from the pairs or trials so far.

For: pure functions over samples, for stopping rules and verdicts alike. Not for: reading trials (`campaign`, `report`).

Times: the confidence sequence of the median decides (`stats.sequence`). Its interval holds at any look, so that a run
may be looked at after every block. A plan without `[stop]` has a number of blocks fixed in advance, and the interval
between order statistics decides at the end. Each of the two wrong verdicts has a chance of at most 2.5 %. Means and
Hodges-Lehmann shifts never decide: they take a tail for a shift.

Shares of slow and failed trials: the confidence sequence of a share decides at any look. Failures are counted: a count
above the bound is not met at once, a count within the bound is met after the last trial.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from resolab.plan.expectation import Expectation, ExpectationKind
from resolab.stats import LEVEL, MedianSequence, Sample, estimate_paired_difference, share_at_any_look, subtract_pairs

SHARE_LEVEL = 0.975
"""The level of the interval of a share: 2.5 % for a share above the bound that is not there."""


class Verdict(StrEnum):
    """The verdict on an expectation."""

    MET = "met"
    NOT_MET = "not met"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Interval:
    """The interval that a verdict rests on; its ends are infinite where there is no bound yet."""

    low: float
    high: float
    contradicts_itself: bool = False


@dataclass(frozen=True, slots=True)
class ShareDecision:
    """The verdict on a share of slow and failed trials, with its interval."""

    verdict: Verdict
    interval: Interval
    slow_count: int
    """The number of slow and failed trials."""


IntervalRule = Callable[[Sample], Interval]
"""An interval of the median of differences: at any look, or after a number of blocks fixed in advance."""


def judge_times(one: Expectation, treatment: Sample, baseline: Sample, interval_of: IntervalRule) -> Verdict:
    """Judge an expectation about times, from the pairs of both samples."""
    return decide(one, lambda shift_ms, factor: interval_of(subtract_scaled(treatment, baseline, shift_ms, factor)))


def judge_failures(one: Expectation, failed_count: int, *, is_complete: bool) -> Verdict:
    """Judge an expectation about failures; fewer failures than allowed say nothing before the last trial."""
    if failed_count > (one.failures_count or 0):
        return Verdict.NOT_MET
    return Verdict.MET if is_complete else Verdict.UNDECIDED


def judge_share(one: Expectation, values_ms: Sequence[float | None]) -> ShareDecision:
    """Judge an expectation about the share of slow and failed trials; `None` is a failed trial. Valid at any look."""
    bound, slow_ms = (one.share_percent or 0.0) / 100, one.slow_ms or 0.0
    slow_count = sum(value is None or value > slow_ms for value in values_ms)
    low, high = share_at_any_look(slow_count, len(values_ms), level=SHARE_LEVEL)
    verdict = Verdict.NOT_MET if low > bound else Verdict.MET if high <= bound else Verdict.UNDECIDED
    return ShareDecision(verdict, Interval(low, high), slow_count)


def decide(one: Expectation, interval_beyond: Callable[[float, float], Interval]) -> Verdict:
    """Judge an expectation about times.

    `interval_beyond(shift_ms, factor)` is the interval of the median of treatment - factor x baseline - shift_ms, over
    the pairs: entirely below 0, the treatment stays below the bound.
    """
    upper = _bound(one, 1.0)
    if one.kind is ExpectationKind.NOT_SLOWER_THAN:
        return _side(interval_beyond(*upper))
    lower = _bound(one, -1.0)
    if one.kind is ExpectationKind.FASTER_BY:
        return _side(interval_beyond(*lower))
    below, above = _side(interval_beyond(*upper)), _side(interval_beyond(*lower))
    if Verdict.NOT_MET is below or above is Verdict.MET:
        return Verdict.NOT_MET
    return Verdict.MET if below is Verdict.MET and above is Verdict.NOT_MET else Verdict.UNDECIDED


def _bound(one: Expectation, sign: float) -> tuple[float, float]:
    """Return the shift in ms and the factor of the baseline for the margin on one side."""
    if one.margin_ms is not None:
        return sign * one.margin_ms, 1.0
    return 0.0, 1.0 + sign * (one.margin_percent or 0.0) / 100


def _side(interval: Interval) -> Verdict:
    if interval.contradicts_itself:
        return Verdict.UNDECIDED
    if interval.high < 0:
        return Verdict.MET
    return Verdict.NOT_MET if interval.low > 0 else Verdict.UNDECIDED


def subtract_scaled(treatment: Sample, baseline: Sample, shift_ms: float, factor: float) -> Sample:
    """Return treatment - factor x baseline - shift, pair by pair; bounds stay bounds."""
    scaled = Sample(baseline.low * factor, baseline.high * factor)
    found = subtract_pairs(treatment, scaled)
    return Sample(found.low - shift_ms, found.high - shift_ms)


def interval_at_any_look(differences: Sample) -> Interval:
    """Return the interval of the median that holds after every pair."""
    sequence = MedianSequence()
    for low, high in zip(differences.low, differences.high, strict=True):
        sequence.add(float(low), float(high))
    return Interval(sequence.low, sequence.high, sequence.contradicts_itself)


def interval_of_fixed_blocks(differences: Sample) -> Interval:
    """Return the interval of the median for a number of pairs fixed in advance."""
    zero = Sample.exact([0.0] * len(differences))
    found = estimate_paired_difference(differences, zero)
    # The range of five pairs has less than this level: no interval.
    if found.level < LEVEL:
        return Interval(-math.inf, math.inf)
    return Interval(
        -math.inf if found.ci_low is None else found.ci_low, math.inf if found.ci_high is None else found.ci_high
    )
