"""The page load of each request and instant of a DevTools log; a log may hold several loads in sequence.

For: separating the main frame's navigations. Not for: the meaning or outcome of a request (`reader`).
"""

import bisect
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from resolab.extras.recordings.inference.page_request import has_body
from resolab.extras.recordings.values import count, number, read_host, text

Json = Mapping[str, Any]
LOADED, COMPLETE = "Page.loadEventFired", "Page.domContentEventFired"


@dataclass(slots=True, eq=False)
class Navigation:
    """A document requested by the main frame."""

    place: int
    """Index of the first request among the log's events."""
    request_id: str
    frame_id: str | None
    loader_id: str | None
    url: str | None
    started_s: float
    is_by_script: bool
    answered_place: int | None = None
    status: int = 0
    is_committed: bool = False
    loaded: list[tuple[int, float]] = field(default_factory=list)
    complete: list[tuple[int, float]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class PageLoad:
    """A navigation, with the navigations of its page before the load event."""

    navigations: list[Navigation]

    @property
    def is_answered(self) -> bool:
        """Tell if there was a document to load."""
        return any(has_body(one.status) for one in self.navigations)

    @property
    def loaded_s(self) -> float | None:
        """Return the first load event of its pages, by the log's clock."""
        return self._first([at for one in self.navigations for _, at in one.loaded])

    @property
    def complete_s(self) -> float | None:
        """Return the first DOMContentLoaded of its pages, by the log's clock."""
        return self._first([at for one in self.navigations for _, at in one.complete])

    def _first(self, instants: list[float]) -> float | None:
        return next((at for at in instants if at >= self.navigations[0].started_s), None)


class Navigations:
    """Takes events in their order, then separates the loads.

    `goes_on`: only the page itself navigates, so everything before a load event is of one load.
    """

    def __init__(self, *, goes_on: bool) -> None:
        self._goes_on = goes_on
        self._place = -1
        self._asked: list[Navigation] = []
        self._of_request: dict[str, list[Navigation]] = defaultdict(list)
        self._of_loader: dict[str, list[Navigation]] = defaultdict(list)
        self._children: set[str] = set()
        self._main: set[str] = set()
        self._navigated: list[tuple[int, Json]] = []
        self._instants: list[tuple[int, str, float]] = []
        self._commits: list[tuple[int, Navigation | None]] = []

    def take(self, event: str, params: Json) -> int:
        """Take one event; return its index."""
        self._place += 1
        if event == "Network.requestWillBeSent":
            self._take_request(params)
        elif event == "Network.responseReceived":
            self._take_response(params)
        elif event == "Network.loadingFailed" and not params.get("canceled"):
            for one in self._of_request.get(text(params.get("requestId")) or "", ())[-1:]:
                one.status = 0
        elif event == "Page.frameAttached":
            self._children.add(text(params.get("frameId")) or "")
        elif event == "Page.frameNavigated" and isinstance(frame := params.get("frame"), Mapping):
            self._take_commit(frame)
        elif event in {LOADED, COMPLETE} and (at := number(params.get("timestamp"))) is not None:
            self._instants.append((self._place, event, at))
        return self._place

    def _take_request(self, params: Json) -> None:
        request, initiator = params.get("request"), params.get("initiator")
        request_id, loader_id = text(params.get("requestId")) or "", text(params.get("loaderId"))
        is_document = (text(params.get("type")) or "").lower() == "document" or request_id == loader_id
        started = number(params.get("timestamp"))
        if not is_document or started is None or isinstance(params.get("redirectResponse"), Mapping):
            return
        one = Navigation(
            place=self._place,
            request_id=request_id,
            frame_id=text(params.get("frameId")),
            loader_id=loader_id,
            url=text(request.get("url")) if isinstance(request, Mapping) else None,
            started_s=started,
            is_by_script=isinstance(initiator, Mapping) and initiator.get("type") == "script",
        )
        self._asked.append(one)
        self._of_request[request_id].append(one)

    def _take_response(self, params: Json) -> None:
        response = params.get("response")
        for one in self._of_request.get(text(params.get("requestId")) or "", ())[-1:]:
            one.answered_place = self._place
            one.status = (count(response.get("status")) or 0) if isinstance(response, Mapping) else 0

    def _take_commit(self, frame: Json) -> None:
        frame_id = text(frame.get("id")) or ""
        if text(frame.get("parentId")) is not None:
            self._children.add(frame_id)
        else:
            self._main.add(frame_id)
            self._navigated.append((self._place, frame))

    def loads(self) -> list[PageLoad]:
        """Separate the page loads, in their order; call once, after the last event."""
        asked = self._select_main_frame()
        for one in asked:
            self._of_loader[one.loader_id or ""].append(one)
        self._commits = self._when_committed(asked)
        for place, event, at in self._instants:
            current = self._current(place)
            if current is not None:
                (current.loaded if event == LOADED else current.complete).append((place, at))
        found: list[PageLoad] = []
        for one in asked:
            if found and self._is_led_to(found[-1].navigations[-1], one):
                found[-1].navigations.append(one)
            else:
                found.append(PageLoad([one]))
        return found

    def find(self, place: int, request_id: str, loader_id: str | None) -> Navigation | None:
        """Return the navigation of a request's page; `None` outside every navigation of the log."""
        for known in (self._of_request.get(request_id), self._of_loader.get(loader_id or "") if loader_id else None):
            before = [one for one in known or () if one.place <= place]
            if before:
                return before[-1]
        return self._current(place, self._commits[0][1] if self._commits else None)

    def _select_main_frame(self) -> list[Navigation]:
        """Leave out documents of frames inside the page."""
        outer = [one for one in self._asked if one.frame_id not in self._children]
        main = self._main | {one.frame_id for one in outer[:1]}
        kept = [one for one in outer if one.frame_id in main]
        self._of_request = defaultdict(list)
        for one in kept:
            self._of_request[one.request_id].append(one)
        return kept

    def _when_committed(self, asked: list[Navigation]) -> list[tuple[int, Navigation | None]]:
        """Return the commits of the main frame, by event index; `None`: a page without a request, as `about:blank`."""
        commits: list[tuple[int, Navigation | None]] = []
        for place, frame in self._navigated:
            one = self._find_committed(place, frame, asked)
            if one is not None:
                one.is_committed = True
            commits.append((place, one))
        late = [(one.answered_place, one) for one in asked if not one.is_committed and one.answered_place is not None]
        return sorted([*commits, *late], key=lambda commit: commit[0])

    def _find_committed(self, place: int, frame: Json, asked: list[Navigation]) -> Navigation | None:
        loader_id = text(frame.get("loaderId"))
        before = asked[: bisect.bisect_left(asked, place, key=lambda one: one.place)]
        if loader_id is not None:
            for one in reversed(before):
                if loader_id in {one.loader_id, one.request_id}:
                    return one
        if read_host(text(frame.get("url")) or "") is None:
            return None
        return next((one for one in reversed(before) if not one.is_committed), None)

    def _current(self, place: int, before_all: Navigation | None = None) -> Navigation | None:
        after = bisect.bisect_right(self._commits, place, key=lambda commit: commit[0])
        return self._commits[after - 1][1] if after else before_all

    def _is_led_to(self, before: Navigation, one: Navigation) -> bool:
        """Return True when an unloaded page went there by itself."""
        has_loaded = any(place < one.place for place, _ in before.loaded)
        return has_body(before.status) and not has_loaded and (self._goes_on or one.is_by_script)
