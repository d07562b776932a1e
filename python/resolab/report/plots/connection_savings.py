"""Pages by the number of connections saved by a treatment, and by the change of their load time.

For: one dot a page, one panel a comparison on a profile. Not for: pairing the loads
(`report.connections.page_effects`).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes

from resolab.report.plots.save import Drawing, Value
from resolab.report.plots.style import house_style, new_figure
from resolab.report.plots.words import estimate_text, interval_text
from resolab.stats import Estimate

PANELS_A_ROW = 2
PANEL_INCH = (4.2, 2.2)
LINEAR_MS, LINEAR_COUNT = 200.0, 10
"""Limits of the linear part of the axes, on both sides of 0; beyond the limits the axes are logarithmic."""
_MS_TICKS = {-10_000: "-10 s", -1_000: "-1 s", -200: "-200", 0: "0", 200: "200", 1_000: "1 s", 10_000: "10 s"}
_COUNT_TICKS = (-10, 0, 10, 30, 100, 300)


@dataclass(frozen=True, slots=True)
class PagePoint:
    """A page in one comparison."""

    panel: str
    """The panel's title: the comparison and the profile."""
    saved_count: float
    """The baseline's connections minus the treatment's connections."""
    difference_ms: float
    key: dict[str, Value]
    """The point's row in the CSV."""


def draw_by_connections(
    name: str, caption: str, points: Sequence[PagePoint], medians: Mapping[str, Estimate]
) -> Drawing:
    """Draw the grid; `medians` holds the paired differences over pages by panel."""
    panels = list(dict.fromkeys(one.panel for one in points))
    columns = min(PANELS_A_ROW, len(panels))
    rows = math.ceil(len(panels) / columns)
    with house_style():
        width, height = PANEL_INCH
        figure = new_figure(width * columns, height * rows + 0.3)
        grid = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True).flat
        for place, axes in enumerate(grid):
            if place >= len(panels):
                axes.set_visible(False)
                continue
            _panel(axes, [one for one in points if one.panel == panels[place]], medians.get(panels[place]))
            axes.set_title(panels[place], fontsize=7.5, loc="left")
            axes.set_ylabel("change of PLT, ms" if place % columns == 0 else "")
            if place + columns >= len(panels):
                axes.set_xlabel("connections saved")
                axes.tick_params(labelbottom=True)
    return Drawing(name, caption, figure, [one.key for one in points])


def _panel(axes: Axes, points: Sequence[PagePoint], middle: Estimate | None) -> None:
    axes.grid(visible=True)
    axes.axhline(0, color="#888888", linewidth=0.8)
    axes.set_yscale("symlog", linthresh=LINEAR_MS, linscale=1.2)
    axes.set_yticks(list(_MS_TICKS), list(_MS_TICKS.values()))
    axes.set_xscale("symlog", linthresh=LINEAR_COUNT)
    axes.set_xticks(_COUNT_TICKS, [str(count) for count in _COUNT_TICKS])
    axes.minorticks_off()
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
