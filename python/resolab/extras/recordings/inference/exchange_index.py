"""Exchanges by URL up to a position in their order, with the documents: the possible referents of a request.

For: finding the exchange meant by a URL at a moment, with copies in several frames separated where possible. Not for:
deciding on discoverers (`discoverers`).
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

from resolab.extras.recordings.recording import RecordedExchange
from resolab.extras.recordings.values import same_url
from resolab.pages.model import Kind


class ExchangeIndex:
    """The requests so far; exchanges are added in the order of their start."""

    def __init__(self, exchanges: Sequence[RecordedExchange], sources: Mapping[int, int]) -> None:
        self._exchanges = exchanges
        self._targets = {source: target for target, source in sources.items()}
        self._by_url: dict[str, list[int]] = defaultdict(list)
        self._by_origin: dict[str, list[int]] = defaultdict(list)
        self._by_frame_id: dict[str, int] = {}
        self.frames: dict[int, int] = {}
        """Document each exchange belongs to."""
        self._count = 0

    def add(self, place: int, frame: int) -> None:
        """Take the next exchange."""
        exchange = self._exchanges[place]
        self.frames[place] = frame
        self._by_url[exchange.url].append(place)
        self._count = place + 1
        if exchange.kind is Kind.DOCUMENT and not exchange.is_redirect:
            self._by_origin[_origin(exchange.url)].append(place)
            if exchange.frame_id is not None:
                self._by_frame_id[exchange.frame_id] = place

    def find(self, url: str | None, frame: int | None = None) -> int | None:
        """Find the latest exchange of a URL, in the frame if present there; for a redirect, its final target."""
        if url is None:
            return None
        places = self._by_url.get(same_url(url))
        if not places:
            return None
        in_frame = [place for place in places if frame is not None and self.frames[place] == frame]
        return self._end_of((in_frame or places)[-1])

    def _end_of(self, place: int) -> int:
        while (target := self._targets.get(place)) is not None and target < self._count:
            place = target
        return place

    def find_frame(self, exchange: RecordedExchange) -> int | None:
        """Return a request's document by frame id, by Referer, or by the Referer's origin without more information."""
        if exchange.frame_id is not None and exchange.frame_id in self._by_frame_id:
            return self._by_frame_id[exchange.frame_id]
        if exchange.referer is None:
            return None
        named = self.find(exchange.referer)
        if named is not None:
            return named if self._exchanges[named].kind is Kind.DOCUMENT else self.frames[named]
        documents = self._by_origin.get(_origin(exchange.referer))
        return documents[-1] if documents else None


def _origin(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    return f"{parts.scheme}://{parts.netloc.lower()}"
