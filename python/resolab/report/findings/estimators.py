"""The estimates of page loads that a plan's stopping rule leaves valid.

For: one answer for every comparison and median of a dataset. Not for: making intervals (`stats`), or the estimates of
the papers' sections, which are made for a fixed number of blocks whatever the plan.

A plan that stops by confidence sequences may have stopped because an interval of a fixed number of blocks would exclude
0. So its medians, differences and changes have the sequences' intervals, and what has none has none here either.
"""

from dataclasses import dataclass, replace
from typing import Protocol

from resolab.plan import Plan, StopRule
from resolab.report.findings.interval_level import level_of
from resolab.stats import (
    LEVEL,
    Estimate,
    Method,
    Sample,
    change_at_any_look,
    cliffs_delta,
    difference_at_any_look,
    hodges_lehmann,
    median,
    median_at_any_look,
    paired_difference,
    paired_p_value,
    relative_change,
)


class Estimators(Protocol):
    """What is estimated of loads and pairs that stand in the order of their blocks."""

    def median(self, sample: Sample) -> Estimate:
        """Estimate the median."""

    def difference(self, treatment: Sample, baseline: Sample) -> Estimate:
        """Estimate the median of the differences within pairs."""

    def change(self, treatment: Sample, baseline: Sample, seed: int) -> Estimate:
        """Estimate the relative change of the medians."""

    def shift(self, treatment: Sample, baseline: Sample) -> Estimate:
        """Estimate the Hodges-Lehmann shift of pairs."""

    def delta(self, treatment: Sample, baseline: Sample) -> Estimate:
        """Estimate Cliff's delta."""

    def p_value(self, treatment: Sample, baseline: Sample) -> float | None:
        """Test the pairs, where a test is valid."""


def estimators_of(plan: Plan) -> Estimators:
    """Choose by the plan's stopping rule."""
    if plan.stop is not None and plan.stop.rule is StopRule.CONFIDENCE_SEQUENCE:
        return AtAnyLook()
    return OfFixedBlocks(level_of(plan))


@dataclass(frozen=True, slots=True)
class OfFixedBlocks:
    """Of a number of blocks that no estimate decided; or one width did, at a level that makes up for it."""

    level: float

    def median(self, sample: Sample) -> Estimate:
        """Between order statistics."""
        return median(sample, level=self.level)

    def difference(self, treatment: Sample, baseline: Sample) -> Estimate:
        """Between order statistics."""
        return paired_difference(treatment, baseline, level=self.level)

    def change(self, treatment: Sample, baseline: Sample, seed: int) -> Estimate:
        """By bootstrap."""
        return relative_change(treatment, baseline, seed=seed, level=self.level)

    def shift(self, treatment: Sample, baseline: Sample) -> Estimate:
        """By signed ranks."""
        return hodges_lehmann(treatment, baseline, paired=True, level=self.level)

    def delta(self, treatment: Sample, baseline: Sample) -> Estimate:
        """By score."""
        return cliffs_delta(treatment, baseline, level=self.level)

    def p_value(self, treatment: Sample, baseline: Sample) -> float | None:
        """By signed ranks."""
        return paired_p_value(treatment, baseline)


@dataclass(frozen=True, slots=True)
class AtAnyLook:
    """Of pairs that were measured until a confidence sequence decided."""

    level: float = LEVEL

    def median(self, sample: Sample) -> Estimate:
        """By its sequence."""
        return median_at_any_look(sample, level=self.level)

    def difference(self, treatment: Sample, baseline: Sample) -> Estimate:
        """By its sequence."""
        return difference_at_any_look(treatment, baseline, level=self.level)

    def change(self, treatment: Sample, baseline: Sample, seed: int) -> Estimate:  # noqa: ARG002
        """By both medians' sequences; nothing is resampled."""
        return change_at_any_look(treatment, baseline, level=self.level)

    def shift(self, treatment: Sample, baseline: Sample) -> Estimate:
        """Without an interval."""
        return _without_interval(hodges_lehmann(treatment, baseline, paired=True))

    def delta(self, treatment: Sample, baseline: Sample) -> Estimate:
        """Without an interval."""
        return _without_interval(cliffs_delta(treatment, baseline))

    def p_value(self, treatment: Sample, baseline: Sample) -> float | None:  # noqa: ARG002
        """Give none: signed ranks of pairs whose number they decided err more often than their p-value says."""
        return None


def _without_interval(estimate: Estimate) -> Estimate:
    return replace(estimate, ci_low=None, ci_high=None, method=Method.NONE)
