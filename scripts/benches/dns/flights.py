"""The critical path of a cold exchange: the packets of each flight needed by the other side to go on.

For: round trips and bytes of the closed form T = k x RTT + bytes x 8 / rate + c, from the packets on the link. Not for:
capturing or querying (`cold`).

The path is read backwards from the response. A flight's decisive packet is the last packet received before the other
side went on (pure TCP acknowledgements let no side go on). Other packets of the same side count when they entered the
link before the decisive packet, but after the packet awaited by the side: these packets delayed the decisive packet.
The unsent rest of earlier packets, at the arrival of the awaited packet, counts, too. An example: an acknowledgement of
a flight's first half, padded to 1,200 bytes, keeps a slow uplink busy when the second half arrives. Packets behind the
decisive packet do not count.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from benches.dns.path_capture import Crossing


class UnclearError(ValueError):
    """The packets of an exchange cannot be told apart."""


@dataclass(frozen=True)
class Flight:
    """The counted packets sent in a row by a side."""

    up: bool
    packets: tuple[int, ...]
    """The IP bytes of each packet."""
    entered_ns: int
    """The time of the decisive packet's entry into the link."""
    delivered_ns: int
    waited_ns: int
    """The time from the arrival of the awaited packet, or from the start of the query, to `entered_ns`."""
    left_bytes: float = 0.0
    """The bytes of the side's earlier packets still unsent at the arrival of the awaited packet."""

    @property
    def ip_bytes(self) -> float:
        """Return all bytes sent on the line."""
        return sum(self.packets) + self.left_bytes


@dataclass(frozen=True)
class Rates:
    """A link without loss or jitter."""

    one_way_up_ms: float
    one_way_down_ms: float
    up_bps: float | None
    down_bps: float | None

    @property
    def rtt_ms(self) -> float:
        """The round trip: the sum of both delays."""
        return self.one_way_up_ms + self.one_way_down_ms

    def serialization_ms(self, up_bytes: float, down_bytes: float) -> float:
        """Return the transmission time of bytes on the link; 0 without a rate."""
        up = up_bytes * 8e3 / self.up_bps if self.up_bps else 0.0
        return up + (down_bytes * 8e3 / self.down_bps if self.down_bps else 0.0)

    def left_bytes(self, packet: Crossing, at_ns: int) -> float:
        """Return the unsent bytes of a packet at an instant."""
        delay_ms, rate_bps = (self.one_way_up_ms, self.up_bps) if packet.up else (self.one_way_down_ms, self.down_bps)
        if not rate_bps:
            return 0.0
        sent_ns = packet.delivered_ns - delay_ms * 1e6
        return min(max(sent_ns - at_ns, 0.0) * rate_bps / 8e9, float(packet.ip_bytes))

    def closed_form_ms(self, round_trips: int, up_bytes: float, down_bytes: float) -> float:
        """Return the time of an exchange between hosts without processing time."""
        return round_trips * self.rtt_ms + self.serialization_ms(up_bytes, down_bytes)


UNLIMITED = Rates(0.0, 0.0, None, None)
"""The rates for counting flights without bytes."""


def flow_of(crossings: Sequence[Crossing], wanted_ns: int, answered_ns: int) -> list[Crossing]:
    """Find the packets of the single flow begun between the start of the query and the answer."""
    first: dict[tuple[int, int], int] = {}
    for crossing in crossings:
        first.setdefault((crossing.protocol, crossing.client_port), crossing.entered_ns)
    began = [flow for flow, entered_ns in first.items() if wanted_ns <= entered_ns < answered_ns]
    if len(began) != 1:
        raise UnclearError(f"{len(began)} flows began during an exchange")
    return [one for one in crossings if (one.protocol, one.client_port) == began[0]]


def critical_path(
    flow: Sequence[Crossing], wanted_ns: int, answered_ns: int, query_bytes: int, response_bytes: int, rates: Rates
) -> list[Flight]:
    """Return the flights, first to last; the first goes up and the last comes down."""
    flights: list[Flight] = []
    before_ns, up, least_bytes = answered_ns, False, [query_bytes, response_bytes]
    while True:
        # Only the last two flights are known to carry something of a known size.
        least = least_bytes.pop() if least_bytes else 0
        decisive = _decisive(flow, before_ns, up=up, least_bytes=least)
        if decisive is None:
            break
        cause = _decisive(flow, decisive.entered_ns, up=not up, least_bytes=least_bytes[-1] if least_bytes else 0)
        since_ns = cause.delivered_ns if cause else wanted_ns
        packets = [
            one.ip_bytes for one in flow if one.up == up and since_ns <= one.entered_ns and _not_behind(one, decisive)
        ]
        waited_ns = decisive.entered_ns - since_ns
        left_bytes = sum(rates.left_bytes(one, since_ns) for one in flow if one.up == up and one.entered_ns < since_ns)
        flight = Flight(up, tuple(packets), decisive.entered_ns, decisive.delivered_ns, waited_ns, left_bytes)
        flights.insert(0, flight)
        before_ns, up = decisive.entered_ns, not up
    if not flights or not flights[0].up:
        raise UnclearError(f"an exchange whose {len(flights)} flights do not begin with the client's")
    return flights


def _decisive(flow: Sequence[Crossing], before_ns: int, *, up: bool, least_bytes: int) -> Crossing | None:
    arrived = [
        one
        for one in flow
        if one.up == up and one.delivered_ns <= before_ns and one.says_something and one.payload_bytes >= least_bytes
    ]
    return max(arrived, key=lambda one: one.delivered_ns, default=None)


def _not_behind(one: Crossing, decisive: Crossing) -> bool:
    return (one.entered_ns, one.delivered_ns) <= (decisive.entered_ns, decisive.delivered_ns)
