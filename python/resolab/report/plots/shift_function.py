"""Differences between quantiles against their probability: shows the changed parts of the distribution.

For: an effect on the tail beside the effect on the median. Not for: estimating them (`stats.quantile_shift`).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes

from resolab.report.plots.panels import PanelSize, add_key, panel_grid
from resolab.report.plots.save import Drawing, Value
from resolab.report.plots.style import (
    HANDSHAKE_MARKERS,
    TRANSPORT_COLOURS,
    TRANSPORT_DASHES,
    ZERO_RTT_COLOURS,
    house_style,
)
from resolab.stats import QuantileDifference

PANELS_A_ROW = 3
PANEL_SIZE = PanelSize(3.3, 2.2)
APART = 0.012
"""The distance between the marks of different lines at the same probability."""


@dataclass(frozen=True, slots=True)
class ShiftLine:
    """The quantile differences of one comparison."""

    place: str
    """The name of the panel."""
    label: str
    dns_transport: str
    requested_handshake_mode: str
    found: Sequence[QuantileDifference]


def draw_shift_functions(lines: Sequence[ShiftLine], caption: str, quantity: str) -> Drawing:
    """Draw one panel per place, without the quantiles lacking an interval."""
    places = list(dict.fromkeys(one.place for one in lines))
    panels = {place: [one for one in lines if one.place == place] for place in places}
    keys = {place: [one.label for one in panel] for place, panel in panels.items()}
    with house_style():
        figure, grid = panel_grid(keys, PANELS_A_ROW, PANEL_SIZE, f"difference of {quantity}, ms", share_y=False)
        for axes, panel in zip(grid, panels.values(), strict=True):
            _panel(axes, panel)
    rows = [row for line in lines for row in _rows(line)]
    return Drawing("quantile_shifts", caption, figure, rows)


def _panel(axes: Axes, lines: Sequence[ShiftLine]) -> None:
    axes.axhline(0, color="#888888", linewidth=0.8)
    axes.grid(visible=True, axis="y")
    axes.set_xlim(0, 1)
    axes.set_xticks([0.1, 0.25, 0.5, 0.75, 0.9], ["P10", "P25", "P50", "P75", "P90"])
    for place, line in enumerate(lines):
        _line(axes, line, (place - (len(lines) - 1) / 2) * APART)
    add_key(axes)


def _line(axes: Axes, line: ShiftLine, aside: float) -> None:
    early = line.requested_handshake_mode == "zero_rtt"
    colour = (ZERO_RTT_COLOURS if early else TRANSPORT_COLOURS)[line.dns_transport]
    shown = [one for one in line.found if one.difference.value is not None and one.difference.ci_low is not None]
    x = [one.probability + aside for one in shown]
    axes.plot(
        x,
        [one.difference.value or 0.0 for one in shown],
        color=colour,
        linestyle=TRANSPORT_DASHES[line.dns_transport],
        marker=HANDSHAKE_MARKERS[line.requested_handshake_mode] or ".",
        markersize=4,
        label=line.label,
    )
    for at, one in zip(x, shown, strict=True):
        ends = [
            end for end in (one.difference.ci_low, one.difference.ci_high) if end is not None and math.isfinite(end)
        ]
        axes.plot([at] * len(ends), ends, "-", color=colour, linewidth=0.9)


def _rows(line: ShiftLine) -> list[dict[str, Value]]:
    return [
        {
            "place": line.place,
            "comparison": line.label,
            "probability_ratio": one.probability,
            "difference_ms": one.difference.value,
            "low_ms": one.difference.low,
            "high_ms": one.difference.high,
            "ci_low_ms": one.difference.ci_low,
            "ci_high_ms": one.difference.ci_high,
            "ci_level": one.difference.level,
            "ci_method": str(one.difference.method),
            "pairs_count": one.difference.n,
            "censored_count": one.difference.censored_count,
        }
        for one in line.found
    ]
