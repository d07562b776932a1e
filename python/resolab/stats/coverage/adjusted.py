"""The coverage of an adjusted difference, its savings, and the effect of a false assumption, by simulation.

For: the test of the adjusted difference and its tables in docs/method/statistics.md
(`scripts/coverage_simulations/adjusted.py`). Not for: the estimate (`adjusted`).

An outcome's paired difference is the sum of an instant's (`sequence.KINDS`, median 0, spread 10) and of a later part's,
with three times the spread.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from resolab.stats.adjusted import MOST_VARIANCE_LEFT, estimate_adjusted_difference, variance_ratio
from resolab.stats.coverage.sequence import KINDS
from resolab.stats.medians import median
from resolab.stats.sample import FloatArray, Sample
from resolab.stats.significance import compute_paired_p_value

PART_SPREAD = 30.0
SIGNIFICANCE = 0.05
INSTANTS = tuple(name for name in KINDS if not name.startswith("fails"))


def _normal(rng: np.random.Generator, n: int) -> FloatArray:
    return PART_SPREAD * rng.standard_normal(n)


def _frames(rng: np.random.Generator, n: int) -> FloatArray:
    """Draw parts ending with either of two frames, some milliseconds apart."""
    frames = rng.integers(0, 2, n) - rng.integers(0, 2, n)
    return np.asarray(PART_SPREAD * (frames * np.sqrt(2) + 0.1 * rng.standard_normal(n)))


def _heavy(rng: np.random.Generator, n: int) -> FloatArray:
    return PART_SPREAD * (rng.standard_t(1.5, n) - rng.standard_t(1.5, n)) / 2


PARTS: Mapping[str, Callable[[np.random.Generator, int], FloatArray]] = {
    "normal": _normal,
    "frames": _frames,
    "heavy tails": _heavy,
}


@dataclass(frozen=True, slots=True)
class AdjustmentCoverage:
    """The results of simulated comparisons."""

    offered_ratio: float
    """Share of comparisons with a sufficient part, and without a significant move of the part."""
    held_ratio: float
    """Share of the offered comparisons holding the shift of the outcome."""
    loads_ratio: float
    """Squared median ratio of the adjusted to the plain interval's width."""


def simulate_adjusting(
    instant: str, part: str, pairs: int, rounds: int, *, weight: float = 1.0, moved: float = 0.0, seed: int = 1
) -> AdjustmentCoverage:
    """Simulate adjusting by a part with factor `weight` in the outcome; `moved` is a wrong shift of the part.

    The treatment must not shift the part; `moved` is its shift against this assumption. A weight below 1 stands for an
    outcome compensating some of the part, for example by waiting for the next frame.
    """
    rng = np.random.default_rng(seed)
    held, widths, offered = 0, [], 0
    for _ in range(rounds):
        after = PARTS[part](rng, pairs) + moved
        outcome = KINDS[instant](rng, pairs).low + weight * after
        p = compute_paired_p_value(Sample.exact(after), Sample.exact(np.zeros(pairs)))
        left = variance_ratio(outcome, after)
        if left is None or left > MOST_VARIANCE_LEFT or (p is not None and p <= SIGNIFICANCE):
            continue
        offered += 1
        found, plain = estimate_adjusted_difference(outcome, after), median(Sample.exact(outcome))
        assert found.ci_low is not None
        assert found.ci_high is not None
        held += found.ci_low - 1e-9 <= weight * moved <= found.ci_high + 1e-9
        widths.append((found.ci_width or 0.0) / (plain.ci_width or 1.0))
    return AdjustmentCoverage(
        offered / rounds, held / max(offered, 1), float(np.median(widths)) ** 2 if widths else 0.0
    )
