"""The page's own request in a recording: the first request for a document, with a document as the answer.

For: recordings with an earlier begin: an aborted and repeated navigation, a page before. Not for: the discoverers of
other requests (`parents`).
"""

from collections.abc import Sequence

from resolab.pages.model import Kind
from resolab.recordings.recording import Exchange
from resolab.recordings.redirects import joined

_WITHOUT_BODY = (204, 205)
"""RFC 9110, sections 15.3.5 and 15.3.6: the browser stays on its present page."""
_NOT_MODIFIED = 304
_NO_DOCUMENTS = {Kind.STYLESHEET, Kind.SCRIPT, Kind.IMAGE, Kind.FONT, Kind.MEDIA, Kind.BEACON}


def has_body(status: int) -> bool:
    """Return True when an answer with this status brings a document, an error's document included."""
    return (200 <= status < 300 and status not in _WITHOUT_BODY) or status >= 400


def own_request(exchanges: Sequence[Exchange], url: str | None, *, from_cache: bool = True) -> int | None:
    """Find the own request's index; `None` when no request for a document brought a document.

    `url` is the page's, if recorded. `from_cache`: an answer 304 with a known body is accepted.
    """
    targets = {source: target for target, source in joined(exchanges).sources.items()}

    def document_of(place: int) -> Exchange:
        while place in targets:
            place = targets[place]
        return exchanges[place]

    asked = [place for place, one in enumerate(exchanges) if not one.is_preflight]
    named = [place for place in asked if exchanges[place].url == url]
    candidates = asked
    if any(exchanges[place].kind is Kind.DOCUMENT for place in asked):
        candidates = [
            place for place in asked if exchanges[place].kind is Kind.DOCUMENT or exchanges[place].is_redirect
        ]
    for place in named:
        if _is_document(document_of(place), from_cache=from_cache):
            return place
    for place in candidates:
        document = document_of(place)
        if document.kind not in _NO_DOCUMENTS and _is_document(document, from_cache=from_cache):
            return place
    return None


def _is_document(one: Exchange, *, from_cache: bool) -> bool:
    if one.status == _NOT_MODIFIED:
        return from_cache and bool(one.wire_bytes or one.raw_bytes)
    return has_body(one.status)
