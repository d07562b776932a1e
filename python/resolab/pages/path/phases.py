"""One request's time as phases without gaps or overlaps, from its start to its end.

For: the activity in each stretch of a critical path. Not for: the choice of stretches (`critical`).

Whole nanoseconds make the parts sum up exactly to their total. Browsers report look-up and connecting with the request
opening a connection; other requests waiting for this connection show a gap. Over HTTP/2 and HTTP/3 no other cause of
the gap exists, so the gap gets the phases of the opening.
"""

import enum
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from resolab.pages.model import PageModel
from resolab.pages.path.load import LoadTimeline, RequestInstants

_NS = 1_000_000
_SEEN_FROM_NS = 100_000
"""A shorter time is a recorder's zero."""


class PhaseKind(enum.StrEnum):
    """The activities of a request's time."""

    BROWSER = "browser"
    """Queueing, parsing, computing, timers."""
    DNS = "dns"
    CONNECT = "connect"
    """The handshake of TCP."""
    HANDSHAKE = "handshake"
    """The handshake of TLS, or the combined handshake of QUIC."""
    ROUND_TRIP = "round_trip"
    """The round trip of the request itself, for a host with a known round trip; else part of `server`."""
    SERVER = "server"
    TRANSFER = "transfer"
    UNTOLD = "untold"
    """Time between known instants with an unknown activity."""


SETUP = (PhaseKind.DNS, PhaseKind.CONNECT, PhaseKind.HANDSHAKE)


class RequestPhase(NamedTuple):
    """A stretch of one request's time, in ns."""

    part: PhaseKind
    begin_ns: int
    end_ns: int


def ns(instant_ms: float) -> int:
    """Convert an instant to ns; no instant lies before the navigation."""
    return max(0, round(instant_ms * _NS))


def end_ns(one: RequestInstants) -> int:
    """Return the arrival of a request's last byte, or its last known instant."""
    told = (one.response_end_ms, one.response_start_ms, one.request_start_ms, one.connect_end_ms, one.dns_end_ms)
    return max(ns(one.start_ms), ns(next((at for at in told if at is not None), one.start_ms)))


class _Cut:
    """Cuts a request's time into phases, each from the end of the phase before."""

    def __init__(self, begin: int, end: int) -> None:
        self.at, self.end = begin, end
        self.phases: list[RequestPhase] = []

    def assign_until(self, part: PhaseKind, instant: int | None) -> None:
        """Assign the time before an instant to a part; an instant out of order gets nothing."""
        if instant is not None and (to := min(instant, self.end)) > self.at:
            self.phases.append(RequestPhase(part, self.at, to))
            self.at = to


def _own(one: RequestInstants, round_trip_ns: int) -> list[RequestPhase]:
    """Tell the phases the browser gave to this request itself."""
    cut = _Cut(ns(one.start_ms), end_ns(one))
    sent = _maybe(one.request_start_ms)
    if sent is None and one.response_start_ms is None:
        cut.assign_until(PhaseKind.UNTOLD, cut.end)  # Another origin that lets nobody read its phases, or no answer.
        return cut.phases
    looked_up, answered = _maybe(one.dns_start_ms), _maybe(one.dns_end_ms)
    if looked_up is not None and answered is not None:
        cut.assign_until(PhaseKind.BROWSER, looked_up)
        cut.assign_until(PhaseKind.DNS, answered)
    # In early data a request leaves before the handshake has ended: what is left of it nobody waited for.
    connecting, connected = (_limit_instant(_maybe(at), sent) for at in (one.connect_start_ms, one.connect_end_ms))
    if connecting is not None and connected is not None:
        secure = connecting if one.protocol == "h3" else _limit_instant(_maybe(one.secure_start_ms), sent)
        cut.assign_until(PhaseKind.BROWSER, connecting)
        cut.assign_until(PhaseKind.CONNECT, connected if secure is None else min(secure, connected))
        cut.assign_until(PhaseKind.HANDSHAKE, connected)
    cut.assign_until(PhaseKind.BROWSER, sent)
    responded = _maybe(one.response_start_ms)
    if responded is None:
        responded = cut.end
    cut.assign_until(PhaseKind.ROUND_TRIP, min(cut.at + round_trip_ns, responded))
    cut.assign_until(PhaseKind.SERVER, responded)
    cut.assign_until(PhaseKind.TRANSFER, cut.end)
    return cut.phases


def _is_early(one: RequestInstants) -> bool:
    sent, connected = one.request_start_ms, one.connect_end_ms
    return sent is not None and connected is not None and ns(connected) - ns(sent) >= _SEEN_FROM_NS


def _maybe(instant_ms: float | None) -> int | None:
    return None if instant_ms is None else ns(instant_ms)


def _limit_instant(instant: int | None, limit: int | None) -> int | None:
    return instant if instant is None or limit is None else min(instant, limit)


def phases_of_load(
    model: PageModel, load: LoadTimeline, round_trips_ms: Mapping[int, float]
) -> dict[int, list[RequestPhase]]:
    """Tell the phases of every request, by place; `round_trips_ms` is by host."""
    own = {
        place: _own(one, ns(round_trips_ms.get(model.resources[place].host, 0.0)))
        for place, one in load.requests.items()
    }
    setups: dict[int, list[RequestPhase]] = defaultdict(list)
    for place, phases in own.items():
        setups[model.resources[place].host] += [phase for phase in phases if phase.part in SETUP]
    for of_host in setups.values():
        of_host.sort(key=lambda phase: (phase.begin_ns, phase.end_ns))
    for place, phases in own.items():
        waited = load.requests[place].is_multiplexed and not any(phase.part in SETUP for phase in phases)
        if waited and (others := setups[model.resources[place].host]):
            own[place] = [part for phase in phases for part in _divide_idle_time(phase, others)]
    return own


def _divide_idle_time(phase: RequestPhase, others: Sequence[RequestPhase]) -> Iterator[RequestPhase]:
    """Divide idle time of the browser by the activity of the host's other requests in this time."""
    if phase.part is not PhaseKind.BROWSER:
        yield phase
        return
    at = phase.begin_ns
    for other in others:
        begin, end = max(other.begin_ns, at), min(other.end_ns, phase.end_ns)
        if end > begin:
            if begin > at:
                yield RequestPhase(PhaseKind.BROWSER, at, begin)
            yield RequestPhase(other.part, begin, end)
            at = end
    if phase.end_ns > at:
        yield RequestPhase(PhaseKind.BROWSER, at, phase.end_ns)


def find_round_trips(model: PageModel, load: LoadTimeline) -> dict[int, float]:
    """Return the smallest round trip of each host's handshakes in this load, in ms by host: TCP's, else QUIC's.

    A request sent as early data cuts its handshake short; such a handshake says nothing about the round trip.
    """
    seen: dict[int, int] = {}
    for place, one in load.requests.items():
        if _is_early(one):
            continue
        trip = PhaseKind.HANDSHAKE if one.protocol == "h3" else PhaseKind.CONNECT
        for part, begin, end in _own(one, 0):
            if part is trip and end - begin >= _SEEN_FROM_NS:
                host = model.resources[place].host
                seen[host] = min(seen.get(host, end - begin), end - begin)
    return {host: took / _NS for host, took in seen.items()}
