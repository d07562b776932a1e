"""What arms of the gateway take in milliseconds against round trips of the link, the gateway's own time taken off.

For: the second table of `scripts/bench gateway --only round-trips`. Not for: counting round trips, or what a load
through the gateway costs against one without it (`plans/gateway-tax.toml`).

The gateway's own time, the browser's and the bytes' are in every arm alike: what `separate` with full handshakes takes
beyond its round trips is taken off all others, so that what is judged is what differs between arms.
"""

import statistics
from collections.abc import Mapping, Sequence

from benches.common.part import Part, verdict

WITHIN_MS = 5.0


def part(first_byte_ms: Mapping[str, Mapping[str, Sequence[float]]], trips: Mapping[str, int], rtt_ms: float) -> Part:
    """Judge arms by browser and name; the arm of the most round trips is the one the others are held against."""
    made = Part(
        "in-ms",
        f"The same in ms, k round trips of {rtt_ms:.1f} ms; what the arm of most round trips has beyond them taken off",
        ["browser", "arm", "k", "n", "first byte ms", "taken off", "k x rtt", "off by", "must", "verdict"],
    )
    most = max(trips, key=lambda arm: trips[arm])
    for browser, arms in first_byte_ms.items():
        if not arms.get(most):
            continue
        own_ms = statistics.median(arms[most]) - trips[most] * rtt_ms
        for arm, times in arms.items():
            if times:
                _add_row(made, browser, arm, trips[arm], times, own_ms, rtt_ms, is_judged=arm != most)
    return made


def _add_row(
    made: Part,
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
