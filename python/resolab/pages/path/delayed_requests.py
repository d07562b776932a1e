"""Requests held back by a browser while reading a document's head, and the reason for holding.

For: the only knowledge of the rule, for estimates. Pure. Not for: a script's blockers (`holders`).

Until the begin of the document's body (the layout-blocking state), Chromium limits requests of low priority (pictures,
non-blocking scripts) to two at a time. The limit counts all other requests of the document (seen in loads of clones).
The body begins after the run of the parser-blocking scripts in the head. Scripts' fetches, frames, style sheets and
fonts are never held back.
"""

import bisect
import heapq

from resolab.pages.model import Discovery, Kind, PageModel, Resource, ScriptMode
from resolab.pages.path.instant import START, EstimatedInstant

AT_A_TIME_COUNT = 2
_COUNTED = (Kind.STYLESHEET, Kind.SCRIPT, Kind.IMAGE, Kind.FONT, Kind.MEDIA)
_OF_BODY = (Kind.IMAGE, Kind.DOCUMENT)
"""The first element of these begins a document's body."""


class DocumentHead:
    """The head of one document during a load: the scripts keeping the head open, and the held requests.

    All waiting requests of a head are released together, in the order of their indices. So one request represents all
    in the queue of the next events: its `turn`.
    """

    def __init__(self) -> None:
        self._scripts_left_count = 0
        self._ran = START
        self._latest_ends: list[EstimatedInstant] = []
        self._held: list[int] = []
        self.turn: tuple[EstimatedInstant, int] | None = None
        """The instant for checking the first waiting request, and the request's index."""

    def add_script(self) -> None:
        """Let the head wait for a further parser-blocking script."""
        self._scripts_left_count += 1

    def script_ran(self, ran: EstimatedInstant) -> None:
        """Note the end of a script's run; after all scripts the head is closed."""
        self._scripts_left_count -= 1
        self._ran = max(self._ran, ran)

    def request_ends(self, end: EstimatedInstant) -> None:
        """Note until when a request of the document is under way; the latest ends decide."""
        bisect.insort(self._latest_ends, end)
        del self._latest_ends[:-AT_A_TIME_COUNT]

    def free_from(self, start: EstimatedInstant) -> EstimatedInstant | None:
        """Return the end of a new request's holding; `None`: not held, as far as known."""
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
        """Release the first waiting request."""
        heapq.heappop(self._held)

    @property
    def first(self) -> int | None:
        """Return the first waiting request, by index."""
        return self._held[0] if self._held else None


class DocumentHeads:
    """The heads of a page's documents, each with the scripts keeping the head open."""

    def __init__(self, model: PageModel) -> None:
        self._resources = model.resources
        self._heads: dict[int, DocumentHead] = {}
        self._scripts: set[int] = set()
        closed: set[int] = set()
        for place, one in enumerate(model.resources):
            if one.discovery is not Discovery.DOCUMENT:
                continue
            if one.kind in _OF_BODY:
                closed.add(one.frame)
            elif one.script_mode is ScriptMode.SYNC and one.frame not in closed:
                self._heads.setdefault(one.frame, DocumentHead()).add_script()
                self._scripts.add(place)

    def find_delaying_head(self, place: int) -> DocumentHead | None:
        """Return the head able to hold a request back; urgent requests have no such head."""
        one = self._resources[place]
        return self._heads.get(one.frame) if _can_wait(one) else None

    def note(self, place: int, end: EstimatedInstant, ran: EstimatedInstant) -> DocumentHead | None:
        """Note a begun request with its end and run; return the head closed by this request's script."""
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
