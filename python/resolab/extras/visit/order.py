"""The order of page loads: rounds over all pages, for each page all configurations in a row; both in random order.

For: pairs of loads close together in time, as in Hounsel et al. 2020. Not for: the number of loads (`load_budget`).
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from resolab.extras.visit.configurations import ResolverConfiguration


@dataclass(frozen=True, slots=True)
class PlannedVisitLoad:
    """A planned load of a page over a configuration."""

    url: str
    configuration: ResolverConfiguration
    round: int
    """The round, from 0; loads of a page in the same round are a block."""


def order(
    urls: Sequence[str], compared: Sequence[ResolverConfiguration], *, loads_count: int, seed: int
) -> list[PlannedVisitLoad]:
    """Draw the order of all visits; the same seed gives the same order, and further rounds keep the earlier rounds."""
    found: list[PlannedVisitLoad] = []
    for round_ in range(loads_count):
        chance = random.Random(f"{seed}/visit/{round_}")
        for url in chance.sample(urls, len(urls)):
            found += [PlannedVisitLoad(url, one, round_) for one in chance.sample(compared, len(compared))]
    return found
