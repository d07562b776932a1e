"""A log of the Chrome DevTools Protocol as a recording: Chromium's own account of a load.

For: logs of Lighthouse, Puppeteer and similar programs, as an array of messages or a message a line, and the messages
of `page record`. Not for: the protocol's commands (`browser.chromium`).
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from resolab.basics.errors import ConfigurationError
from resolab.extras.recordings.devtools.navigations import Navigations, PageLoad
from resolab.extras.recordings.har.initiators import read_cdp_initiator
from resolab.extras.recordings.inference.internal_redirects import is_internal
from resolab.extras.recordings.inference.page_request import has_body
from resolab.extras.recordings.json_text import JSON_ERRORS, decode_json, decode_json_lines
from resolab.extras.recordings.kinds import UNKEPT, classify_kind
from resolab.extras.recordings.recording import (
    BEFORE_THE_PAGE,
    OTHER_PAGES,
    Initiator,
    RecordedExchange,
    Recording,
    Timings,
)
from resolab.extras.recordings.values import (
    count,
    duration,
    number,
    protocol,
    read_host,
    resolve_target,
    same_url,
    text,
)

Json = Mapping[str, Any]
_HEAD_BYTES = 4_096
_OF_WORKERS = {"worker", "sharedworker", "serviceworker"}
"""Destinations of Fetch (Sec-Fetch-Dest)."""


def read_cdp(content: bytes | memoryview, shown: str) -> Recording:
    """Read a DevTools log as a recording."""
    found = Recording(form="cdp", exchanges=[], creator="Chrome DevTools Protocol")
    messages = _messages(content, shown, found)
    return make_recording(messages, found, shown)


def _messages(content: bytes | memoryview, shown: str, found: Recording) -> Iterator[Json]:
    try:
        is_list = bytes(content[:_HEAD_BYTES]).lstrip().startswith(b"[")
        said = decode_json(content, list[Any]) if is_list else decode_json_lines(content)
    except JSON_ERRORS as error:
        raise ConfigurationError(f"failed to read {shown}: no CDP log: {error}") from error
    if said and isinstance(said[0], Mapping) and {"ph", "pid"} <= said[0].keys():
        problem = "it is a trace of Chromium: give a HAR or a log of the DevTools protocol of the load"
        raise ConfigurationError(f"failed to read {shown}: {problem}")
    for one in said:
        message = _unwrap_driver_event(one)
        if isinstance(message, Mapping) and isinstance(message.get("method"), str):
            yield message
        else:
            found.lose("messages that are no events")


def _unwrap_driver_event(one: object) -> object:
    """Unwrap an event of chromedriver's performance log; other messages stay unchanged."""
    if not isinstance(one, Mapping) or not isinstance(one.get("message"), str):
        return one
    try:
        inner = decode_json(one["message"].encode(), object)
    except JSON_ERRORS:
        return one
    return inner.get("message") if isinstance(inner, Mapping) else one


@dataclass(slots=True)
class _Request:
    """One request between its first event and its last."""

    sent: Json
    place: int = 0
    """Index of the request's event in the log."""
    response: Json | None = None
    redirect_to: str | None = None
    moved_bytes: int = 0
    raw_bytes: int = 0
    finished_s: float | None = None
    was_served_from_cache: bool = False
    asked: dict[str, str] = field(default_factory=dict)
    answered: dict[str, str] = field(default_factory=dict)
    has_extra: bool = True
    """True when the log has the request's heads a second time, as on the wire."""


@dataclass(slots=True)
class _Chain:
    """The requests with one id, a request for each redirection, and the network's account of their heads.

    The heads come from another process, before or after the other events, in the order of the requests.
    """

    requests: list[_Request] = field(default_factory=list)
    asked: list[dict[str, str]] = field(default_factory=list)
    answered: list[dict[str, str]] = field(default_factory=list)

    def pair(self) -> None:
        """Give each request its own heads."""
        told = [one for one in self.requests if one.has_extra]
        for one, heads in zip(told, self.asked, strict=False):
            one.asked |= heads
        for one, heads in zip(told, self.answered, strict=False):
            one.answered |= heads


