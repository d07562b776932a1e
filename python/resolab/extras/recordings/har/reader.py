"""A HAR file as a recording: the first page's requests, from any maker.

For: HAR 1.2 of any maker, with the makers' additions. Missing or unusable values become a named loss. Not for:
discoverers (`inference.discoverers`).
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, tzinfo
from typing import TypeVar

import msgspec

from resolab.basics.errors import ConfigurationError
from resolab.extras.recordings.har.caches import is_by_service_worker, is_cached
from resolab.extras.recordings.har.connections import read_connection, remove_ports
from resolab.extras.recordings.har.initiators import read_initiator
from resolab.extras.recordings.har.shapes import (
    HarEntry,
    HarFile,
    HarLog,
    HarPage,
    HarProgram,
    HarRequest,
    HarResponse,
    HarTimings,
)
from resolab.extras.recordings.har.sizes import body_sizes
from resolab.extras.recordings.inference.internal_redirects import is_internal
from resolab.extras.recordings.inference.page_request import own_request
from resolab.extras.recordings.json_text import JSON_ERRORS, decode_json
from resolab.extras.recordings.kinds import UNKEPT, classify_kind
from resolab.extras.recordings.recording import OTHER_PAGES, RecordedExchange, Recording, Timings
from resolab.extras.recordings.values import (
    count,
    duration,
    instant,
    number,
    protocol,
    read_host,
    resolve_target,
    same_url,
    text,
    unix_ms,
)

_WEBKIT = "WebKit Web Inspector"
"""Safari's maker name. Safari writes instants of the inspector's clock in HAR's fields for times since the page's
begin."""

Shape = TypeVar("Shape", HarPage, HarEntry)
Heads = dict[str, str]


def read_har(content: bytes | memoryview, shown: str) -> Recording:
    """Read an archive's first page with an answer."""
    try:
        log = _log(decode_json(content, HarFile))
    except (*JSON_ERRORS, ValueError) as error:
        raise ConfigurationError(f"failed to read {shown}: {_format_error(error)}") from error
    found = Recording(form="har", exchanges=[], creator=_maker(log.creator), browser=_maker(log.browser))
    pages = _each(log.pages, HarPage, found, "pages of a shape that is none of HAR's")
    entries = _each(log.entries, HarEntry, found, "entries of a shape that is none of HAR's")
    found = _first_answered(_load(page, of_page, entries, found) for page, of_page in _split_by_page(pages, entries))
    if not found.exchanges:
        raise ConfigurationError(f"failed to read {shown}: no request of it can be used ({_format_losses(found)})")
    return found


def _log(said: HarFile) -> HarLog:
    """Take the archive; raise ValueError with the file's real kind for any other file."""
    if said.log is not None:
        return said.log
    if said.entries is not None:
        return said
    for what, is_it in (
        ("a log of Chromium's network stack: give it beside its recording, with --netlog", said.constants),
        ("a trace of Chromium: give a HAR or a log of the DevTools protocol of the load", said.trace_events),
        ("a result of WebPageTest: give its HAR", said.data),
    ):
        if is_it is not msgspec.UNSET:
            raise ValueError(f"it is {what}")
    raise ValueError("no HAR: it has no `log`")


def _format_error(error: Exception) -> str:
    return f"no HAR: {error}" if isinstance(error, JSON_ERRORS) else str(error)


def _first_answered(loads: Iterable[Recording]) -> Recording:
    """Choose the first page with a fetched document, else with a cached document, else with a request."""
    passed: list[Recording] = []
    for one in loads:
        if own_request(one.exchanges, one.url, loaded_ms=one.loaded_ms, from_cache=False) is not None:
            return one
        passed.append(one)
    cached = (one for one in passed if own_request(one.exchanges, one.url, loaded_ms=one.loaded_ms) is not None)
    return next(cached, next((one for one in passed if one.exchanges), passed[0]))


