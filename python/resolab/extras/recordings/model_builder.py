"""From a recording to a page model: names and URLs are dropped, the structure stays.

For: combining discoverers (`inference.discoverers`), times (`inference.timing`) and hosts (`inference.hosts`). Not for:
files.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from urllib.parse import urlsplit

from resolab.basics.errors import ConfigurationError
from resolab.extras.recordings.inference.discoverers import DiscoveryResult, discover
from resolab.extras.recordings.inference.hosts import describe_hosts
from resolab.extras.recordings.inference.internal_redirects import leave_out_internal
from resolab.extras.recordings.inference.page_request import own_request
from resolab.extras.recordings.inference.redirects import redirect_sources
from resolab.extras.recordings.inference.service_workers import join_service_workers
from resolab.extras.recordings.inference.timing import DueTime, dues
from resolab.extras.recordings.recording import BEFORE_THE_PAGE, RecordedExchange, Recording
from resolab.extras.recordings.values import read_host
from resolab.pages.model import Cors, Evidence, Host, Kind, Loss, Outcome, PageModel, Resource, Source

_ASKED_BY_BROWSER = "/favicon.ico"
_NOT_MODIFIED = 304
_SILENCE_MS = 10_000.0
"""A load event at least this time after the last answer may be on another clock, in ms."""
_DIGITS = 3


def build(recording: Recording, name: str, *, keep_names: bool = False) -> PageModel:
    """Make the model of a recording."""
    join_service_workers(recording)
    leave_out_internal(recording)
    exchanges = _select_exchanges(recording)
    preflighted = _find_preflighted(exchanges)
    unfollowed = sum(one.is_preflight for one in exchanges) - len(preflighted)
    if unfollowed:
        recording.lose("preflights that no request followed", unfollowed)
    exchanges = [one for one in exchanges if not one.is_preflight]
    sources = redirect_sources(exchanges, recording)
    exchanges = _copy_target_kinds(exchanges, sources)
    complete = recording.complete_ms
    found = discover(exchanges, sources, complete, is_parser_sure=recording.is_parser_sure)
    when = dues(exchanges, found, complete)
    document = _document(exchanges, sources)
    hosts = describe_hosts(exchanges, document, keep_names=keep_names)
    _say_what_is_guessed(recording, exchanges, found, hosts)
    resources = _resources(recording, exchanges, found, when, hosts, preflighted)
    return PageModel(
        name=name,
        source=_source(recording, exchanges),
        hosts=tuple(hosts.values()),
        resources=tuple(resources),
        load_ms=_compute_offset_ms(exchanges, recording.loaded_ms),
        dom_content_loaded_ms=_compute_offset_ms(exchanges, complete),
        losses=tuple(Loss(what, count) for what, count in recording.losses.items()),
    )


def _select_exchanges(recording: Recording) -> list[RecordedExchange]:
    """Begin with the page's own request; browsers' requests for icons are not the page's."""
    exchanges = [one for one in recording.exchanges if urlsplit(one.url).path != _ASKED_BY_BROWSER]
    icons = len(recording.exchanges) - len(exchanges)
    if icons:
        recording.lose("requests for favicon.ico", icons)
    first = own_request(exchanges, recording.url, loaded_ms=recording.loaded_ms)
    if first is None:
        raise ConfigurationError(_no_page(exchanges))
    if first:
        recording.lose(BEFORE_THE_PAGE, first)
    return exchanges[first:]


def _no_page(exchanges: Sequence[RecordedExchange]) -> str:
    """Say why there is nothing a browser could load."""
    documents = [one for one in exchanges if one.kind is Kind.DOCUMENT or one.is_redirect]
    if not documents:
        kinds = ", ".join(sorted({one.kind.value for one in exchanges})) or "none"
        return f"the recording has no request for a page; its requests are of other kinds ({kinds})"
    answers = ", ".join(sorted({str(one.status) if one.status else "none" for one in documents}))
    return f"the page's own request was not answered with a document (answers: {answers}), so there is none to load"


def _find_preflighted(exchanges: Sequence[RecordedExchange]) -> set[int]:
    """Return the requests after a preflight, by identity: the next request of the preflight's URL."""
    open_urls: list[str] = []
    found = set()
    for one in exchanges:
        if one.is_preflight:
            open_urls.append(one.url)
        elif one.url in open_urls:
            open_urls.remove(one.url)
            found.add(id(one))
    return found


def _copy_target_kinds(exchanges: list[RecordedExchange], sources: Mapping[int, int]) -> list[RecordedExchange]:
    """Give redirects the kind of their targets, as a redirect's answer has no kind."""
    kinds = [one.kind for one in exchanges]
    for target in sorted(sources, reverse=True):
        kinds[sources[target]] = kinds[target]
    return [one if one.kind is kind else replace(one, kind=kind) for one, kind in zip(exchanges, kinds, strict=True)]


def _compute_offset_ms(exchanges: Sequence[RecordedExchange], instant: float | None) -> float | None:
    """Count an instant from the page's own request; `None` for an earlier instant."""
    since = None if instant is None else instant - exchanges[0].start_ms
    return None if since is None or since <= 0 else round(since, _DIGITS)


def _document(exchanges: Sequence[RecordedExchange], sources: Mapping[int, int]) -> RecordedExchange:
    targets = {source: target for target, source in sources.items()}
    place = 0
    while place in targets:
        place = targets[place]
    return exchanges[place]


