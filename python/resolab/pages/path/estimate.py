"""The cost of look-ups for a page, by structure alone: a closed form over the tree of discoverers.

For: the growth of a load time with the cost of a look-up, before any load. Pure. Not for: the course of a load
(`critical`), or links limited by capacity or loss: bytes take their time in the recording.

Requests come in the order of their starts. The first request of a name looks the name up and connects; others of this
name wait. Then a request takes a round trip, its server's time and its transfer. Its discoveries begin by the model's
`place` and `due_ms`. When a look-up costs d more, the load takes d times the look-ups of its longest chain more, until
another chain is the longest. This number is the slope at d, the blocking look-ups.
"""

import heapq
from collections import defaultdict
from collections.abc import Collection, Container, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

import msgspec

from resolab.basics.protocols import cold_exchange_round_trips, page_handshake_round_trips
from resolab.basics.records import HttpVersion
from resolab.pages.facts import holds_load
from resolab.pages.model import Discovery, Host, Outcome, PageModel, Resource, ScriptMode
from resolab.pages.path.delayed_requests import DocumentHead, DocumentHeads
from resolab.pages.path.holders import list_blockers
from resolab.pages.path.instant import START, EstimatedInstant


class LoadEstimate(msgspec.Struct, frozen=True, kw_only=True):
    """The estimated load time, and its growth with the cost of look-ups."""

    load_ms: float
    """The time to the last byte of the last request before the load event, in ms."""
    blocking_lookups_count: int
    """Look-ups of the longest chain: the slope of the load time over the cost of a look-up, at this cost."""
    lookups_count: int
    """Number of names looked up."""


class LookupPrediction(msgspec.Struct, frozen=True, kw_only=True):
    """The time added to a page by name resolution over one transport."""

    lookup_ms: float
    """Load time with look-ups less load time without."""
    load_ms: float
    blocking_lookups_count: int
    lookups_count: int


class AnnouncementMode(StrEnum):
    """The client's source of a page's names before their use, ordered from late to early."""

    NOT = "not"
    WITH_FIRST = "with_first"
    """The answers come with the answer for the document's own name."""
    HTTPS_RECORD = "https_record"
    """The HTTPS record of the document's own name lists the names; the client asks at the record's arrival."""
    SERVER_PUSH = "server_push"
    """The answers come a round trip after the document's request, independent of the server's time."""
    EARLY_HINTS = "early_hints"
    """The names come then, and are asked for."""


class _Resolver(NamedTuple):
    """A resolver; the first look-up opens the connection."""

    setup_ms: float
    exchange_ms: float
    """The time of a look-up with a cached answer."""
    announced: AnnouncementMode = AnnouncementMode.NOT
    recursion_ms: float = 0.0
    """The additional time of a look-up without a cached answer."""
    misses: Container[int] = ()
    """Hosts without a cached answer."""

    def takes_ms(self, host: int) -> float:
        return self.exchange_ms + (self.recursion_ms if host in self.misses else 0.0)


def load_estimate(
    model: PageModel, *, lookup_ms: float = 0.0, connect_ms: float | None = None, round_trip_ms: float | None = None
) -> LoadEstimate:
    """Estimate a load with a look-up time of `lookup_ms` for each name.

    Without `connect_ms` a name's connection takes the round trips of its handshakes. Without `round_trip_ms` a round
    trip is the recorded round trip of each host, or the page's own for a host without a value.
    """
    return _Walk(model, _Resolver(0.0, lookup_ms), connect_ms, round_trip_ms).estimate()


def predict_lookups(
    model: PageModel,
    *,
    dns_transport: str,
    resolver_rtt_ms: float,
    handshake_mode: str = "full",
    connection_state: str = "cold",
    connect_ms: float | None = None,
    connect_round_trips: int | None = None,
    round_trip_ms: float | None = None,
    announced: AnnouncementMode = AnnouncementMode.NOT,
    recursion_ms: float = 0.0,
    misses: Collection[int] | None = None,
) -> LookupPrediction:
    """Predict the time of name resolution: a round trip for each look-up, and once the opening of the connection.

    The resolver answers at once. Names of the hosts in `misses`, given by index in the model, take `recursion_ms` more;
    `None`: all hosts. Names in `announced` are asked for before their use, or not at all. A connection to the page
    takes `connect_ms`, else `connect_round_trips`, else the round trips of each host's protocols.
    """
    cold = cold_exchange_round_trips(dns_transport, handshake_mode)
    opening = 0 if connection_state == "warm" else cold - 1
    missed = range(len(model.hosts)) if misses is None else misses
    resolver = _Resolver(opening * resolver_rtt_ms, resolver_rtt_ms, announced, recursion_ms, missed)
    with_names, without = (
        _Walk(model, one, connect_ms, round_trip_ms, connect_round_trips).estimate()
        for one in (resolver, _Resolver(0.0, 0.0))
    )
    return LookupPrediction(
        lookup_ms=with_names.load_ms - without.load_ms,
        load_ms=with_names.load_ms,
        blocking_lookups_count=with_names.blocking_lookups_count,
        lookups_count=with_names.lookups_count,
    )


