"""How often intervals hold the truth, by simulation on data like page load times: skewed, bimodal, tied.

For: the tests of the intervals and the table of docs/method/statistics.md (`scripts/coverage`). Not for: estimates.
"""

from collections.abc import Callable, Mapping

import numpy as np

from resolab.stats.estimate import Estimate
from resolab.stats.sample import FloatArray

Draw = Callable[[np.random.Generator, int], FloatArray]
TRUTH_SIZE = 1_000_001


def _skewed(rng: np.random.Generator, n: int) -> FloatArray:
    return 100 * np.exp(0.5 * rng.standard_normal(n))


def _bimodal(rng: np.random.Generator, n: int) -> FloatArray:
    return np.where(rng.random(n) < 0.7, rng.normal(100, 8, n), rng.normal(180, 10, n))


def _gap(rng: np.random.Generator, n: int) -> FloatArray:
    return np.where(rng.random(n) < 0.5, rng.normal(100, 8, n), rng.normal(180, 10, n))


def _tied(rng: np.random.Generator, n: int) -> FloatArray:
    return np.round(_skewed(rng, n) / 2) * 2


def _coarse(rng: np.random.Generator, n: int) -> FloatArray:
    return np.round(_skewed(rng, n) / 20) * 20


DATA: Mapping[str, Draw] = {
    "skewed": _skewed,
    "bimodal": _bimodal,
    "tied": _tied,
    "gap": _gap,
    "coarse": _coarse,
}
"""Log-normal with sigma 0.5; seven in ten at 100 and three at 180; the first rounded to 2; half and half, so that
the median lies where nothing is; the first rounded to 20, so that some eight different values are left."""


def pair_of(
    kind: str, rng: np.random.Generator, blocks: int, *, add: float = 0.0, factor: float = 1.0
) -> tuple[FloatArray, FloatArray]:
    """Draw a treatment and a baseline of the same blocks: the block slows both alike, by some 10 %."""
    drift = np.exp(0.1 * rng.standard_normal(blocks))
    treatment, baseline = DATA[kind](rng, blocks) * drift, DATA[kind](rng, blocks) * drift
    if kind in {"tied", "coarse"}:
        step = 2 if kind == "tied" else 20
        treatment, baseline = np.round(treatment / step) * step, np.round(baseline / step) * step
    return treatment * factor + add, baseline


def truth_of(kind: str, statistic: Callable[[FloatArray], float]) -> float:
    """Return a statistic of the distribution itself, from a sample so large that its error plays no part."""
    return float(statistic(DATA[kind](np.random.default_rng(1), TRUTH_SIZE)))


def coverage(
    estimate: Callable[[np.random.Generator, int], Estimate], truth: float, rounds: int, seed: int = 1
) -> float:
    """Return the share of rounds whose interval holds the truth; `estimate` gets the generator and the round."""
    rng = np.random.default_rng(seed)
    held = 0
    for number in range(rounds):
        one = estimate(rng, number)
        if one.ci_low is None or one.ci_high is None:
            raise ValueError("too few values for an interval")
        # Rounding of the last digit decides nothing: 1.2 * x / x - 1 is 0.2 within it.
        held += one.ci_low - 1e-9 <= truth <= one.ci_high + 1e-9
    return held / rounds