def _load(page: HarPage | None, entries: list[HarEntry], every: Sequence[HarEntry], begun: Recording) -> Recording:
    """Read one page's entries; leave out entries of other pages."""
    found = replace(begun, exchanges=[], losses=Counter(begun.losses))
    zone = _zone([*([] if page is None else [page]), *entries])
    if len(entries) < len(every):
        found.lose(OTHER_PAGES, len(every) - len(entries))
    found.recorded = _month(entries)
    found.exchanges = sorted(remove_ports(_exchanges(entries, found, zone)), key=lambda one: one.start_ms)
    if found.exchanges:
        _say_of_page(page, found, zone)
        _say_what_is_missing(entries, found)
    return found


def _maker(said: HarProgram | None) -> str | None:
    if said is None:
        return None
    return " ".join(filter(None, (text(said.name), text(said.version)))) or None


def _month(entries: Sequence[HarEntry]) -> str | None:
    """Year and month: enough to know the web by, too little to find a visit by."""
    began = next((at for one in entries if (at := instant(one.started_date_time)) is not None), None)
    return None if began is None else began.strftime("%Y-%m")


def _zone(told: Sequence[HarPage | HarEntry]) -> tzinfo:
    """Find the zone for dates without a zone: the first zone in the file, for one clock in a file."""
    began = (instant(one.started_date_time) for one in told)
    return next((at.tzinfo for at in began if at is not None and at.tzinfo is not None), UTC)


def _each(raws: list[msgspec.Raw] | None, shape: type[Shape], found: Recording, loss: str) -> list[Shape]:
    read = []
    decoder = msgspec.json.Decoder(shape)
    for raw in raws or ():
        try:
            read.append(decoder.decode(raw))
        except JSON_ERRORS:
            found.lose(loss)
    return read


def _split_by_page(
    pages: Sequence[HarPage], entries: list[HarEntry]
) -> Iterator[tuple[HarPage | None, list[HarEntry]]]:
    """Split entries by page, in the pages' order; without page names all entries are of one page."""
    named = dict.fromkeys(name for name in (text(one.pageref) for one in entries) if name is not None)
    known = {name: one for one in reversed(pages) if (name := text(one.id)) is not None and name in named}
    if len(named) < 2:
        is_only = not named or len(pages) == 1
        page = next(iter(known.values()), None)
        yield page or (next(iter(pages), None) if is_only else None), entries
        return
    of_page: dict[str | None, list[HarEntry]] = defaultdict(list)
    for one in entries:
        of_page[text(one.pageref)].append(one)
    for name in dict.fromkeys([*(name for one in pages if (name := text(one.id)) in known), *named]):
        if None in of_page:  # Nobody says whose they are.
            yield known.get(name), [one for one in entries if text(one.pageref) in {name, None}]
        else:
            yield known.get(name), of_page[name]


def _exchanges(entries: Iterable[HarEntry], found: Recording, zone: tzinfo) -> Iterable[RecordedExchange]:
    asked: set[str] = set()
    for entry in entries:
        request = entry.request
        url = text(request.url) if request else None
        started = unix_ms(entry.started_date_time, zone)
        word = (text(entry.resource_type) or "").lower()
        if request is None or url is None:
            found.lose("requests without a URL")
        elif read_host(url) is None:
            found.lose("requests of other schemes than http and https (data:, blob:, ws:)")
        elif word in UNKEPT:
            found.lose(f"requests of type {word}")
        elif started is None:
            found.lose("requests without the time they began (ISO 8601)")
        elif (by_cache := is_cached(entry, found.browser or found.creator)) and url in asked:
            found.lose("requests answered by what the same load had fetched")
        else:
            if by_cache:
                # A first visit would have fetched it, and others have it as their discoverer.
                found.lose("requests answered by a cache, taken for fetched")
            asked.add(url)
            yield _exchange(entry, request, url, started, by_cache=by_cache)


