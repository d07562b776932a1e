"""The closed form of the answers for many names queried at once, and the delays of their answers.

For: `k x RTT + delay` for each answer, in the order of delays, in one message or in many. Pure. Not for: bytes, full
windows and lost packets, which are what the arms differ in.
"""

import random
from collections.abc import Sequence

NONE_LATE, ONE_LATE, DRAWN_LATE = "none_late", "one_late", "drawn_late"
CASES = (NONE_LATE, ONE_LATE, DRAWN_LATE)
LEAST_MS, SHAPE = 10.0, 1.2
"""The Pareto distribution of drawn delays: no answer comes sooner, and of 40 answers one takes more than 216 ms."""
_SEED = 1


def list_delays_ms(case: str, names_count: int, late_ms: float) -> list[float]:
    """Return the delay of each name's answer at the resolver, in ms.

    Drawn delays are the distribution's quantiles at equal distances, assigned to names at random. Every trial therefore
    has the whole distribution, and no trial has more of its tail by chance.
    """
    if case != DRAWN_LATE:
        return [*[0.0] * (names_count - 1), late_ms if case == ONE_LATE else 0.0]
    shares = [(place + 0.5) / names_count for place in range(names_count)]
    found = [round(LEAST_MS * (1 - share) ** (-1 / SHAPE), 3) for share in shares]
    random.Random(_SEED).shuffle(found)
    return found


def predict_times_ms(delays_ms: Sequence[float], round_trips: int, rtt_ms: float) -> list[float]:
    """Compute the time of each answer, in their order."""
    return [round_trips * rtt_ms + delay_ms for delay_ms in sorted(delays_ms)]


def count_behind(times_ms: Sequence[float], delays_ms: Sequence[float], rtt_ms: float) -> int:
    """Count the answers that come, after the first, more than half a round trip later than their delays say."""
    first_ms, least_ms = min(times_ms), min(delays_ms)
    pairs = zip(sorted(times_ms), sorted(delays_ms), strict=True)
    return sum(time_ms - first_ms - (delay_ms - least_ms) > rtt_ms / 2 for time_ms, delay_ms in pairs)


def count_late(times_ms: Sequence[float], predicted_ms: Sequence[float], rtt_ms: float) -> int:
    """Count the answers more than half a round trip beyond the closed form: after a lost packet or a full window."""
    pairs = zip(sorted(times_ms), predicted_ms, strict=True)
    return sum(time_ms - expected_ms > rtt_ms / 2 for time_ms, expected_ms in pairs)
