"""The valid estimates of page loads under a plan's stopping rule.

For: the common choice for every comparison and median of a dataset. Not for: making intervals (`stats`), or the
estimates of the papers' sections, always made for a fixed number of blocks.

A plan stopping by confidence sequences may have stopped because an interval for a fixed number of blocks would exclude
0. So its medians, differences and changes have the sequences' intervals. Estimates without a sequence have no interval.
"""

from dataclasses import dataclass, replace
from typing import Protocol

from resolab.plan import Plan
from resolab.report.findings.interval_level import find_level
from resolab.stats import (
    LEVEL,
    Estimate,
    Method,
    Sample,
    change_at_any_look,
    cliffs_delta,
    compute_paired_p_value,
    difference_at_any_look,
    estimate_paired_difference,
    hodges_lehmann,
    median,
    median_at_any_look,
    relative_change,
)


class Estimators(Protocol):
    """Estimators of loads and pairs in the order of their blocks."""

    def median(self, sample: Sample) -> Estimate:
        """Estimate the median of a sample."""

    def difference(self, treatment: Sample, baseline: Sample) -> Estimate:
        """Estimate the median of the differences within pairs."""

    def change(self, treatment: Sample, baseline: Sample, seed: int) -> Estimate:
        """Estimate the relative change of the medians."""

    def shift(self, treatment: Sample, baseline: Sample) -> Estimate:
        """Estimate the Hodges-Lehmann shift of pairs."""

    def delta(self, treatment: Sample, baseline: Sample) -> Estimate:
        """Estimate Cliff's delta of two samples."""

    def p_value(self, treatment: Sample, baseline: Sample) -> float | None:
        """Test the pairs, when a test is valid."""


def choose_estimators(plan: Plan) -> Estimators:
    """Choose the estimators by the plan's stopping rule."""
    if plan.stop is not None and plan.stop.drops_conditions:
        return SequentialEstimators()
    return FixedBlockEstimators(find_level(plan))


@dataclass(frozen=True, slots=True)
class FixedBlockEstimators:
    """Estimators for a fixed number of blocks, or a number decided by a width, at a compensating level."""

    level: float

    def median(self, sample: Sample) -> Estimate:
        """Estimate the median with an interval between order statistics."""
        return median(sample, level=self.level)

    def difference(self, treatment: Sample, baseline: Sample) -> Estimate:
        """Estimate the median difference with an interval between order statistics."""
        return estimate_paired_difference(treatment, baseline, level=self.level)

    def change(self, treatment: Sample, baseline: Sample, seed: int) -> Estimate:
        """Estimate the relative change with a bootstrap interval."""
        return relative_change(treatment, baseline, seed=seed, level=self.level)

    def shift(self, treatment: Sample, baseline: Sample) -> Estimate:
        """Estimate the shift with an interval by signed ranks."""
        return hodges_lehmann(treatment, baseline, paired=True, level=self.level)

    def delta(self, treatment: Sample, baseline: Sample) -> Estimate:
        """Estimate delta with a score interval."""
        return cliffs_delta(treatment, baseline, level=self.level)

    def p_value(self, treatment: Sample, baseline: Sample) -> float | None:
        """Test the pairs by signed ranks."""
        return compute_paired_p_value(treatment, baseline)


@dataclass(frozen=True, slots=True)
class SequentialEstimators:
    """Estimators for pairs measured until a confidence sequence decided."""

    level: float = LEVEL

    def median(self, sample: Sample) -> Estimate:
        """Estimate the median with its confidence sequence."""
        return median_at_any_look(sample, level=self.level)

    def difference(self, treatment: Sample, baseline: Sample) -> Estimate:
        """Estimate the median difference with its confidence sequence."""
        return difference_at_any_look(treatment, baseline, level=self.level)

    def change(self, treatment: Sample, baseline: Sample, seed: int) -> Estimate:  # noqa: ARG002
        """Estimate the relative change by both medians' sequences, without resampling."""
        return change_at_any_look(treatment, baseline, level=self.level)

    def shift(self, treatment: Sample, baseline: Sample) -> Estimate:
        """Estimate the shift without an interval."""
        return _drop_interval(hodges_lehmann(treatment, baseline, paired=True))

    def delta(self, treatment: Sample, baseline: Sample) -> Estimate:
        """Estimate delta without an interval."""
        return _drop_interval(cliffs_delta(treatment, baseline))

    def p_value(self, treatment: Sample, baseline: Sample) -> float | None:  # noqa: ARG002
        """Return `None`: when pairs decide their own number, signed ranks err more often than their p-value says."""
        return None


def _drop_interval(estimate: Estimate) -> Estimate:
    return replace(estimate, ci_low=None, ci_high=None, method=Method.NONE)
