"""Distribution of the cold DNS exchange in round trips, one panel per access profile, closed form marked.

For: seeing at a glance how many round trips a transport takes and what it costs beyond them.
Not for: computing medians.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes

from resolab.plots.save import Drawing, Value
from resolab.plots.style import TRANSPORT_COLOURS, TRANSPORT_DASHES, house_style, new_figure
from resolab.plots.words import estimate_text, mode_label, number_text, transport_label
from resolab.stats import Estimate

PANELS_A_ROW = 2
TOP = 1.15
FAR_RIGHT = 1e3


@dataclass(frozen=True, slots=True)
class ExchangeSeries:
    """The cold exchanges of one transport on one profile; failed ones count in `n` but have no value.

    `round_trips` rise, and `shares` says of each which part of all `n` took no longer: every exchange, or quantiles.
    """

    profile: str
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
        """Name the series in a legend."""
        mode = "" if self.requested_handshake_mode == "full" else " " + mode_label(self.requested_handshake_mode)
        return transport_label(self.dns_transport) + mode


def draw_exchanges(series: Sequence[ExchangeSeries], caption: str) -> Drawing:
    """Draw one panel per profile, in the order in which the series name them."""
    profiles = list(dict.fromkeys(one.profile for one in series))
    columns = min(PANELS_A_ROW, len(profiles))
    lines = math.ceil(len(profiles) / columns)
    entries = max(sum(one.profile == profile for one in series) for profile in profiles)
    with house_style():
        figure = new_figure(4.5 * columns + 0.4, lines * (2.4 + 0.19 * entries))
        grid = figure.subplots(lines, columns, squeeze=False, sharex=True, sharey=True)
        for axes, profile in zip(grid.flat, profiles, strict=False):
            _panel(axes, [one for one in series if one.profile == profile])
        for spare in grid.flat[len(profiles) :]:
            spare.set_visible(False)
        limit = _right_end(series)
        grid.flat[0].set_xlim(0.5, limit)
        grid.flat[0].set_xticks(range(1, math.ceil(limit)))
        for axes in grid[:, 0]:
            axes.set_ylabel("share of exchanges")
    rows = [row for one in series for row in _rows(one)]
    return Drawing("dns_exchange", caption, figure, rows)


def _right_end(series: Sequence[ExchangeSeries]) -> float:
    expected = max(one.expected_round_trips for one in series)
    slowest = max((one.round_trips[-1] for one in series if one.round_trips), default=expected)
    # A single straggler must not squeeze everybody else to the left; the caption says where the axis ends.
    return max(expected + 0.7, min(slowest * 1.05, expected + 2.0))


def _panel(axes: Axes, series: Sequence[ExchangeSeries]) -> None:
    axes.set_title(f"{series[0].profile}  (RTT {series[0].rtt_ms:.1f} ms)")
    axes.grid(visible=True, axis="y")
    for trips in sorted({one.expected_round_trips for one in series}):
        axes.axvline(trips, color="#999999", linewidth=0.8, linestyle=(0, (1, 2)))
        axes.annotate(
            f"k = {trips}",
            (trips, TOP),
            xytext=(3, -2),
            textcoords="offset points",
            ha="left",
            va="top",
            fontsize=7,
            color="#555555",
            annotation_clip=False,
        )
    for one in series:
        x = [one.round_trips[0], *one.round_trips, FAR_RIGHT] if one.shares else []
        y = [0.0, *one.shares, one.shares[-1]] if one.shares else []
        axes.step(
            x,
            y,
            where="post",
            label=_legend(one),
            color=TRANSPORT_COLOURS[one.dns_transport],
            linestyle=TRANSPORT_DASHES[one.dns_transport],
        )
    axes.set_ylim(0, TOP)
    axes.set_yticks([0, 0.25, 0.5, 0.75, 1])
    axes.tick_params(labelbottom=True)
    axes.set_xlabel("query response time, round trips")
    axes.legend(loc="upper left", bbox_to_anchor=(-0.02, -0.2), handlelength=3.2, borderpad=0, labelspacing=0.3)


def _legend(one: ExchangeSeries) -> str:
    text = f"{one.label}: median {estimate_text(one.median_ms, 2)} ms, c = {number_text(one.remainder_ms, 2)} ms"
    return text + (f", {one.failed_count} of {one.n} failed" if one.failed_count else "")


def _rows(one: ExchangeSeries) -> list[dict[str, Value]]:
    return [
        {
            "profile": one.profile,
            "dns_transport": one.dns_transport,
            "requested_handshake_mode": one.requested_handshake_mode,
            "rtt_ms": one.rtt_ms,
            "expected_round_trips_count": one.expected_round_trips,
            "query_response_time_round_trips": value,
            "cumulative_share_ratio": share,
        }
        for value, share in zip(one.round_trips, one.shares, strict=True)
    ]
