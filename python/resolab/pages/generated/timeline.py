"""The begin and answer of each request of a generated page: a simple load on one access network, by stated rules.

A request begins `due_ms` after the earliest time of its discoverer. The first request at a host pays a round trip each
for the name, for TCP and for TLS (HTTP/3: for the name and for QUIC). Other requests wait for the connection. An answer
takes the round trip, the server's time, a round trip for each doubling of the first window, and the bytes at the
network's rate. The rules have no queue, no loss, and no shared capacity. The result gives an order and the requests
before the load event; no browser loaded the page. Not for: page load times.
"""

import heapq
import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from resolab.pages.generated import published
from resolab.pages.generated.chance import UniformStream
from resolab.pages.generated.hosts import PlannedHost
from resolab.pages.generated.late_requests import BY_RUNS
from resolab.pages.generated.request_forms import RequestForm
from resolab.pages.generated.sizes import BodySizes
from resolab.pages.generated.tree import Node
from resolab.pages.model import Discovery, Kind, ScriptMode

_HOLDS_NOTHING = (Kind.XHR, Kind.FETCH, Kind.BEACON)
"""Kinds ignored by the load event (HTML, section 13.2.7)."""


@dataclass(slots=True, kw_only=True)
class GeneratedInstants:
    """The instants of one request, in ms since the page's own request."""

    due_ms: float | None
    place: float | None
    server_time_ms: float
    start_ms: float = 0.0
    first_byte_ms: float = 0.0
    end_ms: float = 0.0
    run_ms: float = 0.0
    """The earliest time for requests discovered by this request."""


@dataclass(frozen=True, slots=True)
class Timeline:
    """The instants of all requests, by position in the tree, and the page's events."""

    instants: list[GeneratedInstants]
    dom_content_loaded_ms: float
    load_ms: float


def draw_timeline(
    chance: UniformStream,
    nodes: Sequence[Node],
    manners: Sequence[RequestForm],
    bodies: Sequence[BodySizes],
    hosts: Sequence[PlannedHost],
) -> Timeline:
    """Draw the parts of the instants, and simulate the load."""
    instants = [_draw(chance, node, manner, hosts) for node, manner in zip(nodes, manners, strict=True)]
    delays = [chance.log_normal(published.AFTER_LOAD_MEDIAN_MS, published.AFTER_LOAD_LOG_SD) for _ in nodes]
    load = _Load(nodes, manners, bodies, hosts, instants)
    load.run([0])
    complete, loaded = load.complete_ms(), load.compute_load_event_ms()
    late = [place for place, node in enumerate(nodes) if node.is_after_load and not _is_after(nodes, node.parent)]
    for place in late:
        instants[place].due_ms = loaded + delays[place] - load.could_ask(place)
    load.run(late)
    return Timeline(instants, complete, loaded)


def _is_after(nodes: Sequence[Node], place: int | None) -> bool:
    return place is not None and nodes[place].is_after_load


def _draw(chance: UniformStream, node: Node, manner: RequestForm, hosts: Sequence[PlannedHost]) -> GeneratedInstants:
    due = chance.log_normal(published.DUE_MEDIAN_MS, published.DUE_LOG_SD)
    late = chance.log_normal(published.LATE_DUE_MEDIAN_MS, published.LATE_DUE_LOG_SD)
    at = chance.uniform()
    in_head = node.kind is Kind.STYLESHEET or node.is_preload or manner.priority == "High"
    place = at * published.HEAD_PLACE_MAX if in_head else published.HEAD_PLACE_MAX + at * (1 - published.HEAD_PLACE_MAX)
    level = hosts[node.host].server_time_ms * (published.SERVER_DOCUMENT_FACTOR if node.is_page_document else 1.0)
    server = min(published.SERVER_MAX_MS, chance.log_normal(level, published.SERVER_REQUEST_LOG_SD))
    if node.discovery is Discovery.LATE:
        due = late
    return GeneratedInstants(
        due_ms=due if node.discovery in BY_RUNS else None,
        place=place if node.discovery is Discovery.DOCUMENT else None,
        server_time_ms=server,
    )


