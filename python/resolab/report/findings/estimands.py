"""The estimands available to a plan, for a comparison with all of them and for a pair of samples.

For: a single choice of the deciding number. Not for: their mathematics (`stats`).
"""

import math
from typing import Protocol, assert_never

from resolab.plan import Estimand
from resolab.report.findings.estimators import Estimators
from resolab.stats import Estimate, Sample


class EstimandSource(Protocol):
    """A comparison with all of its estimands."""

    @property
    def difference_ms(self) -> Estimate:
        """Median of the paired differences."""

    @property
    def change(self) -> Estimate:
        """Relative change of the medians."""

    @property
    def shift_ms(self) -> Estimate | None:
        """Hodges-Lehmann shift of the pairs."""


MOST_PAIRS = 100
"""An upper limit of the number of pairs needed by any interval."""

WORDS = {
    Estimand.PAIRED_DIFFERENCE: "median of the paired differences",
    Estimand.RELATIVE_CHANGE: "relative change of the medians",
    Estimand.SHIFT: "Hodges-Lehmann shift of the pairs",
}


def choose_deciding(compared: EstimandSource, estimand: Estimand) -> Estimate | None:
    """Return the deciding estimate."""
    match estimand:
        case Estimand.PAIRED_DIFFERENCE:
            return compared.difference_ms
        case Estimand.RELATIVE_CHANGE:
            return compared.change
        case Estimand.SHIFT:
            return compared.shift_ms
    assert_never(estimand)


def pairs_needed(estimators: Estimators, estimand: Estimand) -> int:
    """Return the smallest number of pairs with a two-sided interval of the estimand, if all their loads ended.

    Plans are refused before their run when their rule gives the estimand no interval for any number of pairs.
    """

    def has_interval(size: int) -> bool:
        # Pairs that all differ, for ties need more.
        treatment, baseline = Sample.exact([100.0 + value for value in range(size)]), Sample.exact([90.0] * size)
        width = estimate_estimand(estimators, treatment, baseline, estimand, seed=0).ci_width
        return width is not None and math.isfinite(width)

    return next((size for size in range(1, MOST_PAIRS) if has_interval(size)), MOST_PAIRS)


def estimate_estimand(
    estimators: Estimators, treatment: Sample, baseline: Sample, estimand: Estimand, *, seed: int
) -> Estimate:
    """Estimate the estimand from paired samples, in milliseconds or as a ratio."""
    match estimand:
        case Estimand.PAIRED_DIFFERENCE:
            return estimators.difference(treatment, baseline)
        case Estimand.RELATIVE_CHANGE:
            return estimators.change(treatment, baseline, seed)
        case Estimand.SHIFT:
            return estimators.shift(treatment, baseline)
    assert_never(estimand)
