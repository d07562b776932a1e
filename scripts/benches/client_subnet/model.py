"""How many queries a cache answers, by rates and TTL alone.

For: the closed form beside what real caches do; pure. Not for: drawing queries (`traces`).

Poisson queries at rate r for what is kept for T: one fetches it, the r x T on average that come until it expires are
answered by it, the next fetches it again. So the share answered is r T / (1 + r T) (Jung, Berger and Balakrishnan,
INFOCOM 2003), and that of all is the mean by rate. With client subnets each name is kept for each subnet, so r is that
of a name within a subnet.
"""

import numpy as np
from numpy.typing import NDArray

from benches.client_subnet.traces import Trace


def hit_ratio(rates_per_s: NDArray[np.float64], kept_s: float) -> float:
    """Return the share of queries that are answered from the cache."""
    carried = rates_per_s * kept_s
    return float(np.sum(rates_per_s * carried / (1.0 + carried)) / np.sum(rates_per_s))


def of_trace(trace: Trace, rate_per_s: float, kept_s: float, *, by_subnet: bool) -> float:
    """Return the share of a trace's queries that are answered from the cache."""
    names = trace.name_shares() * rate_per_s
    rates = np.outer(names, trace.subnet_shares()).ravel() if by_subnet else names
    return hit_ratio(rates, kept_s)