def _exchange(entry: HarEntry, request: HarRequest, url: str, started: float, *, by_cache: bool) -> RecordedExchange:
    response = entry.response or HarResponse()
    asked, answered = _heads(request.headers), _heads(response.headers)
    content = response.content
    mime = text(content.mime_type) if content else None
    wire, raw = body_sizes(response, answered, by_cache=by_cache)
    said = read_initiator(entry)
    target = text(response.redirect_url) or answered.get("location")
    status = count(response.status) or 0
    method = (text(request.method) or "GET").upper()
    address = text(entry.server_address)
    return RecordedExchange(
        url=same_url(url),
        start_ms=started,
        kind=classify_kind(
            word=text(entry.resource_type),
            mime=mime,
            url=url,
            destination=asked.get("sec-fetch-dest"),
            accept=asked.get("accept"),
        ),
        timings=_timings(entry.timings),
        method=method,
        status=status,
        redirect_to=resolve_target(url, target) if target and 300 <= status < 400 else None,
        protocol=protocol(response.http_version) or protocol(request.http_version),
        wire_bytes=wire,
        raw_bytes=raw,
        request_bytes=count(request.body_size) or 0,
        address=address,
        connection=read_connection(entry.connection),
        priority=text(entry.initial_priority) or text(entry.priority),
        referer=asked.get("referer"),
        mode=asked.get("sec-fetch-mode"),
        sends_origin="origin" in asked,
        has_credentials="cookie" in asked if asked else None,
        alt_svc="h3" in answered.get("alt-svc", "") if answered else None,
        request_id=text(entry.request_id),
        initiator=said,
        is_preflight=method == "OPTIONS" and ("access-control-request-method" in asked or _is_preflight(entry)),
        is_preload=request.is_link_preload is True,
        by_service_worker=is_by_service_worker(entry),
        is_internal_redirect=is_internal(
            status=status, status_text=text(response.status_text), heads=answered, address=address
        ),
    )


def _is_preflight(entry: HarEntry) -> bool:
    return (text(entry.initiator_type) or "") == "preflight"


def _heads(said: object) -> Heads:
    """Read a list of names and values, as in HAR, or an object of names and values."""
    named: Iterable[tuple[object, object]] = ()
    if isinstance(said, Mapping):
        named = said.items()
    elif isinstance(said, list):
        named = ((one.get("name"), one.get("value")) for one in said if isinstance(one, Mapping))
    told = ((text(name), value) for name, value in named)
    return {name.lower(): value for name, value in told if name and isinstance(value, str)}


def _timings(said: HarTimings | None) -> Timings:
    if said is None:
        return Timings()
    return Timings(
        blocked=duration(said.blocked),
        dns=duration(said.dns),
        connect=duration(said.connect),
        ssl=duration(said.ssl),
        send=duration(said.send),
        wait=duration(said.wait),
        receive=duration(said.receive),
    )


def _say_of_page(page: HarPage | None, found: Recording, zone: tzinfo) -> None:
    if page is None:
        return
    title = text(page.title)
    found.url = same_url(title) if title and read_host(title) else None
    started = unix_ms(page.started_date_time, zone)
    if page.page_timings is None or started is None or (found.creator or "").startswith(_WEBKIT):
        return
    found.loaded_ms = _add_duration(started, page.page_timings.on_load)
    found.complete_ms = _add_duration(started, page.page_timings.on_content_load)


def _add_duration(started: float, value: object) -> float | None:
    since = number(value)
    return started + since if since is not None and since > 0 else None


def _say_what_is_missing(entries: Sequence[HarEntry], found: Recording) -> None:
    exchanges = found.exchanges
    if found.loaded_ms is None:
        found.lose("the time of the load event", 0)
    if all(one.initiator is None for one in exchanges):
        found.lose("what initiated requests", 0)
    if all(one.timings.wait is None for one in exchanges):
        found.lose("timings", 0)
    if all(one.address is None for one in exchanges):
        found.lose("addresses of servers", 0)
    if all(not (entry.request and entry.request.headers) for entry in entries):
        found.lose("heads of requests", 0)
    found.lose("certificates of servers", 0)
    found.lose("computing times of scripts", 0)


def _format_losses(found: Recording) -> str:
    return "; ".join(f"{count or 'all'}: {what}" for what, count in found.losses.items()) or "there is none"
