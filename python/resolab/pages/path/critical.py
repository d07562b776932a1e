"""The chain of requests before a load event, and the activity in each stretch of the chain.

For: one load of a page with known discoverers. Pure. Not for: sums over loads (`report.paths`), or the cost of other
look-ups (`estimate`).

The chain starts at the request with the latest end, among the requests delaying the load event. The chain goes back
through the predecessor of each request. The predecessor is the discoverer or, for a script's request, a blocker of the
script if the blocker came later than the script. A request counts from its start to its end, or to the start of the
next link. The next link may begin earlier: markup is found while the document still arrives. Time between two links is
the browser's.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from resolab.pages.facts import holds_load
from resolab.pages.model import Discovery, PageModel
from resolab.pages.path.holders import list_blockers
from resolab.pages.path.load import InstantSource, LoadTimeline
from resolab.pages.path.phases import PhaseKind, RequestPhase, end_ns, ns, phases_of_load


class PathLink(msgspec.Struct, frozen=True, kw_only=True):
    """One request of the chain, with the time between the link before and its start."""

    place: int
    held_up: bool
    """True when the request did not discover the next link: the next link's script had to wait for the request."""
    parts_ns: dict[PhaseKind, int]


class CriticalPath(msgspec.Struct, frozen=True, kw_only=True):
    """The critical path of one load."""

    load_ns: int
    links: tuple[PathLink, ...]
    """The first request first."""
    parts_ns: dict[PhaseKind, int]
    """The parts of all links and of the time after the last link: their sum is `load_ns`."""
    blocking_hosts: tuple[int, ...]
    """Hosts with a look-up on the chain, in this order."""
    lookup_hosts: tuple[int, ...]
    """All hosts looked up before the load event."""
    untold_count: int
    """Requests before the load event in the model but missing in this load; the chain may have gone through them."""
    server_told_count: int
    """Links known only from the server: their look-ups and handshakes are `untold`."""

    def share_ratio(self, part: PhaseKind) -> float:
        """Return the part's share of the load time."""
        return self.parts_ns.get(part, 0) / self.load_ns if self.load_ns else 0.0


def critical_path(
    model: PageModel, load: LoadTimeline, round_trips_ms: Mapping[int, float] | None = None
) -> CriticalPath:
    """Find the critical path; with round trips by host, separate a server's time from its round trip."""
    phases = phases_of_load(model, load, round_trips_ms or {})
    load_ns = ns(load.load_ms)
    links, after_last = _links(model, load, load_ns, phases)
    sums = Counter({PhaseKind.BROWSER: after_last})
    for link in links:
        sums.update(link.parts_ns)
    waited_for = (model.resources[link.place].host for link in links if link.parts_ns.get(PhaseKind.DNS))
    untold = (place not in load.requests for place, one in enumerate(model.resources) if not one.after_load)
    return CriticalPath(
        load_ns=load_ns,
        links=tuple(links),
        parts_ns={part: sums[part] for part in PhaseKind if sums[part]},
        blocking_hosts=tuple(dict.fromkeys(waited_for)),
        lookup_hosts=tuple(_list_looked_up_hosts(model, phases, load_ns)),
        untold_count=sum(untold),
        server_told_count=sum(load.requests[link.place].teller is InstantSource.SERVER for link in links),
    )


def _links(
    model: PageModel, load: LoadTimeline, load_ns: int, phases: Mapping[int, Sequence[RequestPhase]]
) -> tuple[list[PathLink], int]:
    """Walk the chain from the last request; return the links in time order, with the time after the last."""
    links: list[PathLink] = []
    cursor = load_ns
    gaps: list[int] = []
    for place, held_up in _chain(model, load, load_ns):
        one = load.requests[place]
        until = min(end_ns(one), cursor)
        gaps.append(cursor - until)
        links.append(PathLink(place=place, held_up=held_up, parts_ns=_sum_phases(phases[place], until)))
        # One that began after its follower, by a rounded clock, has no time of its own.
        cursor = min(until, ns(one.start_ms))
    # A gap lies before the link that follows it, so the first one found is what came after the last link.
    after_last, *before = [*gaps, cursor]
    found = [_add_gap(link, _gap_part(load, link.place), gap) for link, gap in zip(links, before, strict=True)]
    return found[::-1], after_last


def _chain(model: PageModel, load: LoadTimeline, load_ns: int) -> Iterator[tuple[int, bool]]:
    """Walk back from the last request ended by the load event; yield True for a request delaying the next one."""
    awaited = (place for place in load.requests if holds_load(model.resources[place]))
    ended = [place for place in awaited if end_ns(load.requests[place]) <= load_ns]
    if not ended:
        return
    holders = list_blockers(model)
    place: int | None = max(ended, key=lambda one: (end_ns(load.requests[one]), one))
    held_up = False
    while place is not None:
        yield place, held_up
        place, held_up = _find_predecessor(place, model, load, holders)


def _find_predecessor(
    place: int, model: PageModel, load: LoadTimeline, holders: Mapping[int, tuple[int, ...]]
) -> tuple[int | None, bool]:
    """Find the predecessor of a request: the latest of its discoverer and of the discoverer's blockers.

    At the request's start the script had run, even with a later recorded end: clocks are rounded. For a script without
    instants, the model names the blockers, and the blockers may have instants. The script's nearest ancestor with
    instants then represents the script. If the ancestor ended after the request's start, the ancestor's start counts.
    """
    discoverer = _find_known_ancestor(place, model, load)
    parent = model.resources[place].parent
    if discoverer is None or parent is None or model.resources[place].discovery is not Discovery.SCRIPT:
        return discoverer, False
    start = ns(load.requests[place].start_ms)
    held_up = (
        one
        for one in holders.get(parent, ())
        # Before its follower by place, so that the chain ends.
        if one < place and one in load.requests and end_ns(load.requests[one]) <= start
    )
    ends = {one: end_ns(load.requests[one]) for one in (*held_up, discoverer)}
    if ends[discoverer] > start:
        ends[discoverer] = start if discoverer == parent else ns(load.requests[discoverer].start_ms)
    chosen = max(ends, key=lambda one: (ends[one], one == discoverer))
    return chosen, chosen != discoverer


def _find_known_ancestor(place: int, model: PageModel, load: LoadTimeline) -> int | None:
    parent = model.resources[place].parent
    while parent is not None and parent not in load.requests:
        parent = model.resources[parent].parent
    return parent


def _sum_phases(phases: Sequence[RequestPhase], until: int) -> dict[PhaseKind, int]:
    spent: Counter[PhaseKind] = Counter()
    for part, begin, end in phases:
        if min(end, until) > begin:
            spent[part] += min(end, until) - begin
    return dict(spent)


def _add_gap(link: PathLink, part: PhaseKind, gap: int) -> PathLink:
    if not gap:
        return link
    return msgspec.structs.replace(link, parts_ns=link.parts_ns | {part: link.parts_ns.get(part, 0) + gap})


def _gap_part(load: LoadTimeline, place: int) -> PhaseKind:
    """Name the part of the time before a request: a server's record begins after look-up and connecting."""
    return PhaseKind.UNTOLD if load.requests[place].teller is InstantSource.SERVER else PhaseKind.BROWSER


def _list_looked_up_hosts(model: PageModel, phases: Mapping[int, list[RequestPhase]], load_ns: int) -> list[int]:
    return sorted(
        {
            model.resources[place].host
            for place, of_one in phases.items()
            for part, begin, _ in of_one
            if part is PhaseKind.DNS and begin < load_ns
        }
    )
