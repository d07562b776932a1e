"""Paired differences of page load time as cumulative distributions: networks across, compared transports down.

For: every transport against one baseline. Not for: all against all (`difference_matrix`).

A pair with a failed load gives a bound on its difference. With bounds, the distribution becomes an area. Its lower edge
counts these pairs at their latest possible difference, its upper edge at their earliest.

Effects of 50 ms and waits of 5 s share an axis, linear about 0 and logarithmic beyond `LINEAR_MS`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, NullLocator

from resolab.report.plots.save import Drawing, Value
from resolab.report.plots.style import TRANSPORT_COLOURS, house_style, new_figure
from resolab.report.plots.words import estimate_text, interval_text, number_text
from resolab.stats import Estimate

PANEL_INCH = (3.4, 2.1)
LEGEND_LINE_INCH = 0.16
LEAST_REACH_MS = 60.0
LINEAR_MS = 200.0
"""Limit of the linear part of the axis, on both sides of 0."""
_MIDDLE_PART = 1.8
"""The length of either linear half of the axis, in decades."""
SHOWN_FROM = 0.05
"""The share of the pairs beyond each end of the axis."""
_FAR_MS = 1e9
"""A difference beyond the end of every axis."""
SERIES_DASHES = ("-", (0, (4, 1.5)), (0, (1, 1)), (0, (6, 1.5, 1.5, 1.5)))


@dataclass(frozen=True, slots=True)
class SharePoint:
    """Shares of all pairs at or below a difference: at least, at most, and of the pairs without any failed load."""

    difference_ms: float
    least: float
    most: float
    survivors: float | None


@dataclass(frozen=True, slots=True)
class DifferenceCurve:
    """The distribution of the differences between two configurations."""

    points: Sequence[SharePoint]
    most_before: float
    """The share of pairs possibly below every known difference, because the baseline's load failed."""
    median_ms: Estimate
    survivors_median_ms: Estimate
    """The median as in the paper, without pairs with a failed load."""
    key: Mapping[str, Value]
    """Columns naming the curve in the CSV, with the same keys in all curves of a figure."""
    unit: str = "block"
    """The interval's sampling unit: pages or blocks."""
    pages_count: int = 1


@dataclass(frozen=True, slots=True)
class DifferencePanel:
    """The position of a curve; `series` distinguishes the curves of a panel."""

    row: str
    column: str
    series: str
    dns_transport: str
    expected_ms: float
    """The closed form: the extra round trips of one cold lookup times the round-trip time to the resolver."""
    curve: DifferenceCurve
    paper_median_ms: float | None = None


def draw_difference_cdfs(name: str, caption: str, panels: Sequence[DifferencePanel]) -> Drawing:
    """Draw the grid, with rows and columns in the order of their first mention by the panels."""
    rows = list(dict.fromkeys(panel.row for panel in panels))
    columns = list(dict.fromkeys(panel.column for panel in panels))
    series = list(dict.fromkeys(panel.series for panel in panels))
    with house_style():
        width, height = PANEL_INCH
        below = LEGEND_LINE_INCH * (2 * len(series) + 1)
        figure = new_figure(width * len(columns) + 0.4, (height + below) * len(rows))
        grid = figure.subplots(len(rows), len(columns), squeeze=False, sharey=True)
        for line, row in enumerate(rows):
            for place, column in enumerate(columns):
                found = [panel for panel in panels if (panel.row, panel.column) == (row, column)]
                _panel(grid[line, place], found, series)
                grid[line, place].set_title(f"{row}, {column}")
            grid[line, 0].set_ylabel("share of pairs")
        for place, column in enumerate(columns):
            reach = _reach_ms([panel for panel in panels if panel.column == column])
            for axes in grid[:, place]:
                _axis(axes, reach)
                axes.set_xlabel("paired difference of PLT, ms")
    return Drawing(name, caption, figure, [row for panel in panels for row in _rows(panel)])


def _axis(axes: Axes, reach: float) -> None:
    if reach > 2 * LINEAR_MS:
        axes.set_xscale("symlog", linthresh=LINEAR_MS, linscale=_MIDDLE_PART)
        for edge in (-LINEAR_MS, LINEAR_MS):
            axes.axvline(edge, color="#bbbbbb", linewidth=0.7, linestyle=(0, (1, 2)))
        axes.set_xticks(_ticks(reach))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda time, _: _tick_text(time)))
        axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlim(-reach, reach)


def _ticks(reach: float) -> list[float]:
    """Choose round numbers, few enough to keep their texts apart."""
    ends = [end for end in (1_000.0, 10_000.0, 100_000.0) if end <= reach] or [reach]
    half = [LINEAR_MS / 2, *ends]
    return [*(-tick for tick in reversed(half)), 0.0, *half]


def _tick_text(time_ms: float) -> str:
    return f"{time_ms / 1e3:g} s" if abs(time_ms) >= 1_000 else f"{time_ms:.0f}"


def _reach_ms(panels: Sequence[DifferencePanel]) -> float:
    """Return the axis's limit, to show nine in ten of the pairs, and every mark."""
    marks = [
        abs(mark)
        for panel in panels
        for mark in (panel.expected_ms, panel.paper_median_ms, panel.curve.median_ms.value)
        if mark is not None
    ]
    return max(reach_ms([panel.curve for panel in panels]), *(1.15 * mark for mark in marks))