class _Log:
    """Takes events in their order."""

    def __init__(self, found: Recording, *, goes_on: bool) -> None:
        self._found = found
        self._open: dict[str, _Request] = {}
        self._chains: dict[str, _Chain] = defaultdict(_Chain)
        self._place = 0
        self.navigations = Navigations(goes_on=goes_on)

    def take(self, event: str, params: Json) -> None:
        """Take one event; ignore events unrelated to a load."""
        handler = {
            "Network.requestWillBeSent": self._take_sent,
            "Network.requestWillBeSentExtraInfo": self._take_sent_heads,
            "Network.responseReceived": self._take_answer,
            "Network.responseReceivedExtraInfo": self._take_answer_heads,
            "Network.dataReceived": self._data,
            "Network.loadingFinished": self._take_finish,
            "Network.loadingFailed": self._take_failure,
            "Network.requestServedFromCache": self._take_cache_hit,
            "Network.webSocketCreated": self._socket,
        }.get(event)
        self._place = self.navigations.take(event, params)
        if handler is not None:
            handler(params)

    def load_requests(self, load: PageLoad | None) -> list[_Request]:
        """Return every request of a page's load, unfinished ones included; without a navigation, all requests."""
        for chain in self._chains.values():
            chain.pair()
        every = [one for chain in self._chains.values() for one in chain.requests]
        kept = every if load is None else [one for one in every if self._is_of(one, load)]
        left_open = {id(one) for one in self._open.values()}
        unended = sum(id(one) in left_open for one in kept)
        if unended:
            self._found.lose("requests that had not ended when the recording did", unended)
        return kept

    def _is_of(self, one: _Request, load: PageLoad) -> bool:
        request_id, loader_id = text(one.sent.get("requestId")) or "", text(one.sent.get("loaderId"))
        navigation = self.navigations.find(one.place, request_id, loader_id)
        if navigation in load.navigations:
            return True
        is_before = one.place < load.navigations[0].place
        self._found.lose(BEFORE_THE_PAGE if is_before else OTHER_PAGES)
        return False

    def _take_sent(self, params: Json) -> None:
        identity = text(params.get("requestId")) or ""
        redirect = params.get("redirectResponse")
        before = self._open.pop(identity, None)
        if before is not None and isinstance(redirect, Mapping):
            before.response = redirect
            before.answered |= _heads(redirect.get("headers"))
            before.has_extra = params.get("redirectHasExtraInfo") is not False
            before.redirect_to = text(_part(params, "request").get("url"))
            before.moved_bytes = count(redirect.get("encodedDataLength")) or 0
            before.finished_s = number(params.get("timestamp"))
        one = _Request(params, self._place, asked=_heads(_part(params, "request").get("headers")))
        self._open[identity] = one
        self._chains[identity].requests.append(one)

    def _take_sent_heads(self, params: Json) -> None:
        self._chains[text(params.get("requestId")) or ""].asked.append(_heads(params.get("headers")))

    def _take_answer(self, params: Json) -> None:
        one = self._open.get(text(params.get("requestId")) or "")
        if one is not None:
            one.response = _part(params, "response")
            one.answered |= _heads(one.response.get("headers"))
            one.has_extra = params.get("hasExtraInfo") is not False

    def _take_answer_heads(self, params: Json) -> None:
        self._chains[text(params.get("requestId")) or ""].answered.append(_heads(params.get("headers")))

    def _data(self, params: Json) -> None:
        one = self._open.get(text(params.get("requestId")) or "")
        if one is not None:
            one.raw_bytes += count(params.get("dataLength")) or 0
            one.moved_bytes += count(params.get("encodedDataLength")) or 0

    def _take_finish(self, params: Json) -> None:
        one = self._open.pop(text(params.get("requestId")) or "", None)
        if one is not None:
            one.moved_bytes = count(params.get("encodedDataLength")) or one.moved_bytes
            one.finished_s = number(params.get("timestamp"))

    def _take_failure(self, params: Json) -> None:
        one = self._open.pop(text(params.get("requestId")) or "", None)
        if one is not None:
            one.finished_s = number(params.get("timestamp"))
            if one.response is None or not params.get("canceled"):
                one.response = None

    def _take_cache_hit(self, params: Json) -> None:
        one = self._open.get(text(params.get("requestId")) or "")
        if one is not None:
            one.was_served_from_cache = True

    def _socket(self, _params: Json) -> None:
        self._found.lose("requests of type websocket")


