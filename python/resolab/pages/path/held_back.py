"""Requests that a browser holds back while it reads a document's head, and what it holds them back for.

For: the one place that knows the rule, for estimates. Pure. Not for: what a script waited for (`holders`).

Chromium sends what is not urgent (pictures, scripts that hold no parser up) at most two requests at a time, all others
of the document counted, until the document's body begins (its layout-blocking state; seen in loads of clones). The body
begins when the scripts that hold the parser up in the head have run. What scripts fetch, frames, style sheets and fonts
is never held back.
"""

import bisect
import heapq

from resolab.pages.model import Discovery, Kind, PageModel, Resource, ScriptMode
from resolab.pages.path.instant import START, Instant

AT_A_TIME_COUNT = 2
_COUNTED = (Kind.STYLESHEET, Kind.SCRIPT, Kind.IMAGE, Kind.FONT, Kind.MEDIA)
_OF_BODY = (Kind.IMAGE, Kind.DOCUMENT)
"""The first element of these begins a document's body."""


class Head:
    """One document's head while a load goes on: what keeps it open, and which requests it holds back.

    All that wait in a head are let go together, one after the other by their places. So one of them stands in the queue
    of what comes next for all: its `turn`.
    """

    def __init__(self) -> None:
        self._scripts_left_count = 0
        self._ran = START
        self._latest_ends: list[Instant] = []
        self._held: list[int] = []
        self.turn: tuple[Instant, int] | None = None
        """When the first of those that wait is to be looked at, and its place."""

    def add_script(self) -> None:
        """Have the head wait for one more script that holds the parser up."""
        self._scripts_left_count += 1

    def script_ran(self, ran: Instant) -> None:
        """Note when one of its scripts has run; the head is closed when all have."""
        self._scripts_left_count -= 1
        self._ran = max(self._ran, ran)

    def request_ends(self, end: Instant) -> None:
        """Note until when a request of the document is under way; the latest ends decide."""
        bisect.insort(self._latest_ends, end)
        del self._latest_ends[:-AT_A_TIME_COUNT]

    def free_from(self, start: Instant) -> Instant | None:
        """Tell until when a request that would begin is held back; None: it is not, as far as is known."""
        is_closed = not self._scripts_left_count
        if is_closed and self._ran <= start:
            return None
        if len(self._latest_ends) < AT_A_TIME_COUNT or self._latest_ends[0] <= start:
            return None
        return min(self._latest_ends[0], self._ran) if is_closed else self._latest_ends[0]

    def hold(self, place: int) -> None:
        """Have a request wait."""
        heapq.heappush(self._held, place)

    def let_first_go(self) -> None:
        """Have the first of those that wait no longer do so."""
        heapq.heappop(self._held)

    @property
    def first(self) -> int | None:
        """The first of those that wait, by place."""
        return self._held[0] if self._held else None


class Heads:
    """The heads of a page's documents, each with the scripts that keep it open."""

    def __init__(self, model: PageModel) -> None:
        self._resources = model.resources
        self._heads: dict[int, Head] = {}
        self._scripts: set[int] = set()
        closed: set[int] = set()
        for place, one in enumerate(model.resources):
            if one.discovery is not Discovery.DOCUMENT:
                continue
            if one.kind in _OF_BODY:
                closed.add(one.frame)
            elif one.script_mode is ScriptMode.SYNC and one.frame not in closed:
                self._heads.setdefault(one.frame, Head()).add_script()
                self._scripts.add(place)

    def holding_back(self, place: int) -> Head | None:
        """Return the head that may hold a request back; none holds back what is urgent."""
        one = self._resources[place]
        return self._heads.get(one.frame) if _can_wait(one) else None

    def note(self, place: int, end: Instant, ran: Instant) -> Head | None:
        """Note that a request has begun, ends then and has run then; return the head that has its last script by it."""
        one = self._resources[place]
        head = self._heads.get(one.frame)
        if head is None:
            return None
        if one.kind in _COUNTED:
            head.request_ends(end)
        if place not in self._scripts:
            return None
        head.script_ran(ran)
        return head


def _can_wait(one: Resource) -> bool:
    if one.kind is Kind.SCRIPT:
        return not one.preload and one.script_mode not in {ScriptMode.SYNC, ScriptMode.MODULE}
    return one.kind in {Kind.IMAGE, Kind.MEDIA}
