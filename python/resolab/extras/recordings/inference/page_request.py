"""The page's own request in a recording: the first request for a document, with a document as the answer.

For: recordings with an earlier begin: an aborted and repeated navigation, a page before. Not for: the discoverers of
other requests (`discoverers`).
"""

from collections.abc import Sequence

from resolab.extras.recordings.inference.redirects import join_redirects
from resolab.extras.recordings.recording import RecordedExchange
from resolab.pages.model import Kind

_WITHOUT_BODY = (204, 205)
"""RFC 9110, sections 15.3.5 and 15.3.6: the browser stays on its present page."""
_NOT_MODIFIED = 304
_REFUSED = 400
_NO_DOCUMENTS = {Kind.STYLESHEET, Kind.SCRIPT, Kind.IMAGE, Kind.FONT, Kind.MEDIA, Kind.BEACON}


def has_body(status: int) -> bool:
    """Return True when an answer with this status brings a document, an error's document included."""
    return (200 <= status < 300 and status not in _WITHOUT_BODY) or status >= 400


def own_request(
    exchanges: Sequence[RecordedExchange], url: str | None, *, loaded_ms: float | None = None, from_cache: bool = True
) -> int | None:
    """Find the own request's index; `None` when no request for a document brought a document.

    `url` is the page's, and `loaded_ms` its load event, if recorded. `from_cache`: an answer 304 with a known body is
    accepted.
    """
    requests = _Requests(exchanges, from_cache=from_cache)
    named = (place for place in requests.asked if exchanges[place].url == url and requests.is_answered(place))
    found = next(named, None)
    if found is None:
        found = next(filter(requests.is_page, requests.candidates), None)
    return None if found is None else requests.find_repeated_request(found, loaded_ms)


class _Requests:
    """The requests of a recording that can be the page's own."""

    def __init__(self, exchanges: Sequence[RecordedExchange], *, from_cache: bool) -> None:
        self._exchanges, self._from_cache = exchanges, from_cache
        self._targets = {source: target for target, source in join_redirects(exchanges).sources.items()}
        self.asked = [place for place, one in enumerate(exchanges) if not one.is_preflight]
        self.candidates = self.asked
        if any(exchanges[place].kind is Kind.DOCUMENT for place in self.asked):
            self.candidates = [
                place for place in self.asked if exchanges[place].kind is Kind.DOCUMENT or exchanges[place].is_redirect
            ]

    def is_answered(self, place: int) -> bool:
        """Return True when a request brought a document, by redirects or not."""
        return _is_document(self._document_of(place), from_cache=self._from_cache)

    def is_page(self, place: int) -> bool:
        """Return True when a request brought a document, and is no request for a part of a page."""
        return self._document_of(place).kind not in _NO_DOCUMENTS and self.is_answered(place)

    def find_repeated_request(self, place: int, loaded_ms: float | None) -> int:
        """Return the last request of a navigation: one refused at first (without a password, say) is asked again."""
        for later in self.candidates:
            if self._document_of(place).status < _REFUSED:
                break
            if later > place and self._is_same(place, later, loaded_ms) and self.is_page(later):
                place = later
        return place

    def _is_same(self, place: int, later: int, loaded_ms: float | None) -> bool:
        """Return True for two requests of a navigation; after the load event begins another one."""
        one, other = self._exchanges[place], self._exchanges[later]
        is_before = loaded_ms is None or other.start_ms < loaded_ms
        return is_before and (one.url, one.frame_id) == (other.url, other.frame_id)

    def _document_of(self, place: int) -> RecordedExchange:
        while place in self._targets:
            place = self._targets[place]
        return self._exchanges[place]


def _is_document(one: RecordedExchange, *, from_cache: bool) -> bool:
    if one.status == _NOT_MODIFIED:
        return from_cache and bool(one.wire_bytes or one.raw_bytes)
    return has_body(one.status)
