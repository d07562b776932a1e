"""Every configuration against every other: a matrix of small distributions of paired differences, coloured by median.

For: every transport against every other. Not for: one baseline (`difference_cdfs`).

A cell's curve and median are of row minus column. Left of the line, in blue, the row's page loads end earlier. Red
cells are hatched and every cell has its number, to distinguish the bands in grey print.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.patches import Rectangle

from resolab.report.plots.difference_cdfs import DifferenceCurve, csv_rows, reach_ms
from resolab.report.plots.save import Drawing
from resolab.report.plots.style import house_style, new_figure
from resolab.report.plots.words import estimate_text, interval_text
from resolab.stats import Estimate

SIMILAR_MS = 30.0
"""Section 4.2 of the paper: a median between -30 and 30 ms indicates similar performance of both."""
FAR_MS = 100.0
"""Chosen for resolab: the paper has hues of blue and red, and gives no second border in its text."""
CELL_INCH = 1.12
LABEL_INCH = 1.5
_LEFT, _RIGHT, _FLOOR, _TOP = 0.06, 0.94, 0.2, 0.69
_UNDECIDED = (0, (3, 2))
"""The dashes around a cell with 0 in its interval."""


@dataclass(frozen=True, slots=True)
class Band:
    """A colour of the matrix, with its name and hatch."""

    name: str
    colour: str
    hatch: str = ""


_BANDS = {
    "faster by more than 100 ms": Band("faster by more than 100 ms", "#6baed6"),
    "faster": Band("faster by 30 to 100 ms", "#c6dbef"),
    "similar": Band("similar: within 30 ms", "#ffffff"),
    "slower": Band("slower by 30 to 100 ms", "#fddbc7", "////"),
    "slower by more than 100 ms": Band("slower by more than 100 ms", "#ef8a62", "////"),
    "not determined": Band("not determined: bounds reach over a border", "#e4e4e4", ".."),
}


@dataclass(frozen=True, slots=True)
class MatrixCell:
    """The row's configuration minus the column's."""

    row: str
    column: str
    curve: DifferenceCurve


def choose_band(median_ms: Estimate) -> str:
    """Return the band of a median; for a median known only within bounds, the band holding both bounds."""
    if median_ms.low is None or median_ms.high is None:
        return "not determined"
    low, high = _band(median_ms.low), _band(median_ms.high)
    return low if low == high else "not determined"


def _band(median_ms: float) -> str:
    if abs(median_ms) <= SIMILAR_MS:
        return "similar"
    side = "faster" if median_ms < 0 else "slower"
    return side if abs(median_ms) <= FAR_MS else f"{side} by more than 100 ms"


def draw_difference_matrix(name: str, caption: str, cells: Sequence[MatrixCell]) -> Drawing:
    """Draw the matrix, with configurations in the order of their first mention as rows."""
    names = list(dict.fromkeys(cell.row for cell in cells))
    reach = reach_ms([cell.curve for cell in cells])
    with house_style():
        side = CELL_INCH * len(names) + LABEL_INCH
        figure = new_figure(max(side, 6.0), side + 0.4)
        axes = figure.subplots()
        axes.set_xlim(0, len(names))
        axes.set_ylim(len(names), 0)
        axes.set_aspect("equal")
        axes.spines[:].set_visible(False)
        axes.tick_params(length=0, labeltop=True, labelbottom=False)
        axes.set_xticks(np.arange(len(names)) + 0.5, [_wrap(one) for one in names], fontsize=7.5)
        axes.set_yticks(np.arange(len(names)) + 0.5, [_wrap(one) for one in names], fontsize=7.5)
        for place in range(len(names)):
            axes.add_patch(Rectangle((place, place), 1, 1, facecolor="#f4f4f4", edgecolor="#bbbbbb", linewidth=0.6))
        for cell in cells:
            _cell(axes, cell, names.index(cell.column), names.index(cell.row), reach)
        _legend(axes, reach)
    return Drawing(name, caption, figure, [row for cell in cells for row in _rows(cell)])


def _wrap(name: str) -> str:
    return name.replace(", ", "\n")


def _cell(axes: Axes, cell: MatrixCell, column: int, row: int, reach: float) -> None:
    band = _BANDS[choose_band(cell.curve.median_ms)]
    where = (column, row)
    axes.add_patch(Rectangle(where, 1, 1, facecolor=band.colour, edgecolor="#cccccc", hatch=band.hatch, linewidth=0.4))
    axes.add_patch(Rectangle(where, 1, 1, fill=False, edgecolor="#999999", linewidth=0.6))
    _curves(axes, cell.curve, column, row, reach)
    middle = cell.curve.median_ms
    text = f"{estimate_text(middle, 0, signed=True)} ms"
    axes.text(column + 0.5, row + 0.11, text, ha="center", va="center", fontsize=7, weight="bold")
    interval = interval_text(middle, 0, signed=True)
    axes.text(column + 0.5, row + 0.23, interval, ha="center", va="center", fontsize=5.5)
    if middle.ci_contains_zero:
        frame = Rectangle((column + 0.03, row + 0.03), 0.94, 0.94, fill=False, linestyle=_UNDECIDED, linewidth=1.1)
        axes.add_patch(frame)
    counts = f"n {middle.n}" + (f", {middle.censored_count} bounds" if middle.censored_count else "")
    axes.text(column + 0.5, row + 0.89, counts, ha="center", va="center", fontsize=5.5, color="#333333")


def _curves(axes: Axes, curve: DifferenceCurve, column: int, row: int, reach: float) -> None:
    """Map the distributions into the cell: time across, share upwards."""

    def x(difference_ms: float) -> float:
        clipped = min(max(difference_ms, -reach), reach)
        return column + _LEFT + (clipped + reach) / (2 * reach) * (_RIGHT - _LEFT)

    def y(share: float) -> float:
        return row + 1 - _FLOOR - share * (_TOP - _FLOOR)

    def steps(shares: Sequence[float], before: float) -> list[tuple[float, float]]:
        corners = [(x(-reach), y(before))]
        for point, share in zip(curve.points, shares, strict=True):
            corners += [(x(point.difference_ms), corners[-1][1]), (x(point.difference_ms), y(share))]
        return [*corners, (x(reach), corners[-1][1])]

    axes.add_collection(LineCollection([[(x(0), y(0)), (x(0), y(1))]], colors="#777777", linewidths=0.6))
    lines = [
        steps([point.least for point in curve.points], 0.0),
        steps([point.most for point in curve.points], curve.most_before),
    ]
    if curve.median_ms.value is not None:
        at = x(curve.median_ms.value)
        lines.append([(at, y(0)), (at, y(1))])
    axes.add_collection(LineCollection(lines, colors="#000000", linewidths=1.0))


def _legend(axes: Axes, reach: float) -> None:
    patches = [
        Rectangle((0, 0), 1, 1, facecolor=band.colour, edgecolor="#999999", hatch=band.hatch, label=band.name)
        for band in _BANDS.values()
    ]
    label = "dashed: the interval contains 0"
    patches.append(Rectangle((0, 0), 1, 1, fill=False, linestyle=_UNDECIDED, linewidth=1.1, label=label))
    title = f"row minus column; each cell from -{reach:.0f} to {reach:.0f} ms"
    axes.legend(handles=patches, loc="upper left", bbox_to_anchor=(0, -0.01), ncols=2, title=title, fontsize=7)


def _rows(cell: MatrixCell) -> list[dict[str, str | int | float | None]]:
    band = choose_band(cell.curve.median_ms)
    survivors = choose_band(cell.curve.survivors_median_ms)
    return [{**row, "band": band, "survivor_band": survivors} for row in csv_rows(cell.curve)]
