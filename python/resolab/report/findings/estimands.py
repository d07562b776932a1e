"""The estimands a plan can declare, of a comparison that has all of them and of a pair of samples.

For: one answer to "which of these numbers decides". Not for: their mathematics (`stats`).
"""

from typing import Protocol, assert_never

from resolab.plan import Estimand
from resolab.stats import Estimate, Sample, hodges_lehmann, paired_difference, relative_change


class Compared(Protocol):
    """A comparison with every estimand of it."""

    @property
    def difference_ms(self) -> Estimate:
        """Median of the paired differences."""

    @property
    def change(self) -> Estimate:
        """Relative change of the medians."""

    @property
    def shift_ms(self) -> Estimate | None:
        """Hodges-Lehmann shift of the pairs."""


WORDS = {
    Estimand.PAIRED_DIFFERENCE: "median of the paired differences",
    Estimand.RELATIVE_CHANGE: "relative change of the medians",
    Estimand.SHIFT: "Hodges-Lehmann shift of the pairs",
}


def deciding(compared: Compared, estimand: Estimand) -> Estimate | None:
    """Take the estimate that decides."""
    match estimand:
        case Estimand.PAIRED_DIFFERENCE:
            return compared.difference_ms
        case Estimand.RELATIVE_CHANGE:
            return compared.change
        case Estimand.SHIFT:
            return compared.shift_ms
    assert_never(estimand)


def estimated(treatment: Sample, baseline: Sample, estimand: Estimand, *, seed: int, level: float) -> Estimate:
    """Estimate it of paired samples, in milliseconds or as a ratio."""
    match estimand:
        case Estimand.PAIRED_DIFFERENCE:
            return paired_difference(treatment, baseline, level=level)
        case Estimand.RELATIVE_CHANGE:
            return relative_change(treatment, baseline, seed=seed, level=level)
        case Estimand.SHIFT:
            return hodges_lehmann(treatment, baseline, paired=True, level=level)
    assert_never(estimand)
