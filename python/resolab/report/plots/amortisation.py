"""The extra cost of a query over Do53 when k queries share a connection, for growing k.

For: seeing if and when the connection set-up is amortised. Not for: computing the crossing (`stats`).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, NullFormatter

from resolab.basics.protocols import transport_label
from resolab.report.plots.panels import PanelSize, add_key, panel_grid
from resolab.report.plots.save import Drawing, Value
from resolab.report.plots.style import TRANSPORT_COLOURS, TRANSPORT_DASHES, house_style
from resolab.stats import Amortisation, Estimate

PANELS_A_ROW = 3
PANEL_SIZE = PanelSize(3.7, 2.1)


@dataclass(frozen=True, slots=True)
class AmortisationLine:
    """The line of a transport on a network: the cumulated difference after each of `counts` queries."""

    panel: str
    dns_transport: str
    counts: Sequence[int]
    found: Amortisation
    key: Mapping[str, Value]
    """Columns naming the line in the CSV, with the same keys in all lines of a figure."""


def draw_amortisation(
    caption: str, lines: Sequence[AmortisationLine], theirs_count: int, name: str = "amortisation"
) -> Drawing:
    """Draw one panel per distinct `panel`, with a mark at `theirs_count`."""
    titles = list(dict.fromkeys(line.panel for line in lines))
    panels = {title: [line for line in lines if line.panel == title] for title in titles}
    keys = {title: [_label(line) for line in panel] for title, panel in panels.items()}
    with house_style():
        figure, grid = panel_grid(keys, PANELS_A_ROW, PANEL_SIZE, "ms a query above Do53", share_y=False)
        for axes, panel in zip(grid, panels.values(), strict=True):
            _panel(axes, panel, theirs_count)
    return Drawing(name, caption, figure, [row for line in lines for row in _rows(line)])


def _panel(axes: Axes, lines: Sequence[AmortisationLine], theirs_count: int) -> None:
    axes.grid(visible=True, axis="y")
    axes.axhline(0, color="#555555", linewidth=0.9)
    axes.axvline(theirs_count, color="#999999", linewidth=0.9, linestyle=(0, (1, 2)))
    axes.set_xscale("log")
    for line in lines:
        colour, counts = TRANSPORT_COLOURS[line.dns_transport], np.asarray(line.counts)
        axes.fill_between(
            counts,
            line.found.extra_ci_low_ms / counts,
            line.found.extra_ci_high_ms / counts,
            color=colour,
            alpha=0.15,
            linewidth=0,
        )
        axes.plot(
            counts,
            line.found.extra_ms / counts,
            color=colour,
            linestyle=TRANSPORT_DASHES[line.dns_transport],
            label=_label(line),
        )
    axes.set_xlim(lines[0].counts[0], lines[0].counts[-1])
    axes.xaxis.set_major_formatter(FuncFormatter(lambda count, _: f"{count:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel("queries on one connection (logarithmic)")
    add_key(axes)


def _label(line: AmortisationLine) -> str:
    return f"{transport_label(line.dns_transport)}: {_paid(line.found.break_even_count)}"


def _paid(count: Estimate) -> str:
    text = count_text(count)
    return f"{text.replace('never', 'never paid', 1)}" if text.startswith("never") else f"paid after {text}"


def count_text(count: Estimate) -> str:
    """Format a number of queries with its interval; infinity is printed as "never"."""

    def word(number: float) -> str:
        return "never" if math.isinf(number) else f"{number:.0f}"

    if count.low is None:
        return "unknown"
    text = word(count.low)
    if count.ci_low is None or count.ci_high is None:
        return text
    if count.ci_low == count.ci_high == count.low:
        return f"{text} [{text}]"
    return f"{text} [{word(count.ci_low)}, {word(count.ci_high)}]"


def _rows(line: AmortisationLine) -> list[dict[str, Value]]:
    found, crossing = line.found, line.found.break_even_count
    summary: dict[str, Value] = {
        "break_even_count": crossing.low,
        "break_even_ci_low_count": crossing.ci_low,
        "break_even_ci_high_count": crossing.ci_high,
        "saved_a_query_ms": found.saved_ms.value,
        "saved_a_query_ci_low_ms": found.saved_ms.ci_low,
        "saved_a_query_ci_high_ms": found.saved_ms.ci_high,
        "ci_level": crossing.level,
        "ci_method": crossing.method,
    }
    rows = zip(line.counts, found.extra_ms, found.extra_ci_low_ms, found.extra_ci_high_ms, strict=True)
    return [
        {
            **line.key,
            "query_count": count,
            "cumulated_extra_ms": float(extra),
            "cumulated_extra_ci_low_ms": _or_none(low),
            "cumulated_extra_ci_high_ms": _or_none(high),
            "extra_a_query_ms": float(extra) / count,
            **summary,
        }
        for count, extra, low, high in rows
    ]


def _or_none(number: float) -> float | None:
    """Return `None` for NaN (no interval), otherwise the number."""
    return None if math.isnan(number) else float(number)
