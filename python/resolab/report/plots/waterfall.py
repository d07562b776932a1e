"""The waterfall of one page load: a line for each request, its phases as bars, the page's events as vertical lines.

For: seeing the waits of a load. Not for: choosing the load, or the source of the instants.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from resolab.basics.wording import clean
from resolab.report.plots.save import Drawing, Value
from resolab.report.plots.style import BAND, BLUE, ORANGE, PINK, SKY, house_style, new_figure

TITLE_LETTERS = 120


@dataclass(frozen=True, slots=True)
class Span:
    """A phase of a request, in milliseconds since navigationStart."""

    phase: str
    start_ms: float
    end_ms: float

    @property
    def length_ms(self) -> float:
        """The duration of the phase."""
        return self.end_ms - self.start_ms


@dataclass(frozen=True, slots=True)
class WaterfallRequest:
    """A request with its actual phases, in the order of their beginnings."""

    label: str
    start_ms: float
    spans: Sequence[Span]
    row: dict[str, Value]

    @property
    def end_ms(self) -> float:
        """The end of the last phase."""
        return max((span.end_ms for span in self.spans), default=self.start_ms)


@dataclass(frozen=True, slots=True)
class PageEvent:
    """An instant of the whole page."""

    name: str
    at_ms: float


@dataclass(frozen=True, slots=True)
class WaterfallSize:
    """The size of the figure and of the texts around its bars."""

    width_inch: float
    around_inch: float
    label_letters: int
    legend_columns: int


WIDE = WaterfallSize(9.2, 1.35, 34, 9)
NARROW = WaterfallSize(4.0, 1.75, 16, 3)

PHASES: dict[str, dict[str, Any]] = {
    "look-up": {"facecolor": "#ffffff", "hatch": "////"},
    "TCP": {"facecolor": PINK, "hatch": ""},
    "TLS": {"facecolor": ORANGE, "hatch": "||"},
    "QUIC": {"facecolor": ORANGE, "hatch": "||"},
    "wait": {"facecolor": BAND, "hatch": ""},
    "receive": {"facecolor": BLUE, "hatch": ""},
    "undivided": {"facecolor": SKY, "hatch": "\\\\"},
}
"""Every phase with its fill; neighbours differ in lightness or hatch as well as in hue."""
_EVENT_DASHES: Sequence[Any] = ((0, (1, 1.5)), (0, (4, 2)), "-")


def draw_waterfall(
    name: str,
    title: str,
    requests: Sequence[WaterfallRequest],
    events: Sequence[PageEvent],
    caption: str,
    *,
    with_narrow: bool = False,
) -> Drawing:
    """Draw the requests from top to bottom in the given order, if wanted for a narrow screen, too."""
    with house_style():
        wide = _draw(shorten_label(title, TITLE_LETTERS), requests, events, WIDE)
        narrow = _draw("", requests, events, NARROW) if with_narrow else None
    return Drawing(name, caption, wide, [request.row for request in requests], narrow)


def _draw(title: str, requests: Sequence[WaterfallRequest], events: Sequence[PageEvent], size: WaterfallSize) -> Figure:
    figure = new_figure(size.width_inch, 0.27 * len(requests) + size.around_inch)
    axes = figure.subplots()
    for line, request in enumerate(requests):
        _request(axes, line, request)
    for event, dash in zip(events, _EVENT_DASHES, strict=False):
        axes.axvline(event.at_ms, color="#333333", linewidth=1, linestyle=dash, label=f"{event.name} {event.at_ms:.0f}")
    axes.set_yticks(range(len(requests)), [clean(shorten_label(one.label, size.label_letters)) for one in requests])
    axes.set_ylim(len(requests) - 0.4, -0.6)
    last = max([0.0, *(request.end_ms for request in requests), *(event.at_ms for event in events)])
    axes.set_xlim(0, (last or 1.0) * 1.02)
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=True, axis="x")
    axes.set_xlabel("ms since navigationStart")
    axes.set_title(clean(title), loc="left")
    _legend(axes, requests, size.legend_columns)
    return figure


def _request(axes: Axes, line: int, request: WaterfallRequest) -> None:
    axes.plot([request.start_ms, request.end_ms], [line, line], color="#999999", linewidth=0.8, zorder=0.9)
    wait_ms = min((span.start_ms for span in request.spans if span.phase == "wait"), default=float("inf"))
    for span in request.spans:
        # In early data the request leaves before its handshake has ended: that bar lies lower and is thin.
        early = span.phase in {"TLS", "QUIC"} and wait_ms < span.end_ms
        height, middle = (0.2, line + 0.3) if early else (0.56, line - 0.06 if wait_ms < span.end_ms else line)
        axes.barh(
            middle,
            span.length_ms,
            left=span.start_ms,
            height=height,
            edgecolor="#333333",
            linewidth=0.6,
            **PHASES[span.phase],
        )


def shorten_label(label: str, letters: int) -> str:
    """Shorten a label by cutting out its middle, keeping the host at the start and the file at the end."""
    if len(label) <= letters:
        return label
    head = (letters - 1) // 2
    return f"{label[:head]}…{label[head + 1 - letters :]}"


def _legend(axes: Axes, requests: Sequence[WaterfallRequest], columns: int) -> None:
    present = {span.phase for request in requests for span in request.spans}
    patches: list[Any] = [
        Patch(label=phase, edgecolor="#333333", linewidth=0.6, **look)
        for phase, look in PHASES.items()
        if phase in present
    ]
    lines, _ = axes.get_legend_handles_labels()
    figure = axes.get_figure()
    assert figure is not None
    figure.legend(handles=[*patches, *lines], loc="outside lower left", ncols=columns, handlelength=2.2)
