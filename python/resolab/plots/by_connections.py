"""Pages by how many connections a treatment opens less, and by how much their load time changes.

For: one dot a page, comparisons down and profiles across. Not for: pairing the loads (`report.connections.by_page`).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from resolab.plots.save import Drawing, Value
from resolab.plots.style import house_style, new_figure
from resolab.plots.words import estimate_text, interval_text
from resolab.stats import Estimate

PANEL_INCH = (3.6, 1.75)
LINEAR_MS = 200.0
"""Up to here on both sides of 0 the axis of the change is linear, beyond it logarithmic."""


@dataclass(frozen=True, slots=True)
class PagePoint:
    """One page under one comparison."""

    row: str
    """The comparison."""
    column: str
    """The profile."""
    saved_count: float
    """Connections that the baseline opened and the treatment did not."""
    difference_ms: float
    key: dict[str, Value]
    """What the CSV says of it."""


def draw_by_connections(
    name: str, caption: str, points: Sequence[PagePoint], medians: dict[tuple[str, str], Estimate]
) -> Drawing:
    """Draw the grid; `medians` are the paired differences over pages by row and column."""
    rows = list(dict.fromkeys(one.row for one in points))
    columns = list(dict.fromkeys(one.column for one in points))
    with house_style():
        width, height = PANEL_INCH
        figure = new_figure(width * len(columns), height * len(rows) + 0.3)
        grid = figure.subplots(len(rows), len(columns), squeeze=False, sharex=True, sharey=True)
        for line, row in enumerate(rows):
            for place, column in enumerate(columns):
                found = [one for one in points if (one.row, one.column) == (row, column)]
                _panel(grid[line, place], found, medians.get((row, column)))
                grid[line, place].set_title(f"{row}, {column}", fontsize=8.5)
            grid[line, 0].set_ylabel("change of PLT, ms")
        for axes in grid[-1]:
            axes.set_xlabel("connections saved")
    return Drawing(name, caption, figure, [one.key for one in points])


def _panel(axes: Axes, points: Sequence[PagePoint], middle: Estimate | None) -> None:
    axes.grid(visible=True)
    axes.axhline(0, color="#888888", linewidth=0.8)
    axes.set_yscale("symlog", linthresh=LINEAR_MS, linscale=1.2)
    axes.set_yticks([-10_000, -1_000, -LINEAR_MS, 0, LINEAR_MS, 1_000, 10_000])
    axes.set_yticklabels(["-10 s", "-1 s", "-200", "0", "200", "1 s", "10 s"])
    axes.minorticks_off()
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    saved, changed = [one.saved_count for one in points], [one.difference_ms for one in points]
    axes.plot(saved, changed, "o", color="#004c80", markersize=3.6, markerfacecolor="none", markeredgewidth=0.9)
    if middle is None or middle.value is None:
        return
    ends = [end for end in (middle.ci_low, middle.ci_high) if end is not None]
    if len(ends) == 2:
        axes.axhspan(*ends, color="#e69f00", alpha=0.35, linewidth=0)
    axes.axhline(middle.value, color="#d55e00", linewidth=1.2)
    text = f"{estimate_text(middle, 0, signed=True)} {interval_text(middle, 0, signed=True)} ms, n = {middle.n}"
    axes.text(0.98, 0.04, text, ha="right", va="bottom", fontsize=7.5, transform=axes.transAxes)
