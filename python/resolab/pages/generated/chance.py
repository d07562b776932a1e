"""Chance that is the same on every machine, whatever its Python: one stream of uniform numbers, all else made of it.

For: drawing. `random.Random` promises its `random` and `getrandbits` for a seed, and no more, so choices and normal
numbers are made here. Not for: what is drawn.
"""

import math
import random
from collections.abc import Sequence
from statistics import NormalDist

_BITS = 52
_STANDARD = NormalDist()


class Chance:
    """One stream, named by words; streams of other names are independent of it."""

    def __init__(self, *words: object) -> None:
        self._random = random.Random("/".join(map(str, words)))

    def uniform(self) -> float:
        """Draw between 0 and 1, both left out."""
        return (self._random.getrandbits(_BITS) + 0.5) / 2.0**_BITS

    def normal(self) -> float:
        """Draw a standard normal number."""
        return _STANDARD.inv_cdf(self.uniform())

    def log_normal(self, median: float, log_sd: float) -> float:
        """Draw a number whose logarithm is normal."""
        return median * math.exp(log_sd * self.normal())

    def happens(self, probability: float) -> bool:
        """Say whether something of a probability happens."""
        return self.uniform() < probability

    def below(self, count: int) -> int:
        """Draw a whole number from 0 to below a count."""
        return min(count - 1, int(self.uniform() * count))

    def pick(self, weights: Sequence[float]) -> int:
        """Draw a place with a probability in proportion to its weight; one weight at least is above 0."""
        at = self.uniform() * math.fsum(weights)
        last = 0
        for place, weight in enumerate(weights):
            if weight > 0:
                last = place
                at -= weight
                if at < 0:
                    break
        return last

    def runs(self, mean: float) -> int:
        """Draw a geometric number of 1 or more."""
        return 1 + int(math.log(self.uniform()) / math.log1p(-1.0 / mean))

    def shuffled(self, count: int) -> list[int]:
        """Give the numbers below a count in a random order."""
        order = list(range(count))
        for place in range(count - 1, 0, -1):
            other = self.below(place + 1)
            order[place], order[other] = order[other], order[place]
        return order
