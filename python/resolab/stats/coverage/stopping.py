"""The coverage left when a run stops as soon as the relative change is narrow enough, by simulation.

For: the test of the rule and its table in docs/method/statistics.md
(`scripts/coverage_simulations/relative_stopping.py`). Not for: the rule (`stopping`), intervals of a fixed number of
blocks (`coverage`).

Whole runs are simulated: the blocks of a run are drawn once. The rule checks a growing number of first blocks, with the
same bootstrap seed each time, as a campaign does. The final interval then holds the truth or not.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from resolab.stats.coverage.intervals import draw_pair
from resolab.stats.estimate import Estimate
from resolab.stats.medians import relative_change
from resolab.stats.sample import FloatArray, Sample
from resolab.stats.stopping import width_reached

CHANGE = 0.2
"""The true relative change: treatments take 1.2 times as long."""
DRIFT = 0.1
"""The spread between blocks, shared by both conditions."""


KINDS = ("skewed", "bimodal", "tied", "loads")


@dataclass(frozen=True, slots=True)
class WidthStoppingRule:
    """A run's checks, the level of its intervals, and its largest number of blocks."""

    level: float
    least_blocks: int
    cap_blocks: int = 60
    every_blocks: int = 1

    def looks(self) -> list[int]:
        """List the numbers of blocks with a check of the width; the cap is always included."""
        return [*range(self.least_blocks, self.cap_blocks, self.every_blocks), self.cap_blocks]


@dataclass(frozen=True, slots=True)
class StoppedRuns:
    """The results of simulated runs stopping at a given width."""

    held_ratio: float
    """Share of final intervals holding the truth."""
    blocks_mean: float
    capped_ratio: float
    """Share of runs reaching the cap without a sufficiently narrow interval."""


def pair(kind: str, rng: np.random.Generator, blocks: int) -> tuple[Sample, Sample]:
    """Draw a treatment and a baseline with the same drift of their blocks."""
    if kind != "loads":
        treatment, baseline = draw_pair(kind, rng, blocks, factor=1 + CHANGE)
    else:
        drift = np.exp(DRIFT * rng.standard_normal(blocks))
        treatment, baseline = _loads(rng, blocks) * drift * (1 + CHANGE), _loads(rng, blocks) * drift
    return Sample.exact(treatment), Sample.exact(baseline)


def _loads(rng: np.random.Generator, n: int) -> FloatArray:
    """Draw page load times with little spread, and one load in ten waiting for a retransmission."""
    waited = np.where(rng.random(n) < 0.1, rng.uniform(1.2, 1.8, n), 1.0)
    return np.round(500 * np.exp(0.06 * rng.standard_normal(n)) * waited, 1)


def typical_width(kind: str, blocks: int, level: float, rounds: int = 100) -> float:
    """Return the median width of intervals of `blocks` blocks; a rule with this target stops near this number."""
    rng = np.random.default_rng(2)
    widths = [relative_change(*pair(kind, rng, blocks), seed=number, level=level).ci_width for number in range(rounds)]
    return float(np.median([width for width in widths if width is not None]))


def simulate(
    kind: str, widths: Sequence[float], rule: WidthStoppingRule, rounds: int, seed: int = 1
) -> list[StoppedRuns]:
    """Simulate whole runs; return the result for each width, all on the same runs."""
    rng = np.random.default_rng(seed)
    ends = [_ends(pair(kind, rng, rule.cap_blocks), widths, rule, number) for number in range(rounds)]
    return [_summary([run[position] for run in ends], width) for position, width in enumerate(widths)]


def _ends(run: tuple[Sample, Sample], widths: Sequence[float], rule: WidthStoppingRule, seed: int) -> list[Estimate]:
    """Return a run's final interval for each width."""
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


def _summary(ends: Sequence[Estimate], width: float) -> StoppedRuns:
    # Rounding of the last digit decides nothing: 1.2 * x / x - 1 is 0.2 within it.
    held = [
        one.ci_low is not None and one.ci_high is not None and one.ci_low - 1e-9 <= CHANGE <= one.ci_high + 1e-9
        for one in ends
    ]
    return StoppedRuns(
        held_ratio=float(np.mean(held)),
        blocks_mean=float(np.mean([one.n for one in ends])),
        capped_ratio=float(np.mean([not width_reached(one, width) for one in ends])),
    )
