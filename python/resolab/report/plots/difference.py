"""Paired differences of page load time against the baseline, with intervals and the closed form.

For: the answer in milliseconds, every block visible. Not for: relative changes (`heat_map`).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes

from resolab.report.plots.save import Drawing, Value
from resolab.report.plots.style import TRANSPORT_COLOURS, house_style, new_figure
from resolab.stats import Estimate

LABEL_INCH_A_LETTER = 0.075


@dataclass(frozen=True, slots=True)
class DifferenceRow:
    """A condition against its baseline; `blocks_ms` holds the known differences of single blocks."""

    page: str
    profile: str
    combination: str
    dns_transport: str
    difference_ms: Estimate
    blocks_ms: tuple[float, ...]
    expected_ms: float | None
    """The closed form; `None` when there is no closed form."""


def draw_differences(
    rows: Sequence[DifferenceRow], caption: str, *, name: str = "plt_difference", quantity: str = "PLT"
) -> Drawing:
    """Draw a grid of panels: pages across, profiles down; each profile has the rows of its own combinations."""
    pages = list(dict.fromkeys(row.page for row in rows))
    measured = _combinations(rows)
    profiles = list(measured)
    with house_style():
        heights = [0.27 * len(combinations) + 0.75 for combinations in measured.values()]
        longest = max(len(combination) for combinations in measured.values() for combination in combinations)
        figure = new_figure(3.4 * len(pages) + max(1.3, LABEL_INCH_A_LETTER * longest), sum(heights) + 0.1)
        grid = figure.subplots(
            len(profiles), len(pages), squeeze=False, sharex="row", sharey="row", height_ratios=heights
        )
        for line, (profile, combinations) in enumerate(measured.items()):
            for column, page in enumerate(pages):
                axes = grid[line, column]
                _panel(axes, [row for row in rows if (row.page, row.profile) == (page, profile)], combinations)
                axes.set_title(f"{page}, {profile}")
        for axes in grid.flat:
            axes.set_xlim(axes.get_xlim())  # the limits that the finite marks need are final now
        for row in rows:
            axes = grid[profiles.index(row.profile), pages.index(row.page)]
            _open_end(axes, row, measured[row.profile].index(row.combination))
        for axes in grid[-1]:
            axes.set_xlabel(f"paired difference of {quantity}, ms")
    return Drawing(name, caption, figure, [_row(row) for row in rows])


def _combinations(rows: Sequence[DifferenceRow]) -> dict[str, list[str]]:
    """List a plan's combinations for each profile."""
    profiles = dict.fromkeys(row.profile for row in rows)
    return {one: list(dict.fromkeys(row.combination for row in rows if row.profile == one)) for one in profiles}


def _panel(axes: Axes, rows: Sequence[DifferenceRow], combinations: Sequence[str]) -> None:
    axes.axvline(0, color="#888888", linewidth=0.8)
    axes.grid(visible=True, axis="x")
    axes.set_yticks(range(len(combinations)), combinations)
    axes.set_ylim(len(combinations) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    for row in rows:
        _mark(axes, row, combinations.index(row.combination))


def _mark(axes: Axes, row: DifferenceRow, y: int) -> None:
    colour = TRANSPORT_COLOURS[row.dns_transport]
    blocks = [y + 0.26] * len(row.blocks_ms)
    axes.plot(row.blocks_ms, blocks, ".", color=colour, alpha=0.35, markersize=4, markeredgewidth=0)
    if row.expected_ms is not None:
        axes.plot([row.expected_ms], [y], "|", color="#666666", markersize=13, markeredgewidth=1)
    estimate = row.difference_ms
    ends = [end for end in (estimate.ci_low, estimate.ci_high) if end is not None and math.isfinite(end)]
    axes.plot(ends, [y] * len(ends), "-", color=colour, linewidth=1.8)
    if estimate.value is not None:
        axes.plot([estimate.value], [y], "o", color=colour, markersize=5)
        return
    text = "bounds only" if estimate.n else "no data"
    where = axes.get_yaxis_transform()
    axes.text(0.985, y - 0.12, text, va="bottom", ha="right", fontsize=7, color="#555555", transform=where)


def _open_end(axes: Axes, row: DifferenceRow, y: int) -> None:
    """Draw an interval with an infinite end up to the edge of the panel, with an arrow."""
    low, high = row.difference_ms.ci_low, row.difference_ms.ci_high
    colour = TRANSPORT_COLOURS[row.dns_transport]
    left, right = axes.get_xlim()
    if low is not None and high is not None and math.isinf(high):
        start = low if math.isfinite(low) else left
        axes.plot([start, right], [y, y], "-", color=colour, linewidth=1.8)
        axes.plot([right], [y], ">", color=colour, markersize=5, clip_on=False)
    if low is not None and high is not None and math.isinf(low):
        axes.plot([left, high if math.isfinite(high) else right], [y, y], "-", color=colour, linewidth=1.8)
        axes.plot([left], [y], "<", color=colour, markersize=5, clip_on=False)


def _row(row: DifferenceRow) -> dict[str, Value]:
    named = {"page": row.page, "profile": row.profile, "combination": row.combination}
    return {**named, **difference_columns(row.difference_ms, row.expected_ms)}


def difference_columns(estimate: Estimate, expected_ms: float | None) -> dict[str, Value]:
    """Return a paired difference and its closed form as columns of a figure's CSV file."""
    return {
        "paired_difference_ms": estimate.value,
        "ci_low_ms": estimate.ci_low,
        "ci_high_ms": estimate.ci_high,
        "ci_level": estimate.level,
        "ci_method": estimate.method,
        "pairs_count": estimate.n,
        "censored_count": estimate.censored_count,
        "closed_form_ms": expected_ms,
    }
