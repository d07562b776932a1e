"""A forest plot: a line for each comparison, with estimate, interval, equivalence band and verdict.

For: the answer of a report at a glance, on a wide page and on a narrow screen. Not for: verdicts, or the choice of
lines. A line of several comparisons shows one thin bar for each.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.transforms import Transform, blended_transform_factory

from resolab.basics.wording import clean
from resolab.report.plots.forest_layout import (
    BAR_INCH,
    BOTTOM_INCH,
    LETTER_INCH,
    TOP_INCH,
    ForestGroup,
    ForestLayout,
    ForestLine,
    ForestMark,
    ForestWords,
    axis_limits,
    narrow_layout,
    wide_layout,
)
from resolab.report.plots.save import Drawing, Value
from resolab.report.plots.style import BAND, house_style
from resolab.report.plots.verdicts import VERDICT_LOOKS
from resolab.report.plots.waterfall import shorten_label

TEXT_SIZE = 8.5
WORD_COLOUR = "#444444"
_OVER_GRID: Mapping[str, Any] = {"bbox": {"facecolor": "#ffffff", "edgecolor": "none", "pad": 0.6}}
"""Text over the plot covers its grid."""


def draw_forest(
    groups: Sequence[ForestGroup], words: ForestWords, rows: Sequence[Mapping[str, Value]], caption: str
) -> Drawing:
    """Draw the lines for a wide page, and again for a narrow screen."""
    with house_style():
        wide, narrow = (_draw(groups, words, layout) for layout in (wide_layout(groups, words), narrow_layout()))
    return Drawing("answer", caption, wide, rows, narrow)


def _draw(groups: Sequence[ForestGroup], words: ForestWords, layout: ForestLayout) -> Figure:
    lines_height = sum(layout.heading_height(group.heading) + sum(map(layout.height, group.lines)) for group in groups)
    height = TOP_INCH + lines_height + BOTTOM_INCH
    figure = Figure(figsize=(layout.width, height))
    place = (layout.plot_left, BOTTOM_INCH, layout.plot_right - layout.plot_left, lines_height)
    axes = figure.add_axes((place[0] / layout.width, place[1] / height, place[2] / layout.width, place[3] / height))
    axes.set_ylim(lines_height, 0)  # inches from the top
    axes.set_xlim(*axis_limits([mark for group in groups for line in group.lines for mark in line.marks]))
    across = blended_transform_factory(figure.dpi_scale_trans, axes.transData)
    _dress(axes, words, layout, across)
    y = 0.0
    for group in groups:
        _heading(axes, group.heading, y, layout, across)
        y += layout.heading_height(group.heading)
        for line in group.lines:
            _line(axes, line, y, layout, across)
            y += layout.height(line)
    return figure


def _dress(axes: Axes, words: ForestWords, layout: ForestLayout, across: Transform) -> None:
    """Draw the axis, the line of no difference, and the headings of the columns."""
    for side in ("left", "right", "top"):
        axes.spines[side].set_visible(False)
    axes.set_yticks([])
    axes.grid(visible=True, axis="x")
    axes.locator_params(axis="x", nbins=5 if layout.is_narrow else 7)
    axes.axvline(0, color="#333333", linewidth=1)
    against = f"\nagainst {clean(shorten_label(words.baseline, 40))}" if words.baseline else ""
    axes.set_xlabel(f"{words.axis}{against}", fontsize=TEXT_SIZE)
    low, high = axes.get_xlim()
    for text, side, room in (("← faster ", "right", -low), (" slower →", "left", high)):
        if room / (high - low) * (layout.plot_right - layout.plot_left) > len(text) * LETTER_INCH:
            axes.text(0, -0.05, text, ha=side, va="bottom", fontsize=TEXT_SIZE, color=WORD_COLOUR)
    for x, heading in zip(layout.column_edges, (*words.columns, "verdict"), strict=False):
        axes.text(x, -0.05, heading, va="bottom", fontsize=TEXT_SIZE, color=WORD_COLOUR, transform=across)


def _heading(axes: Axes, heading: str, y: float, layout: ForestLayout, across: Transform) -> None:
    style: dict[str, Any] = {"va": "top", "fontsize": TEXT_SIZE, "fontweight": "bold", "transform": across}
    axes.text(0.06, y + 0.1, layout.heading(heading), linespacing=1.25, **style, **_OVER_GRID)


def _line(axes: Axes, line: ForestLine, y: float, layout: ForestLayout, across: Transform) -> None:
    """Draw a line's label and texts in the middle of its height, on a narrow screen above its bars."""
    height = layout.height(line)
    text_height = layout.text_height(line)
    middle = y + (text_height if layout.is_narrow else height) / 2
    room = layout.width - 1.7 if layout.is_narrow else layout.plot_left - 0.3
    label = clean(shorten_label(line.label, int(room / LETTER_INCH)))
    style: dict[str, Any] = {"va": "center_baseline", "fontsize": TEXT_SIZE, "transform": across, "linespacing": 1.25}
    style |= _OVER_GRID if layout.is_narrow else {}
    axes.text(0.2, middle, label, **style)
    for x, text in zip(layout.column_edges, (*line.texts, line.verdict), strict=False):
        axes.text(x, middle, text, **style)
    if layout.is_narrow:
        axes.text(layout.width - 0.12, middle, line.verdict, ha="right", **style)
    bars = BAR_INCH * len(line.marks)
    first = y + text_height + (height - text_height - bars) / 2
    for place, mark in enumerate(line.marks):
        _mark(axes, mark, first + BAR_INCH * (place + 0.5), is_alone=len(line.marks) == 1)


def _mark(axes: Axes, mark: ForestMark, y: float, *, is_alone: bool) -> None:
    look, estimate = VERDICT_LOOKS[mark.verdict], mark.estimate
    if mark.margin is not None:
        height = 0.2 if is_alone else BAR_INCH
        band = Rectangle((-mark.margin, y - height / 2), 2 * mark.margin, height, facecolor=BAND, zorder=0.8)
        axes.add_patch(band)
    if estimate.ci_low is not None and estimate.ci_high is not None:
        _bar(axes, (estimate.ci_low, estimate.ci_high), y, look.colour, 1.8 if is_alone else 0.9)
    if estimate.value is not None:
        axes.plot(
            [estimate.value],
            [y],
            look.marker,
            markersize=5.5 if is_alone else 2.6,
            markeredgecolor=look.colour,
            markerfacecolor=look.colour if look.filled else "#ffffff",
            markeredgewidth=1.2 if is_alone else 0.7,
            zorder=3,
        )
    elif is_alone and estimate.ci_low is None:
        text = "bounds only" if estimate.n else "no data"
        axes.text(0.02, y, text, va="center", fontsize=7, color=WORD_COLOUR, transform=axes.get_yaxis_transform())


def _bar(axes: Axes, ends: tuple[float, float], y: float, colour: str, width: float) -> None:
    """Draw an interval; an arrow marks an end beyond the axis."""
    low, high = axes.get_xlim()
    start, stop = (min(max(end, low), high) for end in ends)
    axes.plot([start, stop], [y, y], "-", color=colour, linewidth=width, zorder=2)
    beyond = [*([(low, "<")] if ends[0] < low else []), *([(high, ">")] if ends[1] > high else [])]
    for edge, arrow in beyond:
        axes.plot([edge], [y], arrow, color=colour, markersize=2.5 * width + 0.5, clip_on=False, zorder=2)
