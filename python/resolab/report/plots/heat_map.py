"""Heat map of the relative change of the median page load time, one panel per combination of protocols.

For: a cell with its interval for each level of two factors. Not for: computing the change.
"""

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Colormap, Normalize
from matplotlib.patches import Rectangle

from resolab.report.plots.save import Drawing, Value
from resolab.report.plots.style import DIVERGING, house_style, new_figure
from resolab.report.plots.words import estimate_text, interval_text, number_text
from resolab.stats import Estimate

PERCENT = 100
PANELS_A_ROW = 3
"""The largest number of panels in a row."""
TITLE_LETTERS_AN_INCH = 11
TITLE_LINE_INCH = 0.16


@dataclass(frozen=True, slots=True)
class HeatCell:
    """The change of a page on a profile under a combination; `None` without a measurement."""

    combination: str
    page: str
    profile: str
    change: Estimate | None
    reference_ratio: float | None = None
    """Another study's number for the same cell, printed below the change."""


@dataclass(frozen=True, slots=True)
class _Scale:
    norm: Normalize
    """Symmetric about 0, the neutral middle of the colours."""
    colours: Colormap
    shown: tuple[float, float]
    """The range of the cells' values, including 0."""

    def background(self, percent: float) -> tuple[float, float, float, float]:
        red, green, blue, alpha = self.colours(float(self.norm(percent)))
        return red, green, blue, alpha

    def ink(self, percent: float) -> str:
        red, green, blue, _ = self.background(percent)
        return "white" if 0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.45 else "black"


def draw_heat_map(
    cells: Sequence[HeatCell], caption: str, *, name: str = "plt_change", quantity: str = "PLT"
) -> Drawing:
    """Draw the heat map, with panels, rows and columns in the order of their first mention by the cells."""
    combinations = list(dict.fromkeys(cell.combination for cell in cells))
    pages = list(dict.fromkeys(cell.page for cell in cells))
    profiles = list(dict.fromkeys(cell.profile for cell in cells))
    scale = _scale(cells)
    lines = math.ceil(len(combinations) / PANELS_A_ROW)
    columns = math.ceil(len(combinations) / lines)  # four are two and two
    panel_inch = 1.25 * len(pages) + 0.35
    titles = {
        combination: textwrap.fill(combination, int(TITLE_LETTERS_AN_INCH * panel_inch)) for combination in combinations
    }
    further_lines = max(title.count("\n") for title in titles.values())
    with house_style():
        height = 0.56 * len(profiles) + 0.65 + TITLE_LINE_INCH * further_lines
        figure = new_figure(columns * panel_inch + 1.5, lines * height + 0.1)
        grid = figure.subplots(lines, columns, squeeze=False, sharex=True, sharey=True)
        for axes, combination in zip(grid.flat, combinations, strict=False):
            _panel(axes, [cell for cell in cells if cell.combination == combination], pages, profiles, scale)
            axes.set_title(titles[combination], pad=6)
        for spare in grid.flat[len(combinations) :]:
            spare.set_visible(False)
        mappable = mpl.cm.ScalarMappable(norm=scale.norm, cmap=scale.colours)
        bar = figure.colorbar(mappable, ax=grid, fraction=0.03, pad=0.02)
        bar.set_label(f"change of median {quantity}, %")
        bar.outline.set_visible(False)
        bar.ax.set_ylim(*scale.shown)
        bar.ax.axhline(0, color="black", linewidth=1)
    referenced = any(cell.reference_ratio is not None for cell in cells)
    return Drawing(name, caption, figure, [_row(cell, referenced=referenced) for cell in cells])


def _scale(cells: Sequence[HeatCell]) -> _Scale:
    """Return a scale symmetric about zero, to at least ten percent, to keep noise from filling the scale."""
    sure = [cell for cell in cells if cell.change is not None and cell.change.ci_low is not None]
    values = [percent for cell in sure if (percent := _percent(cell)) is not None]
    reach = max([10.0, *(abs(value) for value in values)])
    shown = (min([0.0, *values]), max([0.1 * reach, *values]))
    return _Scale(Normalize(-reach, reach), mpl.colormaps[DIVERGING], shown)


def _percent(cell: HeatCell) -> float | None:
    """Return the number colouring a cell: its value, or its finite bound."""
    if cell.change is None:
        return None
    bounds = [cell.change.low, cell.change.high]
    finite = [bound for bound in bounds if bound is not None and math.isfinite(bound)]
    return finite[0] * PERCENT if finite else None


def _panel(axes: Axes, cells: Sequence[HeatCell], pages: Sequence[str], profiles: Sequence[str], scale: _Scale) -> None:
    axes.set_xlim(0, len(pages))
    axes.set_ylim(len(profiles), 0)
    axes.set_xticks(np.arange(len(pages)) + 0.5, pages)
    axes.set_yticks(np.arange(len(profiles)) + 0.5, profiles)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    for cell in cells:
        _cell(axes, cell, pages.index(cell.page), profiles.index(cell.profile), scale)


def _cell(axes: Axes, cell: HeatCell, column: int, row: int, scale: _Scale) -> None:
    percent = _percent(cell)
    is_sure = cell.change is not None and cell.change.ci_low is not None
    # A number without an interval tells nothing yet: it has no colour.
    colour = "#e4e4e4" if percent is None else scale.background(percent if is_sure else 0.0)
    axes.add_patch(Rectangle((column, row), 1, 1, facecolor=colour, edgecolor="#cccccc", linewidth=0.8))
    if cell.change is None or percent is None:
        text = "no data" if cell.change is None or cell.change.n == 0 else "not determined"
        axes.text(column + 0.5, row + 0.5, text, ha="center", va="center", fontsize=7.5, color="#555555")
        return
    ink = scale.ink(percent if is_sure else 0.0)
    value = estimate_text(cell.change, scale=PERCENT, signed=True) + " %"
    interval = interval_text(cell.change, scale=PERCENT, signed=True) or "no interval"
    centre = column + 0.5
    lifted = 0.0 if cell.reference_ratio is None else 0.10
    axes.text(centre, row + 0.40 - lifted, value, ha="center", va="center", fontsize=9.5, color=ink, weight="bold")
    axes.text(centre, row + 0.72 - 1.4 * lifted, interval, ha="center", va="center", fontsize=6.8, color=ink)
    if cell.reference_ratio is not None:
        reference = f"paper {number_text(cell.reference_ratio * PERCENT, signed=True)} %"
        axes.text(centre, row + 0.81, reference, ha="center", va="center", fontsize=6.8, color=ink, style="italic")
    if cell.change.ci_contains_zero:
        frame = Rectangle((column + 0.03, row + 0.06), 0.94, 0.88, fill=False, edgecolor=ink, linestyle=(0, (3, 2)))
        axes.add_patch(frame)


def _row(cell: HeatCell, *, referenced: bool) -> dict[str, Value]:
    change = cell.change
    reference: dict[str, Value] = {"reference_change_ratio": cell.reference_ratio} if referenced else {}
    return {
        "combination": cell.combination,
        "page": cell.page,
        "profile": cell.profile,
        "relative_change_ratio": change.value if change else None,
        "relative_change_low_ratio": change.low if change else None,
        "relative_change_high_ratio": change.high if change else None,
        "ci_low_ratio": change.ci_low if change else None,
        "ci_high_ratio": change.ci_high if change else None,
        "ci_level": change.level if change else None,
        "ci_method": change.method if change else None,
        "pairs_count": change.n if change else 0,
        "censored_count": change.censored_count if change else None,
        **reference,
    }
