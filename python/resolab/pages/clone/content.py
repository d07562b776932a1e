"""The answer to each path of a clone: body, status, and the server's time.

For: one request of the model as an answer of the edge. Not for: files (`folder`), or the requesters (`roles`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from resolab.pages.clone.body import GIF, CloneBody, Gap, draw_body, image_body, text_body
from resolab.pages.clone.document import document_parts
from resolab.pages.clone.names import make_path, make_url
from resolab.pages.clone.roles import Role, has_body
from resolab.pages.clone.script import script_text
from resolab.pages.clone.stylesheet import stylesheet_text
from resolab.pages.facts import is_redirected
from resolab.pages.model import Kind, Outcome, PageModel, Resource

_OK = 200
_FOUND = 302
_SERVER_TIME_MAX_MS = 25_000.0
"""The edge holds no answer back for longer (docs/formats/edge.md)."""
_SAID_OF_REQUESTS = {206: 200, 304: 200, 416: 404}
"""Statuses caused by a condition or a range, both absent from a clone's requests, with replacements."""
_ASKED_AGAIN = {401: 403, 407: 403, 408: 404, 421: 404, 425: 404}
"""Statuses causing a second request (RFC 9110 sections 15.5.2, .8, .9 and .20, RFC 8470 section 5.2)."""
_LOCATED = (301, 302, 303, 307, 308)
_LOWEST, _ERRORS_FROM, _HIGHEST = 200, 400, 599
_TEXTS = (Kind.XHR, Kind.FETCH)
"""Kinds fetched by scripts; a script runs a fetched text with further requests in it."""
_COMMENT = ("/*", "*/")
_QUOTED = ('["', '"]')


@dataclass(frozen=True, slots=True)
class CloneAnswer:
    """The answer to one path."""

    path: str
    body: CloneBody | None
    response: Mapping[str, str | int | float]
    """Keys of the edge's `[[site.response]]` beside the path; empty: 200 and the body at once."""


def make_content(model: PageModel, place: int, roles: Sequence[Role], seed: int) -> CloneAnswer:
    """Make the answer to one request of the model."""
    one, role = model.resources[place], roles[place]
    response: dict[str, str | int | float] = {}
    is_picture = _must_be_picture(one, role)
    if one.outcome is Outcome.FAILED:
        response["outcome"] = "reset"
    else:
        status = _OK if is_picture else _status(one, role)
        if status != _OK:
            response["status"] = status
        if role.redirect is not None:
            response["location"] = make_url(model, role.redirect)
    waits_ms = round(min(one.server_time_ms, _SERVER_TIME_MAX_MS), 3)
    if waits_ms > 0:
        response["server_time_ms"] = waits_ms
    body = None
    if is_picture:
        body = image_body(max(one.wire_bytes, len(GIF)), f"{seed}/{place}")
    elif has_body(one):
        body = _body(model, place, roles, f"{seed}/{place}")
    return CloneAnswer(make_path(model, place), body, response)


def _must_be_picture(one: Resource, role: Role) -> bool:
    """Return True when the answer must be a real picture: after an invalid picture Firefox requests again."""
    fails = one.outcome is Outcome.FAILED or role.redirect is not None or one.status >= _ERRORS_FROM
    return one.kind is Kind.IMAGE and role.is_parsed and not fails


def _status(one: Resource, role: Role) -> int:
    status = _SAID_OF_REQUESTS.get(one.status) or _ASKED_AGAIN.get(one.status) or one.status
    if role.redirect is not None:
        return status if status in _LOCATED else _FOUND
    if one.kind is Kind.SCRIPT and (role.runs or role.is_parsed):
        return _OK  # What asks for others was used, whatever its recorder says; of errors Firefox's parser asks again.
    if role.styles:
        return _OK
    # A redirect whose target nobody recorded leads nowhere; Firefox asks once more for a picture of that kind.
    return status if _LOWEST <= status <= _HIGHEST and not is_redirected(one) else _OK


def _body(model: PageModel, place: int, roles: Sequence[Role], seed: str) -> CloneBody:
    one, role = model.resources[place], roles[place]
    coded = one.raw_bytes > one.wire_bytes > 0
    size_bytes = one.raw_bytes if coded else one.wire_bytes
    match one.kind:
        case Kind.DOCUMENT:
            parts = document_parts(model, role, size_bytes, _script(model, place, roles))
        case Kind.STYLESHEET:
            parts = _append_gap(stylesheet_text(model, role.styles), _COMMENT, size_bytes)
        case Kind.SCRIPT | Kind.XHR | Kind.FETCH if one.kind is Kind.SCRIPT or role.runs:
            parts = _append_gap(_script(model, place, roles), _COMMENT, size_bytes)
        case Kind.XHR | Kind.FETCH:
            parts = _append_gap("", _QUOTED, size_bytes)
        case Kind.IMAGE:
            return image_body(one.wire_bytes, seed)
        case Kind.FONT | Kind.MEDIA | Kind.BEACON | Kind.OTHER:
            return draw_body(one.wire_bytes, seed)
    return text_body(parts, one.wire_bytes, coded=coded, seed=seed)


def _script(model: PageModel, place: int, roles: Sequence[Role]) -> str:
    one, role = model.resources[place], roles[place]
    texts = {run for run in role.runs if model.resources[run].kind in _TEXTS and roles[run].runs}
    return script_text(
        model,
        role.runs,
        run_ms=one.run_ms,
        in_document=one.kind is Kind.DOCUMENT,
        texts=texts,
        taken_over_ms=role.taken_over_ms,
    )


def _append_gap(text: str, around: tuple[str, str], size_bytes: int) -> Sequence[str | Gap]:
    opening, closing = around
    room = size_bytes - len(text.encode()) - len(opening) - len(closing)
    return [text, opening, Gap(room), closing] if room >= 0 else [text]
