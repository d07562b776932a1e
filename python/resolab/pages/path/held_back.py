"""Requests that a browser holds back while it reads a document's head, and what it holds them back for.

For: the one place that knows the rule, for estimates. Pure. Not for: what a script waited for (`holders`).

Chromium sends what is not urgent (pictures, scripts that hold no parser up) at most two requests at a time, all others
of the document counted, until the document's body begins (its layout-blocking state; seen in loads of clones). The body
begins when the scripts that hold the parser up in the head have run. What scripts fetch, frames, style sheets and fonts
is never held back.
"""

from collections.abc import Sequence

from resolab.pages.model import Discovery, Kind, PageModel, Resource, ScriptMode

AT_A_TIME_COUNT = 2
_COUNTED = (Kind.STYLESHEET, Kind.SCRIPT, Kind.IMAGE, Kind.FONT, Kind.MEDIA)
_OF_BODY = (Kind.IMAGE, Kind.DOCUMENT)
"""The first element of these begins a document's body."""


class Heads:
    """The heads of a page's documents: which scripts keep each open, and which requests count in it."""

    def __init__(self, model: PageModel) -> None:
        self._resources = model.resources
        self._scripts: dict[int, list[int]] = {}
        self._counted: dict[int, list[int]] = {}
        closed: set[int] = set()
        for place, one in enumerate(model.resources):
            if one.kind in _COUNTED:
                self._counted.setdefault(one.frame, []).append(place)
            if one.discovery is not Discovery.DOCUMENT:
                continue
            if one.kind in _OF_BODY:
                closed.add(one.frame)
            elif one.script_mode is ScriptMode.SYNC and one.frame not in closed:
                self._scripts.setdefault(one.frame, []).append(place)

    def scripts(self, place: int) -> Sequence[int]:
        """List the scripts that must have run before a request is sent whatever else is under way, by place."""
        one = self._resources[place]
        return self._scripts.get(one.frame, ()) if _can_wait(one) else ()

    def beside(self, place: int) -> Sequence[int]:
        """List what counts in a request's document beside it, by place."""
        return [other for other in self._counted.get(self._resources[place].frame, ()) if other != place]


def _can_wait(one: Resource) -> bool:
    if one.kind is Kind.SCRIPT:
        return not one.preload and one.script_mode not in {ScriptMode.SYNC, ScriptMode.MODULE}
    return one.kind in {Kind.IMAGE, Kind.MEDIA}
