"""Queries drawn for a cache: which name, from a client of which subnet, when.

For: traces and the rates they are drawn from; pure. Not for: asking (`replay`) or what a cache makes of them (`model`).
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
    """0: all alike."""

    def name_shares(self) -> NDArray[np.float64]:
        """Share of the queries that ask for each name."""
        return _zipf(self.names_count, self.names_exponent)

    def subnet_shares(self) -> NDArray[np.float64]:
        """Share of the queries that come from each subnet."""
        return _zipf(self.subnets_count, self.subnets_exponent)

    def draw(self, rate_per_s: float, seconds: float, seed: int) -> Iterator["Query"]:
        """Draw the queries of so long, in their order."""
        rng = np.random.default_rng(seed)
        count = rng.poisson(rate_per_s * seconds)
        times = np.sort(rng.uniform(0.0, seconds, count))
        names = rng.choice(self.names_count, count, p=self.name_shares())
        subnets = rng.choice(self.subnets_count, count, p=self.subnet_shares())
        for at_s, name, subnet in zip(times.tolist(), names.tolist(), subnets.tolist(), strict=True):
            yield Query(at_s, name, subnet)


@dataclass(frozen=True)
class Query:
    """One query of a trace."""

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
