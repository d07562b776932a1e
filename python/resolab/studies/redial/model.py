"""The cost of queries with connections closed after an idle timeout: closed forms.

For: random queries (a Poisson process), on one connection at a time. Pure. Not for: the additional time of bytes, or
resolvers closing earlier than the client.
"""

import math


def redial_share(idle_timeout_ms: float, mean_gap_ms: float) -> float:
    """Return the share of queries with a closed connection: P(gap > timeout) of exponential gaps."""
    return math.exp(-idle_timeout_ms / mean_gap_ms)


def mean_response_ms(rtt_ms: float, cold_round_trips: int, redialed_share: float) -> float:
    """Compute the mean response time: one round trip on an open connection, `cold_round_trips` on a new connection."""
    return rtt_ms * (1 + (cold_round_trips - 1) * redialed_share)


def queries_to_amortise(cold_round_trips: int, within_share: float) -> int:
    """Count the queries on a connection until the extra mean is within this share of a round trip.

    The mean of n is RTT x (1 + (k - 1) / n); the result does not depend on the round-trip time. The baseline is a query
    without set-up.
    """
    return max(1, math.ceil((cold_round_trips - 1) / within_share - 1e-9))
