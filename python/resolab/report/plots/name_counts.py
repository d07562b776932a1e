"""Differences from the baseline by the page's number of names: shows a single cost or a cost of each lookup.

For: pages differing only in their names. Not for: estimating, or finding these pages (`report.name_counts`).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes

from resolab.report.plots.difference import difference_columns
from resolab.report.plots.panels import PanelSize, add_key, panel_grid
from resolab.report.plots.save import Drawing, Value
from resolab.report.plots.style import (
    HANDSHAKE_MARKERS,
    TRANSPORT_COLOURS,
    TRANSPORT_DASHES,
    ZERO_RTT_COLOURS,
    house_style,
)
from resolab.stats import Estimate

PANELS_A_ROW = 3
PANEL_SIZE = PanelSize(3.3, 2.4)
APART = 1.03
"""The factor between the marks of different lines at the same count."""


@dataclass(frozen=True, slots=True)
class NamesPoint:
    """The result of a combination for one page."""

    place: str
    """The panel's name: a group of pages differing only in their names, and a profile."""
    label: str
    dns_transport: str
    requested_handshake_mode: str
    names_count: int
    difference_ms: Estimate
    expected_ms: float | None
    """The closed form; `None` when there is no closed form."""


def draw_by_names(points: Sequence[NamesPoint], caption: str, quantity: str) -> Drawing:
    """Draw one panel per place, a line for each combination, and the closed form as grey dashes."""
    places = list(dict.fromkeys(one.place for one in points))
    panels = {place: _lines([one for one in points if one.place == place]) for place in places}
    keys = {place: list(lines) for place, lines in panels.items()}
    with house_style():
        figure, grid = panel_grid(keys, PANELS_A_ROW, PANEL_SIZE, f"difference of {quantity}, ms", share_y=True)
        for axes, lines in zip(grid, panels.values(), strict=True):
            _panel(axes, list(lines.values()))
    return Drawing("plt_by_names", caption, figure, [_row(one) for one in points])


def _lines(points: Sequence[NamesPoint]) -> dict[str, list[NamesPoint]]:
    lines: dict[str, list[NamesPoint]] = {}
    for one in sorted(points, key=lambda one: one.names_count):
        lines.setdefault(one.label, []).append(one)
    return lines


def _panel(axes: Axes, lines: Sequence[Sequence[NamesPoint]]) -> None:
    counts = sorted({one.names_count for line in lines for one in line})
    axes.axhline(0, color="#888888", linewidth=0.8)
    axes.grid(visible=True, axis="y")
    axes.set_xscale("log")
    axes.set_xticks(counts, [str(one) for one in counts])
    axes.minorticks_off()
    axes.set_xlabel("names of the page")
    for place, line in enumerate(lines):
        _line(axes, line, APART ** (place - (len(lines) - 1) / 2))
    add_key(axes)


def _line(axes: Axes, line: Sequence[NamesPoint], aside: float) -> None:
    first = line[0]
    early = first.requested_handshake_mode == "zero_rtt"
    colour = (ZERO_RTT_COLOURS if early else TRANSPORT_COLOURS)[first.dns_transport]
    known = [one for one in line if one.difference_ms.value is not None]
    axes.plot(
        [one.names_count * aside for one in known],
        [one.difference_ms.value or 0.0 for one in known],
        color=colour,
        linestyle=TRANSPORT_DASHES[first.dns_transport],
        marker=HANDSHAKE_MARKERS[first.requested_handshake_mode] or ".",
        markersize=4,
        label=first.label,
    )
    for one in known:
        at, estimate = one.names_count * aside, one.difference_ms
        ends = [end for end in (estimate.ci_low, estimate.ci_high) if end is not None and math.isfinite(end)]
        axes.plot([at] * len(ends), ends, "-", color=colour, linewidth=0.9)
    expected = [(one.names_count * aside, one.expected_ms) for one in line if one.expected_ms is not None]
    axes.plot([at for at, _ in expected], [ms for _, ms in expected], "_", color="#666666", markersize=9)


def _row(one: NamesPoint) -> dict[str, Value]:
    named: dict[str, Value] = {"place": one.place, "combination": one.label, "names_count": one.names_count}
    return {**named, **difference_columns(one.difference_ms, one.expected_ms)}