def make_recording(messages: Iterable[Json], found: Recording, shown: str, *, goes_on: bool = False) -> Recording:
    """Make a recording from events of any listener: of the first page with an answer.

    `goes_on`: only the page itself navigates, so everything before a load event is of one load.
    """
    log = _Log(found, goes_on=goes_on)
    for one in messages:
        params = one.get("params")
        log.take(one["method"], params if isinstance(params, Mapping) else {})
    loads = log.navigations.loads()
    load = next((one for one in loads if one.is_answered), next(iter(loads), None))
    found.exchanges = sorted(_exchanges(log.load_requests(load), found), key=lambda one: one.start_ms)
    if not found.exchanges:
        raise ConfigurationError(f"failed to read {shown}: it has no request of a page")
    if load is not None:
        own = next((one.url for one in load.navigations if has_body(one.status)), load.navigations[0].url)
        found.url = same_url(own) if own else None
        found.loaded_ms, found.complete_ms = _ms(load.loaded_s), _ms(load.complete_s)
    if found.loaded_ms is None:
        found.lose("the time of the load event", 0)
    found.recorded, found.is_on_ticks = None, True
    found.lose("computing times of scripts", 0)
    return found


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else seconds * 1e3


def _exchanges(requests: Iterable[_Request], found: Recording) -> Iterator[RecordedExchange]:
    asked: set[str] = set()
    for one in sorted(requests, key=lambda one: number(one.sent.get("timestamp")) or 0.0):
        url = text(_part(one.sent, "request").get("url"))
        word = (text(one.sent.get("type")) or "").lower()
        started = number(one.sent.get("timestamp"))
        if url is None or read_host(url) is None:
            found.lose("requests of other schemes than http and https (data:, blob:, ws:)")
        elif started is None:
            found.lose("requests without the time they began")
        elif word in UNKEPT:
            found.lose(f"requests of type {word}")
        elif _is_cached(one) and url in asked:
            found.lose("requests answered by what the same load had fetched")
        else:
            if _is_cached(one):
                # A first visit would have fetched it, and others have it as their discoverer.
                found.lose("requests answered by a cache, taken for fetched")
            asked.add(url)
            yield _exchange(one, url, started)


def _is_cached(one: _Request) -> bool:
    response = one.response or {}
    if response.get("fromServiceWorker") is True:
        return False  # What that had it from is seen beside its own requests.
    return one.was_served_from_cache or any(
        response.get(cache) is True for cache in ("fromDiskCache", "fromPrefetchCache")
    )


