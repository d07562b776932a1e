"""In which order pages are loaded: rounds over all pages, each page over all configurations at a stretch, both drawn.

For: pairs of loads that lie close together in time, as Hounsel et al. 2020 had them. Not for: how many (`fitting`).
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from resolab.visit.configurations import Configuration


@dataclass(frozen=True, slots=True)
class Visit:
    """One load that is to be."""

    url: str
    configuration: Configuration
    round: int
    """From 0; loads of one page in one round are a block."""


def order(urls: Sequence[str], compared: Sequence[Configuration], *, loads_count: int, seed: int) -> list[Visit]:
    """Draw the order of all visits; the same seed draws the same, and a further round changes none before it."""
    found: list[Visit] = []
    for round_ in range(loads_count):
        chance = random.Random(f"{seed}/visit/{round_}")
        for url in chance.sample(urls, len(urls)):
            found += [Visit(url, one, round_) for one in chance.sample(compared, len(compared))]
    return found
