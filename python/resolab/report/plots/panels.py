"""A grid of panels of equal size, each with its own key below.

For: figures of many panels with many lines each. Not for: figures with automatic layout, by the layout engine of
`style.new_figure`.

All positions are computed, in inches. A layout engine measures all texts, twice, and a legend measures its own texts
several times more. For twenty panels, measuring takes longer than drawing.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.transforms import Affine2D

LEFT_INCH, RIGHT_INCH = 0.68, 0.14
"""Beside the axes: numbers of six characters with the axis's label, and half of the last number below."""
TITLE_INCH = 0.16
"""The height of a title's line."""
AXIS_INCH = 0.46
"""The height below the axes for numbers and label."""
KEY_LINE_INCH = 0.17
SAMPLE_INCH, BESIDE_SAMPLE_INCH = 0.36, 0.07
"""The length of a line's sample in the key, and the room between sample and text."""
CHARACTER_INCH = 0.062
"""The largest average width of a character in the key."""
GAP_INCH = 0.14
"""The room above the title, and below the key."""


@dataclass(frozen=True, slots=True)
class PanelSize:
    """The common size of the panels in a grid."""

    width_inch: float
    """The smallest width; a wider key makes the panels wider."""
    height_inch: float
    """The height of the axes with their numbers, without title and key."""


def panel_grid(
    keys: Mapping[str, Sequence[str]], columns: int, size: PanelSize, y_label: str, *, share_y: bool
) -> tuple[Figure, list[Axes]]:
    """Make a figure with axes for each panel, by rows; `keys` maps titles to the later texts of `add_key`."""
    columns = min(columns, len(keys))
    rows = math.ceil(len(keys) / columns)
    longest = max((len(text) for key in keys.values() for text in key), default=0)
    key_width = SAMPLE_INCH + BESIDE_SAMPLE_INCH + CHARACTER_INCH * longest
    width = max(size.width_inch, LEFT_INCH + key_width + RIGHT_INCH)
    above = GAP_INCH + TITLE_INCH * max(1 + title.count("\n") for title in keys)
    below = KEY_LINE_INCH * max(map(len, keys.values())) + GAP_INCH
    height = above + size.height_inch + below
    figure = Figure(figsize=(width * columns, height * rows))
    found: list[Axes] = []
    for place, title in enumerate(keys):
        row, column = divmod(place, columns)
        left, bottom = column * width + LEFT_INCH, (rows - 1 - row) * height + below + AXIS_INCH
        inches = (left, bottom, width - LEFT_INCH - RIGHT_INCH, size.height_inch - AXIS_INCH)
        axes = figure.add_axes(_ratios(inches, figure), sharey=found[0] if share_y and found else None)
        axes.set_title(title)
        axes.set_ylabel(y_label if column == 0 else "")
        axes.tick_params(labelleft=column == 0 or not share_y)
        found.append(axes)
    return figure, found


def add_key(axes: Axes) -> None:
    """Draw the key below the axes: a sample of each labelled line, and its label, in order.

    Call this function inside `house_style`, like the rest of a drawing.
    """
    figure = axes.get_figure(root=True)
    assert figure is not None
    corner = axes.get_position()
    across, up = figure.get_size_inches()
    inches = Affine2D().translate(corner.x0 * across, corner.y0 * up) + figure.dpi_scale_trans
    lines, labels = axes.get_legend_handles_labels()
    for place, (line, label) in enumerate(zip(lines, labels, strict=True)):
        height = -AXIS_INCH - (place + 0.5) * KEY_LINE_INCH
        sample = Line2D([], [])
        sample.update_from(line)  # its clipping to the axes, too
        sample.set_clip_on(False)
        sample.set_data([0, SAMPLE_INCH], [height, height])
        sample.set_transform(inches)
        figure.add_artist(sample, clip=False)
        size = mpl.rcParams["legend.fontsize"]
        text = Text(SAMPLE_INCH + BESIDE_SAMPLE_INCH, height, label, va="center_baseline", fontsize=size)
        text.set_transform(inches)
        figure.add_artist(text, clip=False)


def _ratios(inches: tuple[float, float, float, float], figure: Figure) -> tuple[float, float, float, float]:
    """Convert left, bottom, width and height from inches to fractions of the figure."""
    across, up = figure.get_size_inches()
    left, bottom, width, height = inches
    return left / across, bottom / up, width / across, height / up
