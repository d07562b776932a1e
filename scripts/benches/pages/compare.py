"""Two-sample tests for a common distribution of two samples of pages, with ties.

For: Kolmogorov and Smirnov's statistic with its p-value by permutation (pages have equal whole numbers, outside the
assumptions of tables), and Anderson and Darling's, with equal weight on the ends and the middle. Not for: the choice of
pages.
"""

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

PERMUTATIONS = 10_000
LEVEL = 0.05
_LEAST_P, _GREATEST_P = 0.001, 0.25
"""The known range of Anderson and Darling's p-value."""

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleComparison:
    """A number of generated and real pages, compared."""

    generated: tuple[float, float, float]
    """The quartiles of generated pages."""
    real: tuple[float, float, float]
    distance: float
    """The largest distance of the two distribution functions."""
    ks_p: float
    ad_p: float

    @property
    def is_rejected(self) -> bool:
        """Return True when either test rejects a common distribution at 5 %."""
        return min(self.ks_p, self.ad_p) < LEVEL


def compare(generated: Numbers, real: Numbers, seed: int) -> SampleComparison:
    """Test one number of generated and real pages."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that the p-value is at the end of its table
        found = stats.anderson_ksamp([generated, real], variant="midrank")
    distance = _distance(generated, real)
    return SampleComparison(
        generated=_quartiles(generated),
        real=_quartiles(real),
        distance=distance,
        ks_p=_compute_permutation_p(generated, real, distance, seed),
        ad_p=float(min(_GREATEST_P, max(_LEAST_P, found.pvalue))),
    )


def _quartiles(values: Numbers) -> tuple[float, float, float]:
    low, middle, high = (float(value) for value in np.quantile(values, [0.25, 0.5, 0.75]))
    return low, middle, high


def _distance(first: Numbers, second: Numbers) -> float:
    at = np.concatenate([first, second])
    below = [np.searchsorted(np.sort(one), at, side="right") / len(one) for one in (first, second)]
    return float(np.max(np.abs(below[0] - below[1])))


def _compute_permutation_p(first: Numbers, second: Numbers, distance: float, seed: int) -> float:
    """Return the p-value: the share of shuffled samples with at least the same distance."""
    draw = np.random.default_rng(seed)
    together = np.sort(np.concatenate([first, second]))
    # Only where a value is the last of its ties do the two functions stand still.
    last = np.append(together[1:] != together[:-1], [True])
    step = np.concatenate([np.full(len(first), 1 / len(first)), np.full(len(second), -1 / len(second))])
    further = sum(
        float(np.max(np.abs(np.cumsum(draw.permutation(step))[last]))) >= distance - 1e-12 for _ in range(PERMUTATIONS)
    )
    return (further + 1) / (PERMUTATIONS + 1)