def _rows(panel: DifferencePanel) -> list[dict[str, Value]]:
    return [{**row, "paper_median_ms": panel.paper_median_ms} for row in csv_rows(panel.curve)]


def _panel(axes: Axes, panels: Sequence[DifferencePanel], series: Sequence[str]) -> None:
    axes.axvline(0, color="#888888", linewidth=0.8)
    axes.grid(visible=True, axis="y")
    axes.set_ylim(0, 1.02)
    axes.set_yticks([0, 0.5, 1])
    axes.tick_params(labelbottom=True)
    for panel in panels:
        _curve(axes, panel, SERIES_DASHES[series.index(panel.series) % len(SERIES_DASHES)])
    if panels:
        axes.legend(loc="upper left", bbox_to_anchor=(-0.05, -0.3), handlelength=2.4, borderpad=0, fontsize=7.5)
    else:
        axes.text(0.5, 0.5, "no pairs", ha="center", va="center", color="#555555", transform=axes.transAxes)


def _curve(axes: Axes, panel: DifferencePanel, dash: object) -> None:
    colour = TRANSPORT_COLOURS[panel.dns_transport]
    curve = panel.curve
    label = _label(panel)
    # Beyond the outermost known differences the edges keep their shares.
    x = [-_FAR_MS, *(point.difference_ms for point in curve.points), _FAR_MS]
    least = _extend([point.least for point in curve.points], 0.0)
    most = _extend([point.most for point in curve.points], curve.most_before)
    axes.fill_between(x, least, most, step="post", color=colour, alpha=0.18, linewidth=0)
    for edge in (least, most):
        axes.step(x, edge, where="post", color=colour, linestyle=dash, linewidth=1.4, label=label)
        label = "_nolegend_"
    _median(axes, curve.median_ms, colour)
    axes.plot([panel.expected_ms], [0.5], "|", color="#666666", markersize=14, markeredgewidth=1.4)
    if panel.paper_median_ms is not None:
        axes.plot([panel.paper_median_ms], [0.5], "x", color="black", markersize=7, markeredgewidth=1.6, zorder=4)


def _median(axes: Axes, median_ms: Estimate, colour: str) -> None:
    """Draw the median as a dot and its interval as a bar, at the share 0.5."""
    ends = [end for end in (median_ms.ci_low, median_ms.ci_high) if end is not None]
    if len(ends) == 2:
        axes.plot(np.clip(ends, -_FAR_MS, _FAR_MS), [0.5, 0.5], "-", color=colour, linewidth=3.4, alpha=0.45)
    if median_ms.value is not None:
        axes.plot([median_ms.value], [0.5], "o", color=colour, markersize=6, markeredgecolor="white", zorder=3)


def _label(panel: DifferencePanel) -> str:
    middle = panel.curve.median_ms
    value = f"{estimate_text(middle, 0, signed=True)} {interval_text(middle, 0, signed=True)} ms"
    if panel.paper_median_ms is not None:
        value += f" (paper {number_text(panel.paper_median_ms, 0, signed=True)})"
    counts = f"{panel.series}, n = {middle.n}" if panel.series else f"n = {middle.n}"
    return f"{value}\n{counts}" + (f", {middle.censored_count} bounds" if middle.censored_count else "")


def _extend(shares: Sequence[float], before: float) -> list[float]:
    return [before, *shares, shares[-1] if shares else before]


def reach_ms(curves: Sequence[DifferenceCurve]) -> float:
    """Return the largest distance from zero of nine in ten of the pairs without failure, over all curves."""
    known = [
        abs(point.difference_ms)
        for curve in curves
        for point in curve.points
        if point.survivors is not None and SHOWN_FROM <= point.survivors <= 1 - SHOWN_FROM
    ]
    return max([LEAST_REACH_MS, *(1.15 * reach for reach in known)])


def csv_rows(curve: DifferenceCurve) -> list[dict[str, Value]]:
    """List the curve's points with its medians; a curve without any known difference still has a row."""
    middle, survivors = curve.median_ms, curve.survivors_median_ms
    summary: dict[str, Value] = {
        "pairs_count": middle.n,
        "censored_count": middle.censored_count,
        "median_ms": middle.value,
        "median_low_ms": middle.low,
        "median_high_ms": middle.high,
        "ci_low_ms": middle.ci_low,
        "ci_high_ms": middle.ci_high,
        "ci_level": middle.level,
        "ci_method": middle.method,
        "ci_unit": curve.unit,
        "pages_count": curve.pages_count,
        "survivor_pairs_count": survivors.n,
        "survivor_median_ms": survivors.value,
    }
    points = [
        {
            "difference_ms": point.difference_ms,
            "least_share_ratio": point.least,
            "most_share_ratio": point.most,
            "survivor_share_ratio": point.survivors,
        }
        for point in curve.points
    ] or [dict.fromkeys(("difference_ms", "least_share_ratio", "most_share_ratio", "survivor_share_ratio"))]
    return [{**curve.key, **point, **summary} for point in points]
