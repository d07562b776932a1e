"""What queries cost when their connection is closed after so much idleness: closed forms.

For: queries that come by chance (a Poisson process), on one connection at a time. Pure. Not for: bytes, which come on
top, or resolvers that close earlier than the client.
"""

import math


def redial_share(idle_timeout_ms: float, mean_gap_ms: float) -> float:
    """Tell which share of queries finds its connection closed: P(gap > timeout) of exponential gaps."""
    return math.exp(-idle_timeout_ms / mean_gap_ms)


def mean_response_ms(rtt_ms: float, cold_round_trips: int, redialed_share: float) -> float:
    """Compute the mean response time: one round trip on an open connection, `cold_round_trips` on a new one."""
    return rtt_ms * (1 + (cold_round_trips - 1) * redialed_share)


def queries_to_amortise(cold_round_trips: int, within_share: float) -> int:
    """Count the queries on one connection until their mean is within this share of a round trip of one without set-up.

    The mean of n is RTT x (1 + (k - 1) / n): no round-trip time is in it.
    """
    return max(1, math.ceil((cold_round_trips - 1) / within_share - 1e-9))