def _source(recording: Recording, exchanges: Sequence[RecordedExchange]) -> Source:
    said = [one.initiator for one in exchanges if one.initiator is not None]
    return Source(
        form=recording.form,
        creator=recording.creator,
        browser=recording.browser,
        recorded=recording.recorded,
        sha256=recording.sha256,
        initiators=bool(said),
        async_stacks=recording.async_stacks or any(one.is_asynchronous for one in said),
    )


def _resources(
    recording: Recording,
    exchanges: Sequence[RecordedExchange],
    found: Sequence[DiscoveryResult],
    when: Sequence[DueTime],
    hosts: Mapping[str, Host],
    preflighted: set[int],
) -> list[Resource]:
    places = {host: place for place, host in enumerate(hosts)}
    origin = exchanges[0].start_ms
    own_trip_ms = hosts[read_host(exchanges[0].url) or ""].round_trip_ms or 0.0
    firsts: dict[tuple[str, str], int] = {}
    made = []
    for place, (one, who, due) in enumerate(zip(exchanges, found, when, strict=True)):
        host = read_host(one.url) or ""
        first = firsts.setdefault((one.method, one.url), place)
        is_preflighted = id(one) in preflighted
        start = one.start_ms - origin
        made.append(
            Resource(
                host=places[host],
                kind=one.kind,
                discovery=who.discovery,
                evidence=who.evidence,
                parent=who.parent,
                frame=who.frame,
                start_ms=round(start, _DIGITS),
                due_ms=_round(due.due_ms),
                place=_round(due.place),
                method=one.method,
                status=one.status,
                outcome=Outcome.ANSWERED if one.status else Outcome.FAILED,
                wire_bytes=one.wire_bytes or 0,
                raw_bytes=max(one.raw_bytes or 0, 0) or one.wire_bytes or 0,
                request_bytes=one.request_bytes,
                server_time_ms=round(_server_time_ms(one, hosts[host], own_trip_ms), _DIGITS),
                first_byte_ms=round(one.first_byte_ms - origin, _DIGITS) if one.status else None,
                receive_ms=round(one.timings.receive or 0.0, _DIGITS),
                priority=one.priority,
                script_mode=due.script_mode,
                preload=one.is_preload,
                cors=_cors(one, is_preflighted=is_preflighted, is_foreign=host != _host(exchanges, who)),
                preflight=is_preflighted,
                after_load=recording.loaded_ms is not None and one.start_ms > recording.loaded_ms,
                repeats=None if first == place else first,
            )
        )
    return made


def _host(exchanges: Sequence[RecordedExchange], who: DiscoveryResult) -> str:
    return read_host(exchanges[who.frame].url) or ""


def _server_time_ms(one: RecordedExchange, host: Host, own_trip_ms: float) -> float:
    """Take the way there and back off the wait; a host without a handshake is taken to be as far as the page's own."""
    trip_ms = own_trip_ms if host.round_trip_ms is None else host.round_trip_ms
    return max(0.0, (one.timings.wait or 0.0) - trip_ms)


def _cors(one: RecordedExchange, *, is_preflighted: bool, is_foreign: bool) -> Cors:
    if one.kind is Kind.FONT:
        return Cors.ANONYMOUS  # CSS Fonts 4, section 4.8.2
    if one.kind is Kind.DOCUMENT:
        return Cors.NO
    asked = one.mode == "cors" or is_preflighted or (one.mode is None and one.sends_origin and is_foreign)
    if not asked and not (one.kind in {Kind.XHR, Kind.FETCH} and not is_foreign):
        return Cors.NO
    return Cors.CREDENTIALS if one.has_credentials or not is_foreign else Cors.ANONYMOUS


def _say_what_is_guessed(
    recording: Recording,
    exchanges: Sequence[RecordedExchange],
    found: Sequence[DiscoveryResult],
    hosts: Mapping[str, Host],
) -> None:
    by = [one.evidence for one in found]
    counts = {
        "who asked: told by Referer and type": by.count(Evidence.REFERER),
        "who asked: guessed by order and type": by.count(Evidence.INFERRED),
        "sizes of bodies": sum(one.wire_bytes is None and not one.is_redirect for one in exchanges),
        "requests without a response": sum(one.status == 0 for one in exchanges),
        "requests over http, served over https": sum(one.url.startswith("http:") for one in exchanges),
        "answers 304 of a warm cache": sum(one.status == _NOT_MODIFIED for one in exchanges),
        "distances of hosts (no handshake)": sum(host.round_trip_ms is None for host in hosts.values()),
        "HTTP versions": sum(one.protocol is None for one in exchanges),
    }
    for what, count in counts.items():
        if count:
            recording.lose(what, count)
    if _silence_before_load(recording, exchanges) > _SILENCE_MS:
        recording.lose("what took the 10 s or more before the load event, in which no answer came", 0)


def _silence_before_load(recording: Recording, exchanges: Sequence[RecordedExchange]) -> float:
    loaded = recording.loaded_ms
    ends = [] if loaded is None else [one.end_ms for one in exchanges if one.end_ms <= loaded]
    return loaded - max(ends) if loaded is not None and ends else 0.0


def _round(value: float | None) -> float | None:
    return None if value is None else round(value, _DIGITS)
