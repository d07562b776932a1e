"""The share of queries answered by a cache, from rates and TTL alone.

For: the closed form beside measurements of real caches; pure. Not for: drawing queries (`traces`).

Poisson queries arrive at rate r for a record with a lifetime T. The first query fetches the record. Until expiry, r x T
queries on average are answered from the cache; the next query fetches the record again. Hence the share answered is r T
/ (1 + r T) (Jung, Berger and Balakrishnan, INFOCOM 2003), and the total share is the mean by rate. With client subnets,
each name is cached for each subnet; r is then the rate of a name within a subnet.
"""

import numpy as np
from numpy.typing import NDArray

from benches.client_subnet.traces import Trace


def hit_ratio(rates_per_s: NDArray[np.float64], kept_s: float) -> float:
    """Return the share of queries answered from the cache."""
    carried = rates_per_s * kept_s
    return float(np.sum(rates_per_s * carried / (1.0 + carried)) / np.sum(rates_per_s))


def compute_hit_ratio(trace: Trace, rate_per_s: float, kept_s: float, *, by_subnet: bool) -> float:
    """Return the share of a trace's queries answered from the cache."""
    names = trace.name_shares() * rate_per_s
    rates = np.outer(names, trace.subnet_shares()).ravel() if by_subnet else names
    return hit_ratio(rates, kept_s)
