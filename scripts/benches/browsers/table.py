"""The matrix as tables with verdicts. Not for: measuring."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict

import numpy as np

from benches.browsers.cells import OVERHEAD_LIMITS_MS, REACHED_RATIO, SLACK_MS, SLACK_RATIO, BrowserCell
from benches.browsers.measure import BrowserLoad
from benches.common.part import BenchPart, verdict

COLUMNS = [
    *["browser", "resolver", "page", "loads", "reached", "trips", "expected ms", "first byte ms", "off by ms"],
    *["may be ms", "verdict"],
]


def matrix(cells: Sequence[BrowserCell], loads: Sequence[BrowserLoad], profile: str, round_trip_ms: float) -> BenchPart:
    """Judge every cell: enough loads in the requested state, and the median first byte within its round trips."""
    title = f"navigation to first byte over {profile}, {round_trip_ms:.1f} ms round trip"
    part = BenchPart("matrix", title, COLUMNS)
    for cell in cells:
        _add(part, cell, [load for load in loads if load.cell == cell], round_trip_ms)
    part.remarks = [
        f"reached: HTTP version, page's and resolver's handshake, cold look-up inside; at least {REACHED_RATIO:.0%}",
        f"the median first byte of loads that reached it may be off by {SLACK_RATIO:.0%} and {SLACK_MS:g} ms",
        "expected: round trips of look-up, connection and request, nothing for the link's rate or the browser",
    ]
    reasons = Counter(load.why_not for load in loads if not load.reached)
    part.remarks += [f"not reached {count} times: {reason}" for reason, count in reasons.most_common()]
    return part


def _add(part: BenchPart, cell: BrowserCell, loads: Sequence[BrowserLoad], round_trip_ms: float) -> None:
    expected_ms, may_be_ms = cell.limits_ms(round_trip_ms)
    reached = [load for load in loads if load.reached]
    times_ms = [load.first_byte_ms for load in reached if load.first_byte_ms is not None]
    median_ms = float(np.median(times_ms)) if times_ms else None
    off_by_ms = None if median_ms is None else median_ms - expected_ms
    enough = bool(loads) and len(reached) >= REACHED_RATIO * len(loads)
    judged = verdict(None if off_by_ms is None else abs(off_by_ms), may_be_ms) if enough else "MISSED"
    part.add(
        [
            *[cell.browser, cell.way, f"{cell.http_version} {cell.handshake}", str(len(loads))],
            f"{len(reached) / len(loads):.0%}" if loads else "",
            *[str(cell.trips), f"{expected_ms:.1f}", _text(median_ms), _text(off_by_ms), f"{may_be_ms:.1f}", judged],
        ],
        asdict(cell) | {"reached_count": len(reached), "first_byte_ms": times_ms, "verdict": judged},
    )


def overhead(browsers: Sequence[str], loads: Sequence[BrowserLoad]) -> BenchPart:
    """Judge the cost of a load beside its navigations."""
    part = BenchPart("overhead", "time of a load beside its navigations, new context included", ["browser", "loads"])
    part.columns += ["median ms", "p90 ms", "limit ms", "verdict"]
    for browser in browsers:
        times_ms = [load.overhead_ms for load in loads if load.cell.browser == browser and load.reached]
        if not times_ms:
            continue
        median_ms, p90_ms = (float(np.quantile(times_ms, share)) for share in (0.5, 0.9))
        limit_ms = OVERHEAD_LIMITS_MS[browser]
        judged = verdict(median_ms, limit_ms)
        row = [browser, str(len(times_ms)), _text(median_ms), _text(p90_ms), f"{limit_ms:g}", judged]
        part.add(row, {"browser": browser, "overhead_ms": times_ms})
    return part


def _text(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"