class _Walk:
    """Walks the requests in the order of their begin."""

    def __init__(
        self,
        model: PageModel,
        resolver: _Resolver,
        connect_ms: float | None,
        round_trip_ms: float | None,
        connect_round_trips: int | None = None,
    ) -> None:
        self._model = model
        self._resolver = resolver
        self._trips = [_round_trip(model, host, round_trip_ms) for host in model.hosts]
        self._connects = [
            (_handshakes(host) if connect_round_trips is None else connect_round_trips) * trip
            if connect_ms is None
            else connect_ms
            for host, trip in zip(model.hosts, self._trips, strict=True)
        ]
        self._ready: dict[int, EstimatedInstant] = {}
        """The first instant for a request to each resolved host."""
        self._first_bytes: dict[int, EstimatedInstant] = {}
        self._ends: dict[int, EstimatedInstant] = {}
        self._starts: dict[int, EstimatedInstant] = {}
        self._holders = list_blockers(model)
        self._heads = DocumentHeads(model)
        self._held: set[int] = set()
        """Requests held back by a head, by index."""
        self._queue: list[tuple[EstimatedInstant, int]] = [(START, 0)]
        self._document = 0 if resolver.announced is AnnouncementMode.WITH_FIRST else _find_document(model)
        self._announced_ms: float | None = None
        """The time of the announcement of all names, or of their answers; `None`: still no announcement."""

    def estimate(self) -> LoadEstimate:
        waiting, missing = self._dependencies()
        while self._queue:
            start, place = heapq.heappop(self._queue)
            if not self._may_begin(place, start):
                continue
            self._exchange(place, start)
            self._have_heads_know(place, start)
            for child in waiting[place]:
                missing[child] -= 1
                if not missing[child]:
                    heapq.heappush(self._queue, (self._start(child), child))
        last = max(self._find_awaited_ms(place) for place in self._ends)
        return LoadEstimate(load_ms=last.ms, blocking_lookups_count=last.lookups, lookups_count=len(self._ready))

    def _find_awaited_ms(self, place: int) -> EstimatedInstant:
        """Return the instant of a request delaying the load event: its end, or its start for scripts' fetches."""
        return self._ends[place] if holds_load(self._model.resources[place]) else self._starts[place]

    def _dependencies(self) -> tuple[Mapping[int, Sequence[int]], dict[int, int]]:
        """Return the dependents of each request, and its number of dependencies, up to the load event."""
        waiting: dict[int, list[int]] = defaultdict(list)
        missing = {}
        for place, one in enumerate(self._model.resources):
            if one.parent is None or one.after_load:
                continue
            needed = {one.parent, *self._list_blockers(one)}
            missing[place] = len(needed)
            for other in needed:
                waiting[other].append(place)
        return waiting, missing

    def _list_blockers(self, one: Resource) -> Sequence[int]:
        """List the blockers of the requesting script."""
        if one.discovery is not Discovery.SCRIPT or one.parent is None:
            return ()
        return self._holders.get(one.parent, ())

    def _may_begin(self, place: int, start: EstimatedInstant) -> bool:
        """Hold a request back if its document's head does; release or check the request at its turn."""
        head = self._heads.find_delaying_head(place)
        if head is None:
            return True
        waits = place in self._held
        if place in self._starts or (waits and head.turn != (start, place)):
            return False  # It has begun, or another one stands in the queue for all that wait with it.
        free = head.free_from(start)
        if free is None:
            if waits:
                self._held.discard(place)
                head.let_first_go()
                self._give_turn(head, start)
            return True
        if not waits:
            self._held.add(place)
            head.hold(place)
        if head.first == place:
            self._give_turn(head, free)
        return False

    def _give_turn(self, head: DocumentHead, at: EstimatedInstant) -> None:
        """Queue the first waiting request of a head for a check at this instant."""
        head.turn = None if head.first is None else (at, head.first)
        if head.turn is not None:
            heapq.heappush(self._queue, head.turn)

    def _have_heads_know(self, place: int, start: EstimatedInstant) -> None:
        """Inform a document's head of a begun request; the last script may close the head before the next check."""
        head = self._heads.note(place, self._ends[place], self._ran(place))
        if head is not None and head.turn is not None:
            free = head.free_from(start) or start
            if free < head.turn[0]:
                self._give_turn(head, free)

    def _exchange(self, place: int, start: EstimatedInstant) -> None:
        one = self._model.resources[place]
        self._starts[place] = start
        if one.outcome is Outcome.FAILED:
            self._first_bytes[place] = self._ends[place] = start
            return
        if one.host not in self._ready:
            self._ready[one.host] = self._answer_look_up(one.host, start).later(self._connects[one.host])
        sent = max(start, self._ready[one.host])
        if place == self._document:
            self._announced_ms = self._announcement_ms(one, sent)
        self._first_bytes[place] = sent.later(self._trips[one.host] + one.server_time_ms)
        self._ends[place] = self._first_bytes[place].later(one.receive_ms)

    def _answer_look_up(self, host: int, asked: EstimatedInstant) -> EstimatedInstant:
        opening_ms = 0.0 if self._ready else self._resolver.setup_ms
        answered_ms = asked.ms + opening_ms + self._resolver.takes_ms(host)
        announced_ms = self._find_announced_answer_ms(host)
        if announced_ms is not None:
            if announced_ms <= asked.ms:
                return asked
            answered_ms = min(answered_ms, announced_ms)
        return EstimatedInstant(answered_ms, asked.lookups + 1)

    def _find_announced_answer_ms(self, host: int) -> float | None:
        """Return the arrival of a host's announced answer; `None` without an announcement."""
        if self._announced_ms is None:
            return None
        is_asked = self._resolver.announced in {AnnouncementMode.HTTPS_RECORD, AnnouncementMode.EARLY_HINTS}
        return self._announced_ms + (self._resolver.takes_ms(host) if is_asked else 0.0)

    def _announcement_ms(self, document: Resource, sent: EstimatedInstant) -> float | None:
        """Return the arrival of all names, or of their answers, announced with the document."""
        answered_ms = self._ready[document.host].ms - self._connects[document.host]
        told_ms = sent.ms + self._trips[document.host]
        return {
            AnnouncementMode.NOT: None,
            AnnouncementMode.WITH_FIRST: answered_ms,
            AnnouncementMode.HTTPS_RECORD: answered_ms,
            AnnouncementMode.SERVER_PUSH: told_ms,
            AnnouncementMode.EARLY_HINTS: told_ms,
        }[self._resolver.announced]

    def _start(self, place: int) -> EstimatedInstant:
        """Return the start of a request with known discoverer and blockers."""
        one = self._model.resources[place]
        assert one.parent is not None
        first_byte, end = self._first_bytes[one.parent], self._ends[one.parent]
        if one.discovery is Discovery.REDIRECT:
            return first_byte
        if one.discovery is Discovery.DOCUMENT:
            return first_byte.later((one.place or 0.0) * self._model.resources[one.parent].receive_ms)
        if one.discovery is Discovery.SCRIPT:
            return max([end, *(self._ran(it) for it in self._list_blockers(one))]).later(one.due_ms or 0.0)
        if one.discovery is Discovery.STYLESHEET:
            return end
        return first_byte.later(one.due_ms or 0.0)

    def _ran(self, place: int) -> EstimatedInstant:
        """Return the end of a request's parser blocking."""
        one = self._model.resources[place]
        return self._ends[place].later(one.run_ms if one.script_mode is ScriptMode.SYNC else 0.0)


def _find_document(model: PageModel) -> int:
    """Find the document after its redirects; redirects announce nothing."""
    found = 0
    for place, one in enumerate(model.resources):
        if one.discovery is Discovery.REDIRECT and one.parent == found:
            found = place
    return found


def _round_trip(model: PageModel, host: Host, given_ms: float | None) -> float:
    if given_ms is not None:
        return given_ms
    if host.round_trip_ms is not None:
        return host.round_trip_ms
    return model.hosts[model.resources[0].host].round_trip_ms or 0.0


def _handshakes(host: Host) -> int:
    """Count the round trips before a host's first request can leave; h3 alone spares TCP's."""
    only_h3 = host.protocols == (HttpVersion.H3.value,)
    return page_handshake_round_trips(HttpVersion.H3 if only_h3 else HttpVersion.H2, "full")
