"""The trigger of each request in a clone's browser: markup, a style sheet, a script, a redirect.

For: assigning the model's discoverers to parts of the clone able to trigger requests. A discoverer without this
ability, e.g. a script answered by 404, leaves its requests to its document. Not for: the text of a part (`document`,
`script`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from resolab.pages.facts import is_redirected
from resolab.pages.model import Discovery, Evidence, Kind, Outcome, PageModel, Resource

BODILESS = (204, 205)
_TEXTS = (Kind.XHR, Kind.FETCH)
"""The kinds of a script beside a file: a text fetched and run by another script."""
_BY_RUNS = (Discovery.SCRIPT, Discovery.INLINE_SCRIPT, Discovery.LATE)
_ERRORS_FROM = 400


@dataclass(slots=True)
class Role:
    """The requests triggered by one request's answer, by position in the model."""

    redirect: int | None = None
    markup: list[int] = field(default_factory=list)
    """Of a document: the requests found by its parser, in order."""
    runs: list[int] = field(default_factory=list)
    """Of a script, or of the script in a document's head: its requests, in order of time."""
    taken_over_ms: dict[int, float] = field(default_factory=dict)
    """Of a document: the time of each request taken over from another discoverer, in ms since the first byte."""
    styles: list[int] = field(default_factory=list)
    """Of a style sheet: the requests of its rules."""
    is_parsed: bool = False
    """True when a parser found the request, or an ancestor of the request."""
    slots: list[int] = field(default_factory=list)
    """Of a document: the requests of its style sheets; each request needs an element."""


def assign_roles(model: PageModel) -> Sequence[Role]:
    """Return the role of every request's answer."""
    return _RoleAssigner(model.resources).all()


def has_body(one: Resource) -> bool:
    """Return True when the answer has a body used by a browser."""
    return one.outcome is Outcome.ANSWERED and not is_redirected(one) and one.status not in BODILESS


def due_ms(one: Resource, place: int, role: Role) -> float:
    """Return a request's due time: ms since its asker ran or, for a document, since the document's first byte."""
    return role.taken_over_ms.get(place, one.due_ms or 0.0)


class _RoleAssigner:
    def __init__(self, resources: Sequence[Resource]) -> None:
        self._resources = resources
        self._roles = [Role() for _ in resources]
        self._targets: Mapping[int, int] = {
            one.parent: place
            for place, one in enumerate(resources)
            if one.discovery is Discovery.REDIRECT and one.parent is not None and is_redirected(resources[one.parent])
        }
        self._seen_asking = {one.parent for one in resources if one.evidence is Evidence.INITIATOR}

    def all(self) -> Sequence[Role]:
        for place, one in enumerate(self._resources):
            if one.parent is not None:
                self._cast(place, one, one.parent)
        for role in self._roles:
            for place in role.markup:
                self._mark_parsed(place)
            role.runs.sort(key=lambda place: (due_ms(self._resources[place], place, role), place))
        return self._roles

    def _cast(self, place: int, one: Resource, parent: int) -> None:
        if self._targets.get(parent) == place:
            self._roles[parent].redirect = place
        elif one.discovery is Discovery.DOCUMENT and self._is(parent, Kind.DOCUMENT):
            self._roles[parent].markup.append(place)
        elif one.discovery is Discovery.STYLESHEET and self._styles(parent):
            # Whatever it turned out to be, a style sheet asked for it as a picture.
            self._roles[parent].styles.append(place)
            if one.kind is not Kind.STYLESHEET:
                self._roles[self._document(one)].slots.append(place)
        elif one.discovery is Discovery.SCRIPT and self._runs(parent):
            self._roles[parent].runs.append(place)
        else:
            self._leave_to_document(place, one)

    def _leave_to_document(self, place: int, one: Resource) -> None:
        """Let a request's document ask at the recorded time: the discoverer came later."""
        document = self._document(one)
        self._roles[document].runs.append(place)
        began_ms = self._resources[document].first_byte_ms
        if document != one.parent and began_ms is not None:
            self._roles[document].taken_over_ms[place] = max(0.0, one.start_ms - began_ms)

    def _is(self, place: int, kind: Kind) -> bool:
        return self._resources[place].kind is kind and has_body(self._resources[place])

    def _is_used(self, place: int, kind: Kind) -> bool:
        """Return True when a script or style sheet had an effect; after an error, only if the recorder saw requests."""
        status = self._resources[place].status
        return self._is(place, kind) and (status < _ERRORS_FROM or place in self._seen_asking)

    def _runs(self, place: int) -> bool:
        """Return True when an answer can be run as a script; a preload by markup has no script running the text."""
        one = self._resources[place]
        runs = one.kind is Kind.SCRIPT or (one.kind in _TEXTS and one.discovery in _BY_RUNS)
        return runs and self._is_used(place, one.kind)

    def _styles(self, place: int) -> bool:
        document = self._document(self._resources[place])
        return self._is_used(place, Kind.STYLESHEET) and self._is(document, Kind.DOCUMENT)

    def _mark_parsed(self, place: int) -> None:
        at: int | None = place
        while at is not None:
            self._roles[at].is_parsed = True
            at = self._roles[at].redirect

    def _document(self, one: Resource) -> int:
        """Find the document of a request, or the document around when the own document is unusable."""
        place = self._end(one.frame)
        while not self._is(place, Kind.DOCUMENT):
            outer = self._end(self._resources[place].frame)
            if place in {outer, 0}:
                return self._end(0)
            place = outer
        return place

    def _end(self, place: int) -> int:
        while place in self._targets:
            place = self._targets[place]
        return place
