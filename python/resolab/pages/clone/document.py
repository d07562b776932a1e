"""Documents of a clone: markup in the recorded order, each element at its share of the bytes.

For: the parts of an HTML text, with gaps for the page's byte count. Not for: filling the gaps (`body`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from resolab.pages.clone.body import Gap
from resolab.pages.clone.names import make_url
from resolab.pages.clone.roles import Role
from resolab.pages.clone.script import choose_crossorigin, script_text
from resolab.pages.model import Kind, PageModel, ScriptMode

OPENING, CLOSING = "<!--", "-->"
_BEGINNING = '<!doctype html><html><head><meta charset=utf-8><link rel=icon href="data:,">'
_BODY = "</head><body>"
_OF_HEAD = (Kind.SCRIPT, Kind.STYLESHEET, Kind.FONT)
"""Other elements end a document's head (HTML section 13.2.6.4.4)."""
_FRAME_STYLE = "position:fixed;left:0;top:0;width:20px;height:20px;border:0"
"""The position inside the view: browsers slow down frames of other sites outside the view."""
_MODES = {
    ScriptMode.SYNC: "",
    ScriptMode.ASYNC: " async",
    ScriptMode.DEFER: " defer",
    ScriptMode.MODULE: " type=module",
}


@dataclass(frozen=True, slots=True)
class _Tag:
    text: str
    place: float
    """The share of the document before the tag, 0 to 1."""


def document_parts(model: PageModel, role: Role, size_bytes: int, inline: str) -> Sequence[str | Gap]:
    """Write a document of `size_bytes`, or of the size needed by the markup and the script in the head."""
    beginning = _BEGINNING + (f"<script>{inline}</script>" if inline else "")
    return _spread(beginning, list(_tags(model, role)), size_bytes)


def _spread(beginning: str, tags: Sequence[_Tag], size_bytes: int) -> list[str | Gap]:
    parts: list[str | Gap] = [beginning]
    written = len(beginning.encode())
    left = sum(len(tag.text.encode()) for tag in tags)
    for tag in tags:
        # Where all that follows must fit, the last tags stand closer.
        wanted = min(round(tag.place * size_bytes), size_bytes - left)
        written += _fill(parts, wanted - written)
        parts.append(tag.text)
        written += len(tag.text.encode())
        left -= len(tag.text.encode())
    _fill(parts, size_bytes - written)
    return parts


def _fill(parts: list[str | Gap], size_bytes: int) -> int:
    around = len(OPENING) + len(CLOSING)
    if size_bytes < around:
        return 0
    parts += [OPENING, Gap(size_bytes - around), CLOSING]
    return size_bytes


def _tags(model: PageModel, role: Role) -> Iterator[_Tag]:
    place, in_head = 0.0, True
    slots = "".join(f"<i id=s{slot}>x</i>" for slot in role.slots)
    deferred: list[str] = []
    for child in role.markup:
        one = model.resources[child]
        place = max(place, one.place or 0.0)
        is_of_head = one.kind in _OF_HEAD or _is_fetched(one.kind)
        if in_head and not is_of_head:
            yield _Tag(_BODY + slots, place)
            in_head = False
        text, later = _element(model, child)
        yield _Tag(text, place)
        deferred += [later] if later else []
    end = ("" if not in_head else _BODY + slots) + "".join(deferred)
    if end:
        yield _Tag(end, 1.0)


def _element(model: PageModel, place: int) -> tuple[str, str]:
    """Write the element behind a request, and the second element at the document's end, if any."""
    one, url = model.resources[place], make_url(model, place)
    crossorigin = f" crossorigin={value}" if (value := choose_crossorigin(one)) else ""
    if one.kind is Kind.SCRIPT and one.preload:
        return _preload(url, "script", crossorigin), f"<script src={url} defer{crossorigin}></script>"
    match one.kind:
        case Kind.SCRIPT:
            text = f"<script src={url}{_MODES[one.script_mode or ScriptMode.SYNC]}{crossorigin}></script>"
        case Kind.STYLESHEET:
            sheet = f"<link rel=stylesheet href={url}{crossorigin}>"
            text = _preload(url, "style", crossorigin) + sheet if one.preload else sheet
        case Kind.IMAGE:
            text = f"<img src={url}{crossorigin} width=1 height=1>"
        case Kind.DOCUMENT:
            text = f'<iframe src={url} style="{_FRAME_STYLE}"></iframe>'
        case Kind.FONT:
            text = _preload(url, "font", " crossorigin")
        case Kind.MEDIA | Kind.FETCH | Kind.XHR | Kind.BEACON | Kind.OTHER:
            # By an element we do not know, or one that asks in parts (films): by a script at its place.
            text = f"<script>{script_text(model, [place])}</script>"
    return text, ""


def _is_fetched(kind: Kind) -> bool:
    return kind in {Kind.MEDIA, Kind.FETCH, Kind.XHR, Kind.BEACON, Kind.OTHER}


def _preload(url: str, what: str, crossorigin: str) -> str:
    return f"<link rel=preload as={what} href={url}{crossorigin}>"
