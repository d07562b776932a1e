"""Cumulative distributions in a grid of panels, any number of curves in each.

For: every figure with curves from 0 to 1. Not for: choosing or computing their content.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter
from matplotlib.transforms import ScaledTranslation

from resolab.report.plots.save import Drawing, Value
from resolab.report.plots.style import (
    HANDSHAKE_MARKERS,
    RESOLVER_COLOURS,
    TRANSPORT_COLOURS,
    TRANSPORT_DASHES,
    ZERO_RTT_COLOURS,
    ZERO_RTT_LINE_WIDTH,
    house_style,
    new_figure,
)

LEGEND_LINE_INCH = 0.19
AXIS_INCH = 0.42
"""The height below the axes for numbers and label."""
SHOWN_SHARE = 0.95


@dataclass(frozen=True, slots=True)
class CurveStyle:
    """Colour, dash and, for curves with equal colour and dash, a mark."""

    colour: str
    dash: Any = "-"
    marker: str | None = None
    width: float | None = None
    """The line width in points; `None` for the default of all figures."""


def transport_look(dns_transport: str, handshake_mode: str = "full") -> CurveStyle:
    """Return the look of a transport, equal in every figure, varied by the page's handshake.

    With early data the line is lighter, wider and unbroken.
    """
    if handshake_mode == "zero_rtt":
        return CurveStyle(ZERO_RTT_COLOURS[dns_transport], "-", HANDSHAKE_MARKERS[handshake_mode], ZERO_RTT_LINE_WIDTH)
    return CurveStyle(
        TRANSPORT_COLOURS[dns_transport], TRANSPORT_DASHES[dns_transport], HANDSHAKE_MARKERS[handshake_mode]
    )


def resolver_look(resolver_place: int, dns_transport: str) -> CurveStyle:
    """Return the look of a transport to a resolver: the resolver's colour by its position, and the transport's dash.

    Colours repeat after the last.
    """
    return CurveStyle(RESOLVER_COLOURS[resolver_place % len(RESOLVER_COLOURS)], TRANSPORT_DASHES[dns_transport])


@dataclass(frozen=True, slots=True)
class Curve:
    """A distribution: values in ascending order, each with the share of all `n` at or below the value.

    Failed loads or queries count in `n` and have no point; the curve then ends below 1.
    """

    row: str
    column: str
    label: str
    look: CurveStyle
    points: Sequence[tuple[float, float]]
    n: int
    failed_count: int
    key: Mapping[str, Value]
    """Columns naming the curve in the CSV, with the same keys in all curves of a figure."""
    reference: Sequence[tuple[float, float]] = ()
    """Another study's quantiles of the same distribution with their shares, drawn over the curve."""


@dataclass(frozen=True, slots=True)
class CdfAxis:
    """The horizontal axis: its label, its column in the CSV, and values with a guide line."""

    label: str
    column: str
    guides: Sequence[float] = field(default=())
    shared: bool = True
    """True when the panels of a row have the same limits; otherwise each panel has its own limits."""
    percent: bool = False
    """True when ratios are printed as percent."""


def draw_cdfs(
    name: str, curves: Sequence[Curve], axis: CdfAxis, caption: str, *, panel_inch: tuple[float, float] = (4.3, 2.6)
) -> Drawing:
    """Draw one panel per row and column, in the order of first mention; a common legend when all labels agree."""
    rows = list(dict.fromkeys(curve.row for curve in curves))
    columns = list(dict.fromkeys(curve.column for curve in curves))
    panels = {
        (row, column): [curve for curve in curves if (curve.row, curve.column) == (row, column)]
        for row in rows
        for column in columns
    }
    labels = {tuple(curve.label for curve in panel) for panel in panels.values() if panel}
    own_legends = len(labels) > 1 or len(panels) == 1
    entries = max(len(panel) for panel in panels.values())
    below = LEGEND_LINE_INCH * (entries if own_legends else math.ceil(entries / 3)) + 0.45
    width, height = panel_inch
    share: Literal["row"] | bool = "row" if axis.shared else False
    with house_style():
        figure = new_figure(
            width * len(columns) + 0.4,
            (height + (below if own_legends else 0)) * len(rows) + (0 if own_legends else below),
        )
        grid = figure.subplots(len(rows), len(columns), squeeze=False, sharex=share, sharey=True)
        for line, row in enumerate(rows):
            reach = _reach([curve for curve in curves if curve.row == row])
            for place, column in enumerate(columns):
                panel = panels[row, column]
                _panel(grid[line, place], panel, axis, reach if axis.shared else _reach(panel))
                grid[line, place].set_title(", ".join(part for part in (column, row) if part))
                if own_legends:
                    _legend_below(grid[line, place])
            grid[line, 0].set_ylabel("cumulative share")
        for axes in grid[-1]:
            axes.set_xlabel(axis.label)
        if not own_legends:
            handles, texts = grid[0, 0].get_legend_handles_labels()
            figure.legend(handles, texts, loc="outside lower left", ncols=3, **_LEGEND)
    referenced = any(curve.reference for curve in curves)
    return Drawing(name, caption, figure, [row for curve in curves for row in _csv(curve, axis, referenced=referenced)])


