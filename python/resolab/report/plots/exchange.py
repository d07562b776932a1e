"""Distribution of the cold DNS exchange in round trips, one panel per access profile and resolver, closed form marked.

For: seeing a transport's number of round trips and its cost beyond them at a glance. Not for: computing medians.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from resolab.basics.protocols import transport_label
from resolab.report.plots.panels import PanelSize, add_key, panel_grid
from resolab.report.plots.save import Drawing, Value
from resolab.report.plots.style import TRANSPORT_COLOURS, TRANSPORT_DASHES, house_style
from resolab.report.plots.words import estimate_text, mode_label, number_text
from resolab.stats import Estimate

PANELS_A_ROW = 2
PANEL_SIZE = PanelSize(4.5, 2.3)
MANY_PANELS, MANY_PANELS_A_ROW = 6, 3
TOP = 1.15
FAR_RIGHT = 1e6
SHOWN_SHARE = 0.9
"""The smallest share of each curve within the axis."""
LEAST_GAP = 0.09
"""The smallest part of the axis per round trip, for a label at each round trip."""


@dataclass(frozen=True, slots=True)
class ExchangeSeries:
    """The cold exchanges of one transport on one profile with one resolver.

    Failed exchanges count in `n`, without a value. `round_trips` is in ascending order. `shares` holds, for each value,
    the part of all `n` exchanges at or below the value. The values are all exchanges, or quantiles.
    """

    place: str
    """The panel's name: the profile and, with several resolvers, the resolver."""
    profile: str
    resolver_extra_rtt_ms: float
    resolver_cache: str
    rtt_ms: float
    dns_transport: str
    requested_handshake_mode: str
    round_trips: tuple[float, ...]
    shares: tuple[float, ...]
    n: int
    failed_count: int
    expected_round_trips: int
    median_ms: Estimate
    remainder_ms: float | None

    @property
    def label(self) -> str:
        """The name of the series in a legend."""
        mode = "" if self.requested_handshake_mode == "full" else " " + mode_label(self.requested_handshake_mode)
        return transport_label(self.dns_transport) + mode


def draw_exchanges(series: Sequence[ExchangeSeries], caption: str) -> Drawing:
    """Draw one panel per place, in the order of first mention by the series."""
    titles = list(dict.fromkeys(_title(one) for one in series))
    panels = {title: [one for one in series if _title(one) == title] for title in titles}
    columns = PANELS_A_ROW if len(panels) <= MANY_PANELS else MANY_PANELS_A_ROW
    ends = {title: _right_end(panel) for title, panel in panels.items()}
    # Alike where they may be; a resolver that takes its time for what it has not cached has an axis of its own.
    usual = max((end for title, end in ends.items() if end <= _usual_end(panels[title])), default=0.0)
    keys = {title: [_label(one) for one in panel] for title, panel in panels.items()}
    with house_style():
        figure, grid = panel_grid(keys, columns, PANEL_SIZE, "share of exchanges", share_y=True)
        for axes, (title, panel) in zip(grid, panels.items(), strict=True):
            _panel(axes, panel, max(ends[title], usual))
    rows = [row for one in series for row in _rows(one)]
    return Drawing("dns_exchange", caption, figure, rows)


def _right_end(series: Sequence[ExchangeSeries]) -> float:
    expected = max(one.expected_round_trips for one in series)
    slowest = max((one.round_trips[-1] for one in series if one.round_trips), default=expected)
    # A single straggler must not squeeze everybody else to the left; the caption says where the axis ends.
    most = max((_choose_range(one) for one in series), default=expected)
    return max(expected + 0.7, min(slowest * 1.05, _usual_end(series)), most * 1.05)


def _usual_end(series: Sequence[ExchangeSeries]) -> float:
    return max(one.expected_round_trips for one in series) + 2.0


def _choose_range(one: ExchangeSeries) -> float:
    """Return the time of most of the completed exchanges, in round trips."""
    ended = one.shares[-1] if one.shares else 0.0
    steps = zip(one.round_trips, one.shares, strict=True)
    return next((trips for trips, share in steps if share >= SHOWN_SHARE * ended), 0.0)


def _guides(axes: Axes, trips: Sequence[int], limit: float) -> None:
    for one in trips:
        axes.axvline(one, color="#999999", linewidth=0.8, linestyle=(0, (1, 2)))
    close = len(trips) > 1 and 1 / (limit - 0.5) < LEAST_GAP
    labels = {trips[0]: f"k = {', '.join(map(str, trips))}"} if close else {one: f"k = {one}" for one in trips}
    for one, label in labels.items():
        axes.annotate(
            label,
            (one, TOP),
            xytext=(3, -2),
            textcoords="offset points",
            ha="left",
            va="top",
            fontsize=7,
            color="#555555",
            annotation_clip=False,
        )


def _panel(axes: Axes, series: Sequence[ExchangeSeries], limit: float) -> None:
    axes.grid(visible=True, axis="y")
    _guides(axes, sorted({one.expected_round_trips for one in series}), limit)
    for one in series:
        x = [one.round_trips[0], *one.round_trips, FAR_RIGHT] if one.shares else []
        y = [0.0, *one.shares, one.shares[-1]] if one.shares else []
        axes.step(
            x,
            y,
            where="post",
            label=_label(one),
            color=TRANSPORT_COLOURS[one.dns_transport],
            linestyle=TRANSPORT_DASHES[one.dns_transport],
        )
    axes.set_xlim(0.5, limit)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=8, integer=True))
    axes.set_ylim(0, TOP)
    axes.set_yticks([0, 0.25, 0.5, 0.75, 1])
    axes.set_xlabel("query response time, round trips")
    add_key(axes)


def _title(one: ExchangeSeries) -> str:
    return f"{one.place}{'  ' if one.place == one.profile else chr(10)}(RTT {one.rtt_ms:.1f} ms)"


def _label(one: ExchangeSeries) -> str:
    text = f"{one.label}: median {estimate_text(one.median_ms, 2)} ms, c = {number_text(one.remainder_ms, 2)} ms"
    return text + (f", {one.failed_count} of {one.n} failed" if one.failed_count else "")


def _rows(one: ExchangeSeries) -> list[dict[str, Value]]:
    return [
        {
            "profile": one.profile,
            "resolver_extra_rtt_ms": one.resolver_extra_rtt_ms,
            "resolver_cache": one.resolver_cache,
            "dns_transport": one.dns_transport,
            "requested_handshake_mode": one.requested_handshake_mode,
            "rtt_ms": one.rtt_ms,
            "expected_round_trips_count": one.expected_round_trips,
            "query_response_time_round_trips": value,
            "cumulative_share_ratio": share,
        }
        for value, share in zip(one.round_trips, one.shares, strict=True)
    ]
