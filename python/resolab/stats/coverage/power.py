"""How often the interval of a number of blocks holds the number that it takes, by simulated pilots.

For: the table of docs/method/statistics.md (`scripts/coverage_of_power.py`) and its test. Not for: the
numbers (`power`).
"""

from dataclasses import dataclass

import numpy as np

from resolab.stats.coverage.sequence import KINDS
from resolab.stats.power import Aim, Rule, blocks_needed

LARGE = 2_001
"""Pairs of a pilot that knows its distribution."""


@dataclass(frozen=True, slots=True)
class Held:
    """What simulated pilots of one size said."""

    truth: int
    """Blocks that it takes."""
    held_ratio: float
    """Of the pilots that said something."""
    silent_ratio: float
    """Of all pilots: too many failed loads."""
    median: float
    """Of what they said; infinite: not within the most."""
    low: float
    """A tenth said less than this ..."""
    high: float
    """... and a tenth more than that."""


def held(kind: str, pairs: int, aim: Aim, rule: Rule, rounds: int, *, most: int = 1_000, seed: int = 1) -> Held:
    """Ask pilots of some pairs, drawn of one kind of data, and hold them against a very large one."""
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
    return Held(large.blocks, hits / len(said), 1 - len(said) / rounds, *quantiles)
