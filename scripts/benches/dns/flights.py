"""The critical path of a cold exchange: which packets each flight had to bring before the other side could go on.

For: round trips and bytes of the closed form T = k x RTT + bytes x 8 / rate + c, from what crossed the link. Not for:
capturing or asking (`cold`).

It is read backwards from the response. A flight's decisive packet is the last one that arrived before the other side
went on (pure TCP acknowledgements let nobody go on); packets of the same side that entered the link before it, but
after what that side had waited for, were in its way and count too. So does what the link had not yet put on the line of
packets before those, when what was waited for came: an acknowledgement of the first half of a flight, padded to 1,200
bytes, keeps a slow uplink busy when the second half is there. Packets behind the decisive one do not count.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from benches.dns.path_capture import Crossing


class UnclearError(ValueError):
    """The packets of an exchange cannot be told apart."""


@dataclass(frozen=True)
class Flight:
    """Packets one side sent in a row, as far as they count."""

    up: bool
    packets: tuple[int, ...]
    """IP bytes of each."""
    entered_ns: int
    """When the decisive packet entered the link."""
    delivered_ns: int
    waited_ns: int
    """From the arrival of what the side had waited for, or from wanting the answer, to that."""
    left_bytes: float = 0.0
    """Of earlier packets of the side, what was still to be put on the line at that arrival."""

    @property
    def ip_bytes(self) -> float:
        """All that had to be put on the line."""
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
        """Both delays."""
        return self.one_way_up_ms + self.one_way_down_ms

    def serialization_ms(self, up_bytes: float, down_bytes: float) -> float:
        """Return the time bytes take to be put on the link; none without a rate."""
        up = up_bytes * 8e3 / self.up_bps if self.up_bps else 0.0
        return up + (down_bytes * 8e3 / self.down_bps if self.down_bps else 0.0)

    def left_bytes(self, packet: Crossing, at_ns: int) -> float:
        """Return how many of a packet's bytes the link has still to put on the line."""
        delay_ms, rate_bps = (self.one_way_up_ms, self.up_bps) if packet.up else (self.one_way_down_ms, self.down_bps)
        if not rate_bps:
            return 0.0
        sent_ns = packet.delivered_ns - delay_ms * 1e6
        return min(max(sent_ns - at_ns, 0.0) * rate_bps / 8e9, float(packet.ip_bytes))

    def closed_form_ms(self, round_trips: int, up_bytes: float, down_bytes: float) -> float:
        """Return what an exchange takes whose hosts take no time."""
        return round_trips * self.rtt_ms + self.serialization_ms(up_bytes, down_bytes)


UNLIMITED = Rates(0.0, 0.0, None, None)
"""For who counts flights and no bytes."""


def flow_of(crossings: Sequence[Crossing], wanted_ns: int, answered_ns: int) -> list[Crossing]:
    """Find the packets of the one flow that began between wanting the answer and having it."""
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