class _Load:
    """Goes through requests in the order of their start."""

    def __init__(
        self,
        nodes: Sequence[Node],
        manners: Sequence[RequestForm],
        bodies: Sequence[BodySizes],
        hosts: Sequence[PlannedHost],
        instants: Sequence[GeneratedInstants],
    ) -> None:
        self._nodes, self._manners, self._bodies = nodes, manners, bodies
        self._hosts, self._instants = hosts, instants
        self._children: dict[int, list[int]] = defaultdict(list)
        self._ready: dict[int, float] = {}
        """The instant of each host's open connection."""
        self._held: dict[int, float] = defaultdict(float)
        """Until when scripts and style sheets hold a document's next script up."""
        self._document = next(place for place, node in enumerate(nodes) if node.is_page_document)
        for place, node in enumerate(nodes):
            if node.parent is not None:
                self._children[node.parent].append(place)

    def run(self, places: Sequence[int]) -> None:
        """Begin these requests and their descendants; requests after the load event wait for their own call."""
        waiting = [(self._start(place), place) for place in places]
        heapq.heapify(waiting)
        while waiting:
            start, place = heapq.heappop(waiting)
            self._go(place, start)
            for child in self._children[place]:
                if self._nodes[child].is_after_load == self._nodes[place].is_after_load:
                    heapq.heappush(waiting, (self._start(child), child))

    def could_ask(self, place: int) -> float:
        """Return the earliest time of a request by its discoverer."""
        parent = self._nodes[place].parent
        if parent is None:
            return 0.0
        above = self._instants[parent]
        if self._nodes[place].discovery in {Discovery.REDIRECT, Discovery.STYLESHEET}:
            return above.end_ms
        return above.run_ms

    def _start(self, place: int) -> float:
        node, own = self._nodes[place], self._instants[place]
        since = self.could_ask(place)
        if own.due_ms is not None:
            return since + own.due_ms
        if own.place is not None and node.parent is not None:
            above = self._instants[node.parent]
            return above.first_byte_ms + own.place * (above.end_ms - above.first_byte_ms)
        return since + (published.STYLE_MS if node.discovery is Discovery.STYLESHEET else 0.0)

    def _go(self, place: int, start: float) -> None:
        node, own = self._nodes[place], self._instants[place]
        host = self._hosts[node.host]
        # The name from a resolver on the access network, and the handshakes of the host's connection.
        setup = published.ACCESS_ROUND_TRIP_MS + host.round_trip_ms * (1 if host.has_https_record else 2)
        ready = self._ready.setdefault(node.host, start + setup)
        own.start_ms = start
        own.first_byte_ms = max(start, ready) + host.round_trip_ms + own.server_time_ms
        own.end_ms = own.first_byte_ms + _receive_ms(self._bodies[place].wire_bytes, host.round_trip_ms)
        own.run_ms = self._run(place)

    def _run(self, place: int) -> float:
        """Return the earliest time for requests of this parent, by the rules of `recordings.inference.timing`."""
        node, own = self._nodes[place], self._instants[place]
        mode = self._manners[place].script_mode if node.discovery is Discovery.DOCUMENT else None
        if node.kind is Kind.DOCUMENT:
            return own.first_byte_ms
        if node.kind is Kind.STYLESHEET and node.discovery is Discovery.DOCUMENT:
            self._held[node.frame] = max(self._held[node.frame], own.end_ms)
        elif mode is ScriptMode.SYNC:
            self._held[node.frame] = max(self._held[node.frame], own.end_ms)
            return self._held[node.frame]
        elif mode is ScriptMode.DEFER:
            return max(own.end_ms, self._instants[node.frame].end_ms)
        return own.end_ms

    def complete_ms(self) -> float:
        """Return DOMContentLoaded: the document and the scripts delaying the event have run."""
        ended = [self._instants[self._document].end_ms]
        ended.extend(
            self._instants[place].run_ms
            for place, node in enumerate(self._nodes)
            if node.frame == self._document and self._manners[place].script_mode in {ScriptMode.SYNC, ScriptMode.DEFER}
        )
        return max(ended) + published.PARSE_MS

    def compute_load_event_ms(self) -> float:
        """Return the load event: all delaying requests have ended, and all requests of the load have begun."""
        ended = [self.complete_ms()]
        for node, own in zip(self._nodes, self._instants, strict=True):
            if not node.is_after_load:
                ended.append(own.start_ms if node.kind in _HOLDS_NOTHING else own.end_ms)
        return max(ended) + published.PARSE_MS


def _receive_ms(wire_bytes: int, round_trip_ms: float) -> float:
    doublings = math.floor(math.log2(1 + wire_bytes / published.FIRST_WINDOW_BYTES))
    return doublings * round_trip_ms + wire_bytes * 8 / published.ACCESS_DOWN_BPS * 1e3