def _exchange(one: _Request, url: str, started: float) -> RecordedExchange:
    request, response = _part(one.sent, "request"), one.response or {}
    said = _initiator(one)
    method = (text(request.get("method")) or "GET").upper()
    wire, raw = _sizes(one, response)
    status = count(response.get("status")) or 0
    target = one.redirect_to or (one.answered.get("location") if 300 <= status < 400 else None)
    security = _part(response, "securityDetails")
    names = security.get("sanList")
    address = text(response.get("remoteIPAddress"))
    return RecordedExchange(
        url=same_url(url),
        start_ms=started * 1e3,
        kind=classify_kind(
            word=text(one.sent.get("type")),
            mime=text(response.get("mimeType")),
            url=url,
            destination=one.asked.get("sec-fetch-dest"),
            accept=one.asked.get("accept"),
        ),
        timings=_timings(one, response, started),
        method=method,
        status=status,
        redirect_to=resolve_target(url, target) if target else None,
        protocol=protocol(response.get("protocol")),
        wire_bytes=wire,
        raw_bytes=raw,
        request_bytes=_request_bytes(one, request),
        address=address,
        connection=str(response["connectionId"]) if response.get("connectionId") else None,
        certificate_names=tuple(name for name in names if isinstance(name, str)) if isinstance(names, list) else (),
        priority=text(request.get("initialPriority")),
        referer=one.asked.get("referer"),
        mode=one.asked.get("sec-fetch-mode"),
        sends_origin="origin" in one.asked,
        has_credentials="cookie" in one.asked if one.asked else None,
        alt_svc="h3" in one.answered.get("alt-svc", "") if one.answered else None,
        request_id=text(one.sent.get("requestId")),
        frame_id=text(one.sent.get("frameId")),
        initiator=said,
        is_preflight=text(one.sent.get("type")) == "Preflight" or (said is not None and said.kind == "preflight"),
        is_preload=request.get("isLinkPreload") is True,
        by_service_worker=response.get("fromServiceWorker") is True,
        is_internal_redirect=is_internal(
            status=status, status_text=text(response.get("statusText")), heads=one.answered, address=address
        ),
    )


def _initiator(one: _Request) -> Initiator | None:
    said = read_cdp_initiator(one.sent.get("initiator"))
    if said is not None and said.kind == "other" and one.asked.get("sec-fetch-dest") in _OF_WORKERS:
        # The document is named, but a script in it must have asked; nobody says which.
        return replace(said, url=None)
    return said


def _request_bytes(one: _Request, request: Json) -> int:
    told = count(one.asked.get("content-length"))
    if told is not None:
        return told
    return len(request["postData"].encode()) if isinstance(request.get("postData"), str) else 0


def _sizes(one: _Request, response: Json) -> tuple[int | None, int | None]:
    told = count(one.answered.get("content-length"))
    if one.redirect_to is not None:
        return told or 0, told or 0  # What is said to have moved is the head.
    head = count(response.get("encodedDataLength")) or 0
    body = one.moved_bytes - head if one.moved_bytes > head else one.moved_bytes
    wire = body if told is None else told
    return (wire, max(one.raw_bytes, 0) or wire) if one.response else (None, None)


def _timings(one: _Request, response: Json, started: float) -> Timings:
    """Turn Network.ResourceTiming, ms since its requestTime, into HAR's phases."""
    said = _part(response, "timing")
    asked = number(said.get("requestTime"))
    if asked is None:
        total = 0.0 if one.finished_s is None else max(0.0, (one.finished_s - started) * 1e3)
        return Timings(wait=duration(total))

    def between(begin: str, end: str) -> float | None:
        first, last = number(said.get(begin)), number(said.get(end))
        return None if first is None or last is None or first < 0 or last < first else last - first

    sent, answered = number(said.get("sendEnd")) or 0.0, number(said.get("receiveHeadersEnd")) or 0.0
    ended = one.finished_s or asked + answered / 1e3
    dns, connect = between("dnsStart", "dnsEnd"), between("connectStart", "connectEnd")
    until_sent = (asked - started) * 1e3 + sent
    return Timings(
        blocked=max(0.0, until_sent - (dns or 0.0) - (connect or 0.0) - (between("sendStart", "sendEnd") or 0.0)),
        dns=dns,
        connect=connect,
        ssl=between("sslStart", "sslEnd"),
        send=between("sendStart", "sendEnd"),
        wait=max(0.0, answered - sent),
        receive=max(0.0, (ended - asked) * 1e3 - answered),
    )


def _part(said: Json, name: str) -> Json:
    found = said.get(name)
    return found if isinstance(found, Mapping) else {}


def _heads(said: object) -> dict[str, str]:
    if not isinstance(said, Mapping):
        return {}
    return {name.lower(): value for name, value in said.items() if isinstance(name, str) and isinstance(value, str)}
