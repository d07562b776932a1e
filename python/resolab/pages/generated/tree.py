"""The discoverers in a generated page: a tree grown from the document over all requests, with the drawn depth.

First comes a chain with the page's depth, of scripts, frames and redirects; then the requests able to discover others,
then the rest. A parent is drawn by the discovery of the request's kind, and by the weight of each possible parent.

Not for: times (`timeline`), or other properties of requests (`request_forms`, `sizes`).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from resolab.pages.generated import published
from resolab.pages.generated.chance import UniformStream
from resolab.pages.generated.host_assignment import HostCapacity
from resolab.pages.generated.request_kinds import PlannedRequest
from resolab.pages.generated.totals import Totals
from resolab.pages.model import Discovery, Kind

_ASKERS = (Kind.STYLESHEET, Kind.SCRIPT, Kind.DOCUMENT)
_LINKS = (Kind.SCRIPT, Kind.DOCUMENT)
"""Kinds forming chains of discoverers."""
_RUN_ONLY = (Kind.XHR, Kind.FETCH, Kind.BEACON)
"""Kinds impossible in markup."""


@dataclass(slots=True, kw_only=True)
class Node:
    """One request of the tree; other nodes name its index."""

    kind: Kind
    discovery: Discovery
    parent: int | None
    frame: int
    depth: int
    host: int
    is_redirect: bool = False
    ends_chain: bool = False
    is_page_document: bool = False
    is_preload: bool = False
    is_after_load: bool = False
    weight: float = 0.0
    """The weight as a discoverer, beside others of the same kind."""


def grow(chance: UniformStream, totals: Totals, items: Sequence[PlannedRequest], seats: HostCapacity) -> list[Node]:
    """Grow the page; parents stand before their children."""
    grower = _Grower(chance, totals, seats)
    rest = grower.spine(list(items))
    for item in sorted(rest, key=lambda one: one.kind not in _ASKERS):
        grower.attach(item)
    return grower.nodes


class _Grower:
    def __init__(self, chance: UniformStream, totals: Totals, seats: HostCapacity) -> None:
        self._chance = chance
        self._totals = totals
        self._seats = seats
        self.nodes: list[Node] = []
        self._askers: dict[Kind, list[int]] = {kind: [] for kind in _ASKERS}
        self._begin()
        self._preloads_left = (
            1 + chance.below(published.PRELOADS_MAX) if chance.happens(published.PRELOAD_PAGES_RATIO) else 0
        )

    def _begin(self) -> None:
        hops = self._totals.root_hops
        for depth, host in enumerate(self._seats.take_first(self._chance, count=hops)):
            self.nodes.append(
                Node(
                    kind=Kind.DOCUMENT,
                    discovery=Discovery.REDIRECT if depth else Discovery.NAVIGATION,
                    parent=depth - 1 if depth else None,
                    frame=0,
                    depth=depth,
                    host=host,
                    is_redirect=depth < hops,
                    is_page_document=depth == hops,
                )
            )
        self._document = hops
        self.nodes[hops].weight = max(1.0, published.PAGE_DOCUMENT_WEIGHT_RATIO * self._totals.requests)
        self._askers[Kind.DOCUMENT].append(hops)

    def spine(self, items: list[PlannedRequest]) -> list[PlannedRequest]:
        """Build the chain with the page's depth; return the remaining items."""
        parent = self._document
        while (left := self._totals.depth - self.nodes[parent].depth) > 0:
            fits = [place for place, one in enumerate(items) if one.hops < left]
            links = [place for place in fits if items[place].kind in _LINKS]
            if not links:
                last = max(fits, key=lambda place: items[place].hops, default=None)
                if last is None:
                    break
                if items[last].hops + 1 < left:
                    # Too few scripts and frames for a page of that depth: it has one more.
                    items[last].kind = Kind.SCRIPT
                links = [last]
            item = items.pop(links[self._chance.below(len(links))])
            parent = self._add(item, parent, self._below(parent))
        return items

    def _below(self, parent: int) -> Discovery:
        return Discovery.SCRIPT if self.nodes[parent].kind is Kind.SCRIPT else Discovery.INLINE_SCRIPT

    def attach(self, item: PlannedRequest) -> None:
        """Find a parent for a request, and add the request."""
        if item.kind in {Kind.FONT, Kind.STYLESHEET} and self._preloads_left and not item.hops:
            self._preloads_left -= 1
            self.nodes[self._add(item, self._document, Discovery.DOCUMENT)].is_preload = True
            return
        table = published.DISCOVERIES[item.kind]
        discovery = list(table)[self._chance.pick(list(table.values()))]
        parent = self._parent(discovery, item.hops)
        if parent is None:
            discovery, parent = self._otherwise(item.kind), self._document
        self._add(item, parent, discovery)

    def _otherwise(self, kind: Kind) -> Discovery:
        """Return the document's discovery for a request without another possible parent."""
        if kind in _RUN_ONLY:
            return Discovery.INLINE_SCRIPT
        # Fonts that no style sheet names are those of the document's own styles.
        return Discovery.LATE if kind is Kind.FONT else Discovery.DOCUMENT

    def _parent(self, discovery: Discovery, hops: int) -> int | None:
        kind = {Discovery.SCRIPT: Kind.SCRIPT, Discovery.STYLESHEET: Kind.STYLESHEET}.get(discovery, Kind.DOCUMENT)
        deepest = self._totals.depth - 1 - hops
        able = [place for place in self._askers[kind] if self.nodes[place].depth <= deepest]
        weights = [self.nodes[place].weight for place in able]
        if kind is Kind.DOCUMENT and discovery is Discovery.INLINE_SCRIPT and able:
            weights[0] *= published.INLINE_WEIGHT_RATIO
        if kind is Kind.STYLESHEET and able and not any(weights):
            weights = [1.0] * len(able)
        return able[self._chance.pick(weights)] if any(weights) else None

    def _add(self, item: PlannedRequest, parent: int, discovery: Discovery) -> int:
        """Add a request and the redirects before the request; return the index of the last."""
        above = self.nodes[parent]
        frame = parent if above.kind is Kind.DOCUMENT else above.frame
        for hop in range(item.hops + 1):
            before = self.nodes[parent]
            how = Discovery.REDIRECT if hop else discovery
            self.nodes.append(
                Node(
                    kind=item.kind,
                    discovery=how,
                    parent=parent,
                    frame=frame,
                    depth=before.depth + 1,
                    host=self._seats.take(self._chance, before.host, before.kind, item.kind, how),
                    is_redirect=hop < item.hops,
                    ends_chain=hop == item.hops > 0,
                )
            )
            parent = len(self.nodes) - 1
        if item.kind in self._askers:
            self._askers[item.kind].append(parent)
            self.nodes[parent].weight = self._weight(item.kind)
        return parent

    def _weight(self, kind: Kind) -> float:
        none, median, log_sd = {
            Kind.SCRIPT: (
                published.SCRIPT_CHILDLESS_RATIO,
                published.SCRIPT_CHILDREN_MEDIAN,
                published.SCRIPT_CHILDREN_LOG_SD,
            ),
            Kind.DOCUMENT: (
                published.FRAME_CHILDLESS_RATIO,
                published.FRAME_CHILDREN_MEDIAN,
                published.FRAME_CHILDREN_LOG_SD,
            ),
            Kind.STYLESHEET: (published.SHEET_CHILDLESS_RATIO, 1.0, 1.0),
        }[kind]
        is_childless, drawn = self._chance.happens(none), self._chance.log_normal(median, log_sd)
        return 0.0 if is_childless else drawn
