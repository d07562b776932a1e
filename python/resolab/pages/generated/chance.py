"""Random draws equal on every machine and Python version: one stream of uniform numbers as the source of all draws.

For: drawing. For a seed, `random.Random` guarantees only its `random` and `getrandbits`. So choices and normal numbers
are made here. Not for: the drawn quantities.
"""

import math
import random
from collections.abc import Sequence
from statistics import NormalDist

_BITS = 52
_STANDARD = NormalDist()


class UniformStream:
    """One stream with a name of words, independent of streams with other names."""

    def __init__(self, *words: object) -> None:
        self._random = random.Random("/".join(map(str, words)))

    def uniform(self) -> float:
        """Draw between 0 and 1, both left out."""
        return (self._random.getrandbits(_BITS) + 0.5) / 2.0**_BITS

    def normal(self) -> float:
        """Draw a standard normal number."""
        return _STANDARD.inv_cdf(self.uniform())

    def log_normal(self, median: float, log_sd: float) -> float:
        """Draw a log-normal number from its median and log SD."""
        return median * math.exp(log_sd * self.normal())

    def happens(self, probability: float) -> bool:
        """Say whether something of a probability happens."""
        return self.uniform() < probability

    def below(self, count: int) -> int:
        """Draw a whole number from 0 to below a count."""
        return min(count - 1, int(self.uniform() * count))

    def pick(self, weights: Sequence[float]) -> int:
        """Draw an index with a probability in proportion to its weight; at least one weight is above 0."""
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

    def shuffle(self, count: int) -> list[int]:
        """Give the numbers below a count in a random order."""
        order = list(range(count))
        for place in range(count - 1, 0, -1):
            other = self.below(place + 1)
            order[place], order[other] = order[other], order[place]
        return order
