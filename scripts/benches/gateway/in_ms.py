"""The times of gateway arms in ms against round trips of the link, with the gateway's own time subtracted.

For: the second table of `scripts/bench gateway --only round-trips`. Not for: counting round trips, or the cost of a
load through the gateway against a load without (`plans/gateway-tax.toml`).

The own times of gateway, browser, handshakes and bytes are the same in every arm. The excess of `separate` over its
round trips is subtracted from the other arms with the same handshakes. The verdict is therefore about sharing alone.
"""

import statistics
from collections.abc import Mapping, Sequence

from benches.common.part import BenchPart, verdict

WITHIN_MS = 5.0


def part(
    first_byte_ms: Mapping[str, Mapping[str, Sequence[float]]],
    trips: Mapping[str, int],
    held_against: Mapping[str, str],
    rtt_ms: float,
) -> BenchPart:
    """Judge arms by browser and name, except the baselines of other arms."""
    made = BenchPart(
        "in-ms",
        f"The same in ms, k x {rtt_ms:.1f} ms; what `separate` with the same handshakes has beyond its own taken off",
        ["browser", "arm", "k", "n", "first byte ms", "taken off", "k x rtt", "off by", "must", "verdict"],
    )
    for browser, arms in first_byte_ms.items():
        for arm, times in arms.items():
            own = held_against[arm]
            if times and arms.get(own):
                own_ms = statistics.median(arms[own]) - trips[own] * rtt_ms
                _add_row(made, browser, arm, trips[arm], times, own_ms, rtt_ms, is_judged=arm != own)
    return made


def _add_row(
    made: BenchPart,
    browser: str,
    arm: str,
    trips: int,
    times: Sequence[float],
    own_ms: float,
    rtt_ms: float,
    *,
    is_judged: bool,
) -> None:
    first_ms = statistics.median(times)
    off_ms = first_ms - own_ms - trips * rtt_ms
    made.add(
        [
            browser,
            arm,
            str(trips),
            str(len(times)),
            f"{first_ms:.1f}",
            f"{own_ms:.1f}",
            f"{trips * rtt_ms:.1f}",
            f"{off_ms:+.1f}" if is_judged else "",
            f"{WITHIN_MS:.0f}" if is_judged else "",
            verdict(abs(off_ms), WITHIN_MS) if is_judged else "",
        ],
        {"browser": browser, "arm": arm, "round_trips": trips, "first_byte_ms": list(times), "own_ms": own_ms},
    )
