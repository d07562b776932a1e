"""Random queries for a cache: the name, the client's subnet, and the time.

For: traces and the rates behind them; pure. Not for: sending (`replay`) or the cache's behaviour (`model`).
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Trace:
    """Poisson queries; names and subnets are drawn independently, each by its rank (Zipf)."""

    name: str
    names_count: int
    names_exponent: float
    subnets_count: int
    subnets_exponent: float
    """The Zipf exponent of subnets; 0 for equal shares."""

    def name_shares(self) -> NDArray[np.float64]:
        """Return the share of queries for each name."""
        return _zipf(self.names_count, self.names_exponent)

    def subnet_shares(self) -> NDArray[np.float64]:
        """Return the share of queries from each subnet."""
        return _zipf(self.subnets_count, self.subnets_exponent)

    def draw(self, rate_per_s: float, seconds: float, seed: int) -> Iterator["Query"]:
        """Draw the queries of `seconds`, in order."""
        rng = np.random.default_rng(seed)
        count = rng.poisson(rate_per_s * seconds)
        times = np.sort(rng.uniform(0.0, seconds, count))
        names = rng.choice(self.names_count, count, p=self.name_shares())
        subnets = rng.choice(self.subnets_count, count, p=self.subnet_shares())
        for at_s, name, subnet in zip(times.tolist(), names.tolist(), subnets.tolist(), strict=True):
            yield Query(at_s, name, subnet)


@dataclass(frozen=True)
class Query:
    """A query of a trace."""

    at_s: float
    name: int
    subnet: int


def _zipf(count: int, exponent: float) -> NDArray[np.float64]:
    weights = np.arange(1, count + 1, dtype=np.float64) ** -exponent
    shares: NDArray[np.float64] = weights / weights.sum()
    return shares


TRACES = (
    Trace("few subnets", 300, 1.0, 16, 0.0),
    Trace("many subnets", 300, 1.0, 200, 0.0),
    Trace("uneven subnets, many names", 3_000, 0.9, 64, 1.0),
)
