"""The discoverer of each request of a recording, with the evidence.

For: recorders' initiators if believable; else Referer, type and order. Browsers name the parser for images made by
scripts before the document was complete, so `parser` is not always believed. Not for: times (`timing`).
"""

import bisect
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from resolab.extras.recordings.inference.exchange_index import ExchangeIndex
from resolab.extras.recordings.inference.hosts import find_site
from resolab.extras.recordings.recording import Initiator, RecordedExchange
from resolab.extras.recordings.values import read_host
from resolab.pages.model import Discovery, Evidence, Kind

LATE_AFTER_MS = 60.0
"""A parser requests nothing this long, in ms, after the last byte of its document."""
INSERTED_AFTER_MS = 500.0
"""A script or style sheet the parser is named for, but asked for this long after the document's end, was inserted."""
_ISSUED_BY_SCRIPTS = (Kind.XHR, Kind.FETCH, Kind.BEACON)


@dataclass(frozen=True, slots=True)
class DiscoveryResult:
    """The discoverer of a request, with the evidence."""

    parent: int | None
    discovery: Discovery
    evidence: Evidence
    frame: int


class _DiscoveryInference:
    """Walks the exchanges in their order, with knowledge only of earlier exchanges."""

    def __init__(
        self,
        exchanges: Sequence[RecordedExchange],
        sources: Mapping[int, int],
        complete_ms: float | None,
        *,
        is_parser_sure: bool = False,
    ) -> None:
        self._exchanges = exchanges
        self._sources = sources
        self._known = ExchangeIndex(exchanges, sources)
        self._complete_ms = complete_ms
        """DOMContentLoaded of the page's document, on the exchanges' clock."""
        self._is_parser_sure = is_parser_sure
        self._found: list[DiscoveryResult] = []
        self._of_kind = defaultdict[tuple[int, Kind], _EndIndex](_EndIndex)
        """Possible discoverers, by frame, ..."""
        self._of_site = defaultdict[tuple[int, Kind, str], _EndIndex](_EndIndex)
        """... and by site of the host."""
        self._lines: dict[int, int] = {}
        """The furthest known line of each document's parser."""

    def all(self) -> list[DiscoveryResult]:
        for place, exchange in enumerate(self._exchanges):
            one = self._discover(place, exchange)
            self._found.append(one)
            self._known.add(place, one.frame)
            if exchange.status and not exchange.is_redirect:
                site = find_site(read_host(exchange.url) or "")
                self._of_kind[one.frame, exchange.kind].add(exchange.end_ms, place)
                self._of_site[one.frame, exchange.kind, site].add(exchange.end_ms, place)
        return self._found

    def _discover(self, place: int, exchange: RecordedExchange) -> DiscoveryResult:
        if place == 0:
            return DiscoveryResult(None, Discovery.NAVIGATION, Evidence.INITIATOR, 0)
        if place in self._sources:
            source = self._sources[place]
            return DiscoveryResult(source, Discovery.REDIRECT, Evidence.REDIRECT, self._found[source].frame)
        return self._use_initiator(exchange) or self._infer(exchange)

    def _use_initiator(self, exchange: RecordedExchange) -> DiscoveryResult | None:
        said = exchange.initiator
        if said is None:
            return None
        frame = self._known.find_frame(exchange)
        parent = self._first_known(said, frame)
        if parent is None:
            return None
        kind = self._exchanges[parent].kind
        by_script = said.kind == "script"
        if kind is Kind.DOCUMENT and not by_script:
            return self._attribute_to_parser(parent, exchange, said)
        if by_script or kind is Kind.SCRIPT:
            discovery = Discovery.INLINE_SCRIPT if kind is Kind.DOCUMENT else Discovery.SCRIPT
        elif kind is Kind.STYLESHEET:
            discovery = Discovery.STYLESHEET
        else:
            return None
        return self._build_result(parent, discovery, Evidence.INITIATOR, frame)

    def _first_known(self, said: Initiator, frame: int | None) -> int | None:
        candidates = (self._known.find(url, frame) for url in (*said.stack, said.url))
        return next((place for place in candidates if place is not None), None)

    def _build_result(
        self, parent: int, discovery: Discovery, evidence: Evidence, frame: int | None
    ) -> DiscoveryResult:
        if self._exchanges[parent].kind is Kind.DOCUMENT and discovery is not Discovery.SCRIPT:
            return DiscoveryResult(parent, discovery, evidence, parent)
        own = self._known.frames[parent]
        return DiscoveryResult(parent, discovery, evidence, own if frame is None else frame)

    def _attribute_to_parser(self, document: int, exchange: RecordedExchange, said: Initiator) -> DiscoveryResult:
        if self._is_parser_sure and said.kind == "parser":
            return DiscoveryResult(document, Discovery.DOCUMENT, Evidence.INITIATOR, document)
        since_end = exchange.start_ms - self._exchanges[document].end_ms
        if exchange.kind in (Kind.SCRIPT, Kind.STYLESHEET):
            self._note_line(document, said.line)
            inserted = since_end > INSERTED_AFTER_MS and said.kind == "parser"
            discovery = Discovery.LATE if inserted else Discovery.DOCUMENT
            return DiscoveryResult(document, discovery, Evidence.INITIATOR, document)
        if said.line is not None and self._is_late(document, exchange, said.line, since_end):
            return DiscoveryResult(document, Discovery.LATE, Evidence.INFERRED, document)
        self._note_line(document, said.line)
        return DiscoveryResult(document, Discovery.DOCUMENT, Evidence.INITIATOR, document)

    def _note_line(self, document: int, line: int | None) -> None:
        self._lines[document] = max(self._lines.get(document, 0), line or 0)

    def _is_late(self, document: int, exchange: RecordedExchange, line: int, since_end: float) -> bool:
        if line < self._lines.get(document, 0) or (line == 0 and since_end > LATE_AFTER_MS):
            return True
        is_complete = self._complete_ms is not None and exchange.start_ms > self._complete_ms
        return document == self._document_of_page() and is_complete

    def _document_of_page(self) -> int | None:
        return self._known.find(self._exchanges[0].url)

    def _infer(self, exchange: RecordedExchange) -> DiscoveryResult:
        named = self._known.find(exchange.referer)
        if named is not None and self._exchanges[named].kind is Kind.STYLESHEET:
            # Fetches of a style sheet have it as their referrer (CSS Values 4, section 5.4).
            return self._build_result(named, Discovery.STYLESHEET, Evidence.REFERER, None)
        frame = self._known.find_frame(exchange)
        evidence = Evidence.INFERRED if frame is None else Evidence.REFERER
        document = frame if frame is not None else self._document_of_page() or 0
        if self._could_be_markup(document, exchange):
            return DiscoveryResult(document, Discovery.DOCUMENT, evidence, document)
        if exchange.kind is Kind.FONT and (sheet := self._latest(Kind.STYLESHEET, document, exchange)) is not None:
            return DiscoveryResult(sheet, Discovery.STYLESHEET, Evidence.INFERRED, document)
        said = exchange.initiator
        if exchange.kind is Kind.IMAGE and said is not None and said.kind == "other":
            return DiscoveryResult(document, Discovery.LATE, Evidence.INFERRED, document)
        script = self._likely_script(document, exchange)
        if script is None:
            return DiscoveryResult(document, Discovery.LATE, Evidence.INFERRED, document)
        return DiscoveryResult(script, Discovery.SCRIPT, Evidence.INFERRED, document)

    def _could_be_markup(self, document: int, exchange: RecordedExchange) -> bool:
        if exchange.kind in (*_ISSUED_BY_SCRIPTS, Kind.FONT, Kind.OTHER) or exchange.method != "GET":
            return False
        if exchange.initiator is not None and exchange.initiator.kind in {"script", "other"}:
            return False
        return exchange.start_ms <= self._exchanges[document].end_ms + LATE_AFTER_MS

    def _likely_script(self, document: int, exchange: RecordedExchange) -> int | None:
        """Take the latest script of the request's own site, as third parties' scripts contact their own site.

        No other script is likely.
        """
        home = find_site(read_host(exchange.url) or "")
        return self._of_site[document, Kind.SCRIPT, home].latest(exchange.start_ms)

    def _latest(self, kind: Kind, document: int, exchange: RecordedExchange) -> int | None:
        """Find the exchange of a kind in a frame with the latest end before a request's begin."""
        return self._of_kind[document, kind].latest(exchange.start_ms)


class _EndIndex:
    """Places of exchanges by when they ended: recordings may have ten thousands."""

    def __init__(self) -> None:
        self._by_end: list[tuple[float, int]] = []
        """Pairs of end and negative index: of exchanges with the same end, the first is last in the list."""

    def add(self, end_ms: float, place: int) -> None:
        bisect.insort(self._by_end, (end_ms, -place))

    def latest(self, until_ms: float) -> int | None:
        """Find the last exchange with an end by then."""
        count = bisect.bisect_right(self._by_end, (until_ms, 0))
        return -self._by_end[count - 1][1] if count else None


def discover(
    exchanges: Sequence[RecordedExchange],
    sources: Mapping[int, int],
    complete_ms: float | None,
    *,
    is_parser_sure: bool = False,
) -> list[DiscoveryResult]:
    """Judge every exchange; the first is the page's own request.

    `is_parser_sure`: the recorder never names the parser for insertions by scripts.
    """
    return _DiscoveryInference(exchanges, sources, complete_ms, is_parser_sure=is_parser_sure).all()


def is_evident(one: DiscoveryResult) -> bool:
    """Return True when the recording itself names the discoverer."""
    return one.evidence in {Evidence.INITIATOR, Evidence.REDIRECT}
