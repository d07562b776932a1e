"""What is left of an interval's level when a run stops as soon as the relative change is narrow enough, by simulation.

For: the test of the rule and its table in docs/method/statistics.md (`scripts/coverage_of_relative_stopping.py`).
Not for: the rule (`stopping`), intervals of a fixed number of blocks (`coverage`).

A run is simulated whole: its blocks are drawn once, the rule looks at the first ones again and again with one seed of
the bootstrap, as a campaign does, and the interval it stops with is the one that holds the truth or not.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from resolab.stats.coverage.intervals import pair_of
from resolab.stats.estimate import Estimate
from resolab.stats.medians import relative_change
from resolab.stats.sample import FloatArray, Sample
from resolab.stats.stopping import width_reached

CHANGE = 0.2
"""The true relative change: treatments are 1.2 times as long."""
DRIFT = 0.1
"""How much blocks differ, shared by both conditions."""


KINDS = ("skewed", "bimodal", "tied", "loads")


@dataclass(frozen=True, slots=True)
class Rule:
    """When a run looks, how sure its intervals are, and where it ends in any case."""

    level: float
    least_blocks: int
    cap_blocks: int = 60
    every_blocks: int = 1

    def looks(self) -> list[int]:
        """List the numbers of blocks after which it looks; the cap is always one."""
        return [*range(self.least_blocks, self.cap_blocks, self.every_blocks), self.cap_blocks]


@dataclass(frozen=True, slots=True)
class Stopped:
    """What came of the simulated runs that stop at one width."""

    held_ratio: float
    """Share of final intervals that hold the truth."""
    blocks_mean: float
    capped_ratio: float
    """Share of runs that ended without having been narrow enough."""


def pair(kind: str, rng: np.random.Generator, blocks: int) -> tuple[Sample, Sample]:
    """Draw a treatment and a baseline that share their blocks' drift."""
    if kind != "loads":
        treatment, baseline = pair_of(kind, rng, blocks, factor=1 + CHANGE)
    else:
        drift = np.exp(DRIFT * rng.standard_normal(blocks))
        treatment, baseline = _loads(rng, blocks) * drift * (1 + CHANGE), _loads(rng, blocks) * drift
    return Sample.exact(treatment), Sample.exact(baseline)


def _loads(rng: np.random.Generator, n: int) -> FloatArray:
    """Draw page load times: little spread, and one load in ten that waited for a retransmission."""
    waited = np.where(rng.random(n) < 0.1, rng.uniform(1.2, 1.8, n), 1.0)
    return np.round(500 * np.exp(0.06 * rng.standard_normal(n)) * waited, 1)


def typical_width(kind: str, blocks: int, level: float, rounds: int = 100) -> float:
    """Return the median width of intervals of so many blocks: a rule that asks for it stops near there."""
    rng = np.random.default_rng(2)
    widths = [relative_change(*pair(kind, rng, blocks), seed=number, level=level).ci_width for number in range(rounds)]
    return float(np.median([width for width in widths if width is not None]))


def simulate(kind: str, widths: Sequence[float], rule: Rule, rounds: int, seed: int = 1) -> list[Stopped]:
    """Simulate whole runs; the result for each width asked, all of them on the same runs."""
    rng = np.random.default_rng(seed)
    ends = [_ends(pair(kind, rng, rule.cap_blocks), widths, rule, number) for number in range(rounds)]
    return [_summary([run[position] for run in ends], width) for position, width in enumerate(widths)]


def _ends(run: tuple[Sample, Sample], widths: Sequence[float], rule: Rule, seed: int) -> list[Estimate]:
    """Return the interval a run would have ended with at each width."""
    treatment, baseline = run
    found: dict[float, Estimate] = {}
    for blocks in rule.looks():
        first = range(blocks)
        estimate = relative_change(treatment.take(first), baseline.take(first), seed=seed, level=rule.level)
        for width in widths:
            if width not in found and (blocks == rule.cap_blocks or width_reached(estimate, width)):
                found[width] = estimate
        if len(found) == len(set(widths)):
            break
    return [found[width] for width in widths]


def _summary(ends: Sequence[Estimate], width: float) -> Stopped:
    # Rounding of the last digit decides nothing: 1.2 * x / x - 1 is 0.2 within it.
    held = [
        one.ci_low is not None and one.ci_high is not None and one.ci_low - 1e-9 <= CHANGE <= one.ci_high + 1e-9
        for one in ends
    ]
    return Stopped(
        held_ratio=float(np.mean(held)),
        blocks_mean=float(np.mean([one.n for one in ends])),
        capped_ratio=float(np.mean([not width_reached(one, width) for one in ends])),
    )
