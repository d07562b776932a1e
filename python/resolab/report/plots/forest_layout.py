"""The horizontal and vertical places of a forest plot's parts, in inches.

For: one layout for a wide page and one for a narrow screen. Not for: drawing (`forest`).
"""

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from resolab.basics.wording import clean
from resolab.report.plots.verdicts import Verdict
from resolab.report.plots.waterfall import shorten_label
from resolab.stats import Estimate

LETTER_INCH = 0.074
"""Mean width of a letter at the size of the figure's text."""
HEADING_INCH, LINE_INCH, BAR_INCH, TEXT_INCH = 0.27, 0.235, 0.07, 0.16
TOP_INCH, BOTTOM_INCH = 0.28, 0.66
WIDE_INCH, NARROW_INCH = 8.7, 3.6
MOST_LABEL_INCH, LEAST_PLOT_INCH = 2.6, 2.2
_FAR_SHARE, _FAR_FACTOR = 0.05, 2.5
"""Interval ends beyond this share on each side end in arrows, if they make the axis longer than this factor."""


@dataclass(frozen=True, slots=True)
class ForestMark:
    """One comparison, with the half width of its equivalence band, both in the axis's unit."""

    estimate: Estimate
    verdict: Verdict
    margin: float | None


@dataclass(frozen=True, slots=True)
class ForestLine:
    """A line of the plot. Each text on its right is a column; a column and the verdict may have several rows."""

    label: str
    marks: Sequence[ForestMark]
    texts: Sequence[str]
    verdict: str


@dataclass(frozen=True, slots=True)
class ForestGroup:
    """Lines under a common heading."""

    heading: str
    lines: Sequence[ForestLine]


@dataclass(frozen=True, slots=True)
class ForestWords:
    """The words around the lines: the axis with its common baseline, and the headings of the columns on the right."""

    axis: str
    baseline: str | None
    columns: Sequence[str]


@dataclass(frozen=True, slots=True)
class ForestLayout:
    """The width of the figure, the plot's left and right ends, and the left edge of each column of text."""

    width: float
    plot_left: float
    plot_right: float
    column_edges: Sequence[float]
    is_narrow: bool

    def heading(self, heading: str) -> str:
        """Break a heading that is wider than the figure into two rows; a longer heading loses its middle."""
        letters = int((self.width - 0.2) / (LETTER_INCH * 1.12))
        return "\n".join(textwrap.wrap(shorten_label(clean(heading), 2 * letters - 12), letters))

    def heading_height(self, heading: str) -> float:
        """Return the height of a heading."""
        if not heading:
            return 0.0
        return HEADING_INCH + TEXT_INCH * (_rows(self.heading(heading)) - 1)

    def height(self, line: ForestLine) -> float:
        """Return the height of a line."""
        bars = max(LINE_INCH, BAR_INCH * len(line.marks) + 0.1)
        if self.is_narrow:
            return self.text_height(line) + bars
        return max(bars, TEXT_INCH * max(_rows(text) for text in (*line.texts, line.verdict)) + 0.08)

    def text_height(self, line: ForestLine) -> float:
        """Return the height of the texts above the line's bars, on a narrow screen only."""
        return TEXT_INCH * _rows(line.verdict) + 0.04 if self.is_narrow else 0.0


def wide_layout(groups: Sequence[ForestGroup], words: ForestWords) -> ForestLayout:
    """Put labels on the left and texts on the right of the plot."""
    lines = [line for group in groups for line in group.lines]
    label = min(MOST_LABEL_INCH, max((len(line.label) for line in lines), default=0) * LETTER_INCH + 0.4)
    columns = [[heading, *(line.texts[place] for line in lines)] for place, heading in enumerate(words.columns)]
    columns.append(["verdict", *(line.verdict for line in lines)])
    widths = [max(len(row) for text in column for row in text.split("\n")) * LETTER_INCH + 0.14 for column in columns]
    width = max(WIDE_INCH, label + LEAST_PLOT_INCH + 0.2 + sum(widths))
    edges = [width - sum(widths[place:]) for place in range(len(widths))]
    return ForestLayout(width, label, edges[0] - 0.2, edges, is_narrow=False)


def narrow_layout() -> ForestLayout:
    """Put labels and verdicts above the bars; the numbers are in the table below the figure."""
    return ForestLayout(NARROW_INCH, 0.25, NARROW_INCH - 0.25, (), is_narrow=True)


def axis_limits(marks: Sequence[ForestMark]) -> tuple[float, float]:
    """Return the axis's ends around estimates, bands and intervals, without ends so far out that they hide the rest."""
    inner, ends = [0.0], []
    for one in marks:
        inner += [] if one.estimate.value is None else [one.estimate.value]
        inner += [] if one.margin is None else [-one.margin, one.margin]
        found = (one.estimate.ci_low, one.estimate.ci_high)
        ends += [end for end in found if end is not None and math.isfinite(end)]
    usual = (
        [float(np.quantile(ends, share, method="nearest")) for share in (_FAR_SHARE, 1 - _FAR_SHARE)] if ends else []
    )
    near, every = [*inner, *usual], [*inner, *ends]
    shown = every if _span(every) <= _FAR_FACTOR * _span(near) else near
    room = 0.05 * (_span(shown) or 1.0)
    return min(shown) - room, max(shown) + room


def _span(values: Sequence[float]) -> float:
    return max(values) - min(values)


def _rows(text: str) -> int:
    return text.count("\n") + 1