_LEGEND: Mapping[str, Any] = {"handlelength": 3.4, "borderpad": 0, "labelspacing": 0.3}


def _legend_below(axes: Axes) -> None:
    """Draw the legend below the axis and its label, for any panel height."""
    figure = axes.get_figure(root=True)
    assert figure is not None
    below = axes.transAxes + ScaledTranslation(-0.06, -AXIS_INCH, figure.dpi_scale_trans)
    axes.legend(loc="upper left", bbox_to_anchor=(0, 0), bbox_transform=below, **_LEGEND)


def _reach(curves: Sequence[Curve]) -> tuple[float, float]:
    """Return the limits of the axis, without the slowest twentieth of a curve, to leave room for the other curves."""
    drawn = [points for curve in curves for points in (curve.points, curve.reference) if points]
    low = min((points[0][0] for points in drawn), default=0.0)
    high = max((_find_value(points, SHOWN_SHARE) for points in drawn), default=1.0)
    pad = 0.04 * (high - low) or max(abs(high), 1.0) * 0.04
    return low - pad, high + pad


def _find_value(points: Sequence[tuple[float, float]], share: float) -> float:
    return next((value for value, reached in points if reached >= share), points[-1][0])


def _panel(axes: Axes, curves: Sequence[Curve], axis: CdfAxis, reach: tuple[float, float]) -> None:
    axes.grid(visible=True, axis="y")
    for guide in axis.guides:
        axes.axvline(guide, color="#999999", linewidth=0.8, linestyle=(0, (1, 2)))
    for curve in curves:
        _curve(axes, curve, reach[1])
    for curve in curves:
        _reference(axes, curve)
    if not curves:
        axes.text(0.5, 0.5, "no data", ha="center", va="center", color="#555555", transform=axes.transAxes)
    axes.set_xlim(*reach)
    if axis.percent:
        axes.xaxis.set_major_formatter(PercentFormatter(xmax=1, decimals=0, symbol=""))
    axes.set_ylim(0, 1.02)
    axes.set_yticks([0, 0.25, 0.5, 0.75, 1])
    axes.tick_params(labelbottom=True)


def _curve(axes: Axes, curve: Curve, end: float) -> None:
    look = curve.look
    values = [value for value, _ in curve.points]
    shares = [share for _, share in curve.points]
    if values:
        values, shares = [values[0], *values, max(values[-1], end)], [0.0, *shares, shares[-1]]
    axes.step(
        values,
        shares,
        where="post",
        label=curve.label,
        color=look.colour,
        linestyle=look.dash,
        linewidth=look.width,
        marker=look.marker,
        markevery=_marks(shares),
        markersize=3.8,
        markerfacecolor="white",
        markeredgewidth=1.0,
    )


def _reference(axes: Axes, curve: Curve) -> None:
    """Draw the other study's quantiles: crosses on a thin line, over every curve."""
    if curve.reference:
        values, shares = zip(*curve.reference, strict=True)
        axes.plot(values, shares, "-x", color=curve.look.colour, linewidth=0.8, markersize=5, zorder=3)


def _marks(shares: Sequence[float]) -> list[int]:
    """Choose the points nearest to fixed shares, independently of the number of points."""
    if not shares:
        return []
    return sorted({int(np.abs(np.asarray(shares) - share).argmin()) for share in (0.15, 0.35, 0.5, 0.65, 0.85)})


def _csv(curve: Curve, axis: CdfAxis, *, referenced: bool) -> list[dict[str, Value]]:
    """List the curve's points; an empty curve still has a row, with an empty value."""
    counts: dict[str, Value] = {"n_count": curve.n, "failed_count": curve.failed_count}
    points: Sequence[tuple[float | None, float]] = curve.points or [(None, 0.0)]
    ours: dict[str, Value] = {"study": "ours"} if referenced else {}
    rows: list[dict[str, Value]] = [
        {**curve.key, **ours, axis.column: value, "cumulative_share_ratio": share, **counts} for value, share in points
    ]
    return rows + [
        {**curve.key, "study": "paper", axis.column: value, "cumulative_share_ratio": share, **dict.fromkeys(counts)}
        for value, share in curve.reference
    ]
