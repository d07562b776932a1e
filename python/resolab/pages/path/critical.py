"""The chain of requests a load event waited for, and what each stretch of it was spent with.

For: one load of a page whose discoverers are known. Pure. Not for: sums over loads (`report.paths`), or what
other look-ups would cost (`estimate`).

From the request that ended last of those the load event waits for, back through what led to each: its discoverer or, of
what a script asked for, what the script waited for if that came later than the script. A request counts from its start
to its end, or to where the next link began, which may be earlier: markup is found while its document still arrives.
What lies between two links is the browser's.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from resolab.pages.facts import holds_load
from resolab.pages.model import Discovery, PageModel
from resolab.pages.path.holders import holders_of
from resolab.pages.path.load import LoadInstants, Teller
from resolab.pages.path.phases import Part, Phase, end_ns, ns, phases_of_load


class Link(msgspec.Struct, frozen=True, kw_only=True):
    """One request of the chain, with what came between the link before and its start."""

    place: int
    held_up: bool
    """It did not discover the next link: that link's script had to wait for it."""
    parts_ns: dict[Part, int]


class CriticalPath(msgspec.Struct, frozen=True, kw_only=True):
    """What one load waited for."""

    load_ns: int
    links: tuple[Link, ...]
    """The first request first."""
    parts_ns: dict[Part, int]
    """Of all links and of what came after the last: their sum is `load_ns`."""
    blocking_hosts: tuple[int, ...]
    """Hosts whose look-ups were waited for, in that order."""
    lookup_hosts: tuple[int, ...]
    """Hosts that were looked up at all before the load event."""
    untold_count: int
    """Requests the model has before its load event and this load does not: the chain may have gone through them."""
    server_told_count: int
    """Links of which only the server told: look-ups and handshakes in front of them are `untold`."""

    def share_ratio(self, part: Part) -> float:
        """Return the part's share of the load time."""
        return self.parts_ns.get(part, 0) / self.load_ns if self.load_ns else 0.0


def critical_path(
    model: PageModel, load: LoadInstants, round_trips_ms: Mapping[int, float] | None = None
) -> CriticalPath:
    """Find it; with hosts' round trips, by host, a server's time is told from the way there and back."""
    phases = phases_of_load(model, load, round_trips_ms or {})
    load_ns = ns(load.load_ms)
    links, after_last = _links(model, load, load_ns, phases)
    sums = Counter({Part.BROWSER: after_last})
    for link in links:
        sums.update(link.parts_ns)
    waited_for = (model.resources[link.place].host for link in links if link.parts_ns.get(Part.DNS))
    untold = (place not in load.requests for place, one in enumerate(model.resources) if not one.after_load)
    return CriticalPath(
        load_ns=load_ns,
        links=tuple(links),
        parts_ns={part: sums[part] for part in Part if sums[part]},
        blocking_hosts=tuple(dict.fromkeys(waited_for)),
        lookup_hosts=tuple(_looked_up(model, phases, load_ns)),
        untold_count=sum(untold),
        server_told_count=sum(load.requests[link.place].teller is Teller.SERVER for link in links),
    )


def _links(
    model: PageModel, load: LoadInstants, load_ns: int, phases: Mapping[int, Sequence[Phase]]
) -> tuple[list[Link], int]:
    """Go through the chain, the last request first; returns it in its order, with the time after the last."""
    links: list[Link] = []
    cursor = load_ns
    gaps: list[int] = []
    for place, held_up in _chain(model, load, load_ns):
        one = load.requests[place]
        until = min(end_ns(one), cursor)
        gaps.append(cursor - until)
        links.append(Link(place=place, held_up=held_up, parts_ns=_spent(phases[place], until)))
        # One that began after its follower, by a rounded clock, has no time of its own.
        cursor = min(until, ns(one.start_ms))
    # A gap lies before the link that follows it, so the first one found is what came after the last link.
    after_last, *before = [*gaps, cursor]
    found = [_with_gap(link, _gap_part(load, link.place), gap) for link, gap in zip(links, before, strict=True)]
    return found[::-1], after_last


def _chain(model: PageModel, load: LoadInstants, load_ns: int) -> Iterator[tuple[int, bool]]:
    """Go back from the last request that ended by the load event; says of each whether it held the next one up."""
    awaited = (place for place in load.requests if holds_load(model.resources[place]))
    ended = [place for place in awaited if end_ns(load.requests[place]) <= load_ns]
    if not ended:
        return
    holders = holders_of(model)
    place: int | None = max(ended, key=lambda one: (end_ns(load.requests[one]), one))
    held_up = False
    while place is not None:
        yield place, held_up
        place, held_up = _before(place, model, load, holders)


def _before(
    place: int, model: PageModel, load: LoadInstants, holders: Mapping[int, tuple[int, ...]]
) -> tuple[int | None, bool]:
    """Find what a request waited for: of its discoverer and what held that up, the one that came last.

    A script had run by the request's start, whatever its end says: clocks are rounded. Where nobody told of the script,
    what held it up may have been told: the model knows it. The request that led to the script counts in its place, from
    its start where it went on after the request had begun.
    """
    discoverer = _told_ancestor(place, model, load)
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


def _told_ancestor(place: int, model: PageModel, load: LoadInstants) -> int | None:
    parent = model.resources[place].parent
    while parent is not None and parent not in load.requests:
        parent = model.resources[parent].parent
    return parent


def _spent(phases: Sequence[Phase], until: int) -> dict[Part, int]:
    spent: Counter[Part] = Counter()
    for part, begin, end in phases:
        if min(end, until) > begin:
            spent[part] += min(end, until) - begin
    return dict(spent)


def _with_gap(link: Link, part: Part, gap: int) -> Link:
    if not gap:
        return link
    return msgspec.structs.replace(link, parts_ns=link.parts_ns | {part: link.parts_ns.get(part, 0) + gap})


def _gap_part(load: LoadInstants, place: int) -> Part:
    """Name the time before a request: what a server tells begins after looking up and connecting."""
    return Part.UNTOLD if load.requests[place].teller is Teller.SERVER else Part.BROWSER


def _looked_up(model: PageModel, phases: Mapping[int, list[Phase]], load_ns: int) -> list[int]:
    return sorted(
        {
            model.resources[place].host
            for place, of_one in phases.items()
            for part, begin, _ in of_one
            if part is Part.DNS and begin < load_ns
        }
    )
