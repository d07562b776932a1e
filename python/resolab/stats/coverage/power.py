"""The coverage of the interval of a required number of blocks, by simulated pilots.

For: the table of docs/method/statistics.md (`scripts/coverage_simulations/power.py`) and its test. Not for: the numbers
(`power`).
"""

from dataclasses import dataclass

import numpy as np

from resolab.stats.coverage.sequence import KINDS
from resolab.stats.power import IntervalGoal, IntervalRule, blocks_needed

LARGE = 2_001
"""The pairs of a pilot large enough to know its distribution."""


@dataclass(frozen=True, slots=True)
class PilotCoverage:
    """The answers of simulated pilots of equal size."""

    truth: int
    """The true number of blocks needed."""
    held_ratio: float
    """Share of the pilots with an answer whose interval holds the truth."""
    silent_ratio: float
    """Share of all pilots without an answer, because of too many failed loads."""
    median: float
    """The median answer; infinite when the answer exceeds the largest number of blocks."""
    low: float
    """The 10 % quantile of the answers."""
    high: float
    """The 90 % quantile of the answers."""


def simulate_coverage(
    kind: str, pairs: int, aim: IntervalGoal, rule: IntervalRule, rounds: int, *, most: int = 1_000, seed: int = 1
) -> PilotCoverage:
    """Compare pilots of some pairs, drawn from one kind of data, with a very large pilot."""
    rng = np.random.default_rng(seed)
    large = blocks_needed(KINDS[kind](rng, LARGE), aim, rule, most=most, seed=seed)
    if large is None or large.blocks is None:
        raise ValueError("it takes more blocks than the most; ask for a larger effect")
    said, hits = [], 0
    for number in range(rounds):
        one = blocks_needed(KINDS[kind](rng, pairs), aim, rule, most=most, seed=number)
        if one is None:
            continue
        said.append(np.inf if one.blocks is None else one.blocks)
        low, high = (np.inf if end is None else end for end in (one.low, one.high))
        hits += low <= large.blocks <= high
    quantiles = (float(np.quantile(said, q, method="nearest")) for q in (0.5, 0.1, 0.9))
    return PilotCoverage(large.blocks, hits / len(said), 1 - len(said) / rounds, *quantiles)
