"""Query response times as cumulative distributions, one panel per network and resolver, one line per transport.

For: one curve for each transport. Not for: page load times (`difference_cdfs`).

The time axis is logarithmic, to show answers within a round trip and queries repeated after 5 s in the same panel.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, NullLocator

from resolab.report.plots.cdf import CurveStyle, transport_look
from resolab.report.plots.panels import PanelSize, add_key, panel_grid
from resolab.report.plots.save import Drawing, Value
from resolab.report.plots.style import house_style
from resolab.report.plots.words import estimate_text, interval_text
from resolab.stats import Estimate

PANELS_A_ROW = 3
PANEL_SIZE = PanelSize(3.7, 2.3)
_TICKS = ((1,), (1, 3), (1, 2, 5), (1, 1.5, 2, 3, 4, 5, 6, 8), tuple(1 + step / 10 for step in range(90)))
"""Divisions of a decade, from coarse to fine."""
_LEAST_TICKS_COUNT, _MOST_TICKS_COUNT = 4, 8


@dataclass(frozen=True, slots=True)
class ResponseLine:
    """A distribution: shares of all `n` queries answered within a time; failed queries are counted in `n` only."""

    panel: str
    label: str
    dns_transport: str
    warm: bool
    points: Sequence[tuple[float, float]]
    """Pairs of milliseconds and share, in ascending order."""
    median_ms: Estimate
    key: Mapping[str, Value]
    """Columns naming the line in the CSV, with the same keys in all lines of a figure."""
    look: CurveStyle | None = None
    """`None` for the transport's default look."""


def draw_response_times(name: str, caption: str, lines: Sequence[ResponseLine]) -> Drawing:
    """Draw one panel per distinct `panel`, in the order of first mention by the lines."""
    titles = list(dict.fromkeys(line.panel for line in lines))
    panels = {title: [line for line in lines if line.panel == title] for title in titles}
    keys = {title: [_label(line) for line in panel] for title, panel in panels.items()}
    with house_style():
        figure, grid = panel_grid(keys, PANELS_A_ROW, PANEL_SIZE, "share of queries", share_y=True)
        for axes, panel in zip(grid, panels.values(), strict=True):
            _panel(axes, panel)
    return Drawing(name, caption, figure, [row for line in lines for row in _rows(line)])


def _panel(axes: Axes, lines: Sequence[ResponseLine]) -> None:
    axes.grid(visible=True, axis="y")
    axes.set_xscale("log")
    known = [time for line in lines for time, _ in line.points]
    left, right = (min(known) / 1.1, max(known) * 1.1) if known else (1.0, 10.0)
    for line in lines:
        _line(axes, line, right)
    axes.set_xlim(left, right)
    axes.set_ylim(0, 1.02)
    axes.set_yticks([0, 0.25, 0.5, 0.75, 1])
    axes.set_xticks(log_ticks(left, right))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda time, _: f"{time:g}"))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel("query response time, ms (logarithmic)")
    add_key(axes)


def _line(axes: Axes, line: ResponseLine, right: float) -> None:
    look = line.look or transport_look(line.dns_transport)
    times = [time for time, _ in line.points]
    shares = [share for _, share in line.points]
    if times:
        times, shares = [times[0], *times, right], [0.0, *shares, shares[-1]]
    axes.step(
        times,
        shares,
        where="post",
        label=_label(line),
        color=look.colour,
        linestyle=look.dash,
        linewidth=0.9 if line.warm else 1.7,
    )


def _label(line: ResponseLine) -> str:
    failed = line.median_ms.censored_count
    interval = interval_text(line.median_ms, 1)
    text = f"{line.label}: median {estimate_text(line.median_ms, 1)} ms {interval}".rstrip()
    return text + (f", {failed} of {line.median_ms.n} failed" if failed else "")


def log_ticks(left: float, right: float) -> list[float]:
    """Choose round numbers between two limits, by the coarsest division of a decade with enough numbers."""
    decades = range(math.floor(math.log10(left)), math.ceil(math.log10(right)) + 1)
    inside: list[float] = []
    for steps in _TICKS:
        ticks = (round(step * 10.0**decade, 6) for decade in decades for step in steps)
        inside = [tick for tick in ticks if left <= tick <= right]
        if len(inside) >= _LEAST_TICKS_COUNT:
            break
    return inside[:: math.ceil(len(inside) / _MOST_TICKS_COUNT)]


def _rows(line: ResponseLine) -> list[dict[str, Value]]:
    middle = line.median_ms
    counts: dict[str, Value] = {
        "n_count": middle.n,
        "failed_count": middle.censored_count,
        "median_ms": middle.value,
        "median_ci_low_ms": middle.ci_low,
        "median_ci_high_ms": middle.ci_high,
    }
    # A line without any answer still has a row, which says so.
    points: Sequence[tuple[float | None, float]] = line.points or [(None, 0.0)]
    return [
        {**line.key, "query_response_time_ms": time, "cumulative_share_ratio": share, **counts}
        for time, share in points
    ]
