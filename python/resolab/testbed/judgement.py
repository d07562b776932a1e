"""What happened in a page load, judged by the servers' and the tap's records and not by what was asked for.

For: pure functions over the records of one trial. Not for: the look-up alone (`lookup`), or fixing or dropping
anything: a trial that is not what was asked for is kept and flagged.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from resolab.browser import PageLoad
from resolab.plan import Condition
from resolab.plan.serving import Serving
from resolab.protocols import has_handshake
from resolab.records import (
    ConnectionRecord,
    ConnectionSharing,
    ConnectionState,
    DiscardedBecause,
    DnsFailure,
    EdgeRequestRecord,
    GatewaySpeculationRecord,
    HandshakeMode,
    HttpVersion,
    PageFailure,
    PathSummaryRecord,
    QueryGathering,
    QueryPurpose,
    QueryRecord,
    Record,
    ResolverPath,
    TrialFlag,
)
from resolab.testbed.layout import Site
from resolab.testbed.lookup import (
    PageLookup,
    Span,
    connection_of,
    dns_failure,
    edge_queries,
    foreign_names,
    name_of,
    page_lookup,
    state_of,
)
from resolab.testbed.ways import looks_up

OK, NOT_MODIFIED = 200, 304
REDIRECTS = range(300, 400)
PREFLIGHT = "OPTIONS"
ANSWERED = "answer"
"""Outcome of a response in a page's settings, if none is told."""
CRYPTO_ERRORS = range(0x100, 0x200)
"""CONNECTION_CLOSE codes that carry a TLS alert (RFC 9001, section 4.8)."""


@dataclass(frozen=True, slots=True)
class CacheStates:
    """What the browser had when the load began."""

    dns_cache: ConnectionState
    http_cache: ConnectionState
    sockets: ConnectionState
    tickets: ConnectionState


@dataclass(frozen=True, slots=True)
class Judged:
    """What the records say about one load."""

    request: EdgeRequestRecord | None
    """The first for the document."""
    handshake_mode: HandshakeMode | None
    lookup: PageLookup
    failure: PageFailure | None
    dns_failure: DnsFailure | None
    foreign_names: list[str]
    states: CacheStates
    detail: str | None = None
    """Why it failed, where the browser did not say so."""


def judge(load: PageLoad, records: Sequence[Record], site: Site, span: Span, stated: CacheStates) -> Judged:
    """Judge one load; where nothing can be seen of a cache, what was `stated` stands."""
    request = document_request(records, site.host, site.path, span)
    lookup = page_lookup(records, site.host, span)
    return Judged(
        request=request,
        handshake_mode=handshake_that_happened(request),
        lookup=lookup,
        failure=failure_that_happened(load.failure, records, site.host, span),
        dns_failure=dns_failure(records, site.host, span) if load.failure is PageFailure.DNS else None,
        foreign_names=foreign_names(records, site.hosts, span),
        states=_states_seen(records, request, lookup, span, stated),
    )


def cold_states() -> CacheStates:
    """State of a fresh context."""
    cold = ConnectionState.COLD
    return CacheStates(dns_cache=cold, http_cache=cold, sockets=cold, tickets=cold)


def states_made(condition: Condition) -> CacheStates:
    """State after the warm-up and what the condition has cleared after it.

    Connections to the page are gone either way, by the browser or by the edge; of its responses nothing is left: they
    were cleared or were not to be stored.
    """
    cold = ConnectionState.COLD
    tickets_given = condition.requested_handshake_mode is not HandshakeMode.FULL
    return CacheStates(
        dns_cache=cold, http_cache=cold, sockets=cold, tickets=ConnectionState.WARM if tickets_given else cold
    )


def document_request(records: Sequence[Record], host: str, path: str, span: Span) -> EdgeRequestRecord | None:
    """Find the first request for the document in a span of time that the browser had an answer of.

    One that a gateway sent with the query and whose response it threw away came before the browser's own.
    """
    requests = sorted(
        (
            record
            for record in records
            if isinstance(record, EdgeRequestRecord)
            and span.has(record.received_ns)
            and record.authority.partition(":")[0] == host
            and record.path == path
        ),
        key=lambda record: record.received_ns,
    )
    thrown_away = _thrown_away(records, host, path, span)
    if thrown_away is not None and (len(requests) > 1 or thrown_away is DiscardedBecause.UNCLAIMED):
        requests = requests[1:]
    return next(iter(requests), None)


def _thrown_away(records: Sequence[Record], host: str, path: str, span: Span) -> DiscardedBecause | None:
    """Say why a speculative request for the document was thrown away, if one was sent and was."""
    return next(
        (
            record.discarded_because
            for record in records
            if isinstance(record, GatewaySpeculationRecord)
            and (record.host, record.path) == (host, path)
            and span.has(record.query_ns)
            and record.sent_ns is not None
        ),
        None,
    )


def is_redirect(request: EdgeRequestRecord | None) -> bool:
    """Whether a document's request was answered with another place to ask."""
    return request is not None and request.status in REDIRECTS and request.status != NOT_MODIFIED


def handshake_that_happened(request: EdgeRequestRecord | None) -> HandshakeMode | None:
    """Name the handshake of a request's connection: zero_rtt only when the request itself came as early data."""
    if request is None:
        return None
    if request.in_early_data:
        return HandshakeMode.ZERO_RTT
    return HandshakeMode.RESUMED if request.session_resumed else HandshakeMode.FULL


def failure_that_happened(
    failure: PageFailure | None, records: Iterable[Record], host: str, span: Span
) -> PageFailure | None:
    """Name a failure's class: a QUIC connection that the browser ended by a TLS alert failed in TLS.

    Chromium calls a certificate it refuses over QUIC an error of QUIC's protocol.
    """
    if failure is not PageFailure.CONNECT:
        return failure
    refused = any(
        isinstance(record, ConnectionRecord)
        and record.server_name == host
        and span.has(record.accepted_ns)
        and record.handshake_complete_ns is None
        and record.closed_by_client
        and record.close_code in CRYPTO_ERRORS
        for record in records
    )
    return PageFailure.TLS if refused else failure


def lookup_flags(
    records: Sequence[Record], condition: Condition, site: Site, span: Span, judged: Judged, *, failed: bool = False
) -> list[TrialFlag]:
    """Flag a load whose look-ups were not inside it, or not over the transport and connection asked for.

    Of the page's names, a load that failed needs none but the document's; nor does a browser whom servers tell which
    others they have, and which then asks for none of those.
    """
    hosts = frozenset(site.hosts)
    of_page = [query for query in edge_queries(records, span) if name_of(query) in hosts]
    asked = {name_of(query) for query in of_page}
    needed = {site.host} if failed or _may_be_told_names(condition) else site.needed_hosts
    flags: list[TrialFlag] = []
    if looks_up(condition) and not needed <= asked:
        flags.append(TrialFlag.NO_LOOKUP_IN_LOAD)
    if not looks_up(condition) and asked:
        flags.append(TrialFlag.LOOKUP_IN_LOAD)
    if any(query.dns_transport is not condition.dns_transport for query in of_page):
        flags.append(TrialFlag.DNS_TRANSPORT_MISMATCH)
    if judged.foreign_names:
        flags.append(TrialFlag.FOREIGN_NAME)
    return flags + _dns_connection_flags(condition, judged.lookup)


def _may_be_told_names(condition: Condition) -> bool:
    alone = condition.resolver_path is not ResolverPath.GATEWAY
    return alone and condition.connection_sharing is ConnectionSharing.ORIGIN_FRAME


def _dns_connection_flags(condition: Condition, lookup: PageLookup) -> list[TrialFlag]:
    # Without a look-up there is none, and doudp has none.
    if lookup.connection_state is None:
        return []
    if lookup.connection_state is not condition.dns_connection_state:
        return [TrialFlag.DNS_CONNECTION_MISMATCH]
    cold = condition.dns_connection_state is ConnectionState.COLD
    handshakes = has_handshake(condition.dns_transport)
    if cold and handshakes and lookup.handshake_mode is not condition.requested_dns_handshake_mode:
        return [TrialFlag.DNS_HANDSHAKE_MISMATCH]
    return []


def gathering_flags(records: Iterable[Record], condition: Condition, span: Span) -> list[TrialFlag]:
    """Flag a load whose stub was to gather queries and asked each alone: the resolver refused, or none came together.

    A message that was lost was gathered all the same.
    """
    if condition.query_gathering is not QueryGathering.ON:
        return []
    asked = [
        record
        for record in records
        if isinstance(record, QueryRecord)
        and record.purpose in {QueryPurpose.FORWARDED, QueryPurpose.PUSHED}
        and span.has(record.time_origin_ns)
    ]
    gathered = any((one.message_question_count or 1) > 1 and not one.asked_alone for one in asked)
    return [TrialFlag.NOTHING_GATHERED] if asked and not gathered else []


def connection_flags(records: Sequence[Record], judged: Judged, span: Span) -> list[TrialFlag]:
    """Flag a load whose page came on a connection from before, or on whose connections the edge wrote nothing."""
    used = [one.connection_id for one in (judged.request, judged.lookup.query) if one is not None]
    flags: list[TrialFlag] = []
    if judged.request is not None and _socket_state(records, judged.request, span) is ConnectionState.WARM:
        flags.append(TrialFlag.PAGE_CONNECTION_MISMATCH)
    if any(number is not None and connection_of(records, number) is None for number in used):
        flags.append(TrialFlag.CONNECTION_RECORD_MISSING)
    return flags


def http_flags(request: EdgeRequestRecord | None, http_version: HttpVersion, site: Site) -> list[TrialFlag]:
    """Flag a load that spoke another HTTP version than asked for, or than the newest its page has below that."""
    expected = site.document_version(http_version)
    return [] if request is None or request.http_version is expected else [TrialFlag.HTTP_VERSION_MISMATCH]


def missing_requests(records: Iterable[Record], site: Site, span: Span) -> str | None:
    """Say how many of a page's requests were answered, if not all: a look-up or a connection of a part had failed."""
    in_load = (one for one in records if isinstance(one, EdgeRequestRecord) and span.has(one.received_ns))
    answered = answered_requests(in_load, site)
    if site.request_count is None or len(answered) >= site.request_count:
        return None
    return f"{len(answered)} of the page's {site.request_count} requests were answered"


def answered_requests(requests: Iterable[EdgeRequestRecord], site: Site) -> set[tuple[str, str]]:
    """List what of a page was asked for and given before its load event, each once: host name and path.

    What the page has an answer of its own for is given with that one's status; what it lets go unanswered, by a reset
    or for ever, is not. A CORS preflight is no request of the page's.
    """
    origins = {origin.host: origin for origin in site.origins}
    named = ((one.authority.partition(":")[0], one) for one in requests if one.method != PREFLIGHT)
    return {(host, one.path) for host, one in named if host in origins and _is_given(one, origins[host].serving)}


def _is_given(request: EdgeRequestRecord, serving: Serving) -> bool:
    if request.path in serving.not_awaited:
        return False
    response = serving.response(request.path) or {}
    # Another status is the edge's own, of a request it would not take: POST in early data, a host it does not serve.
    statuses = (response.get("status", OK), NOT_MODIFIED)
    return response.get("outcome", ANSWERED) == ANSWERED and request.status in statuses


def path_flags(summary: PathSummaryRecord | None, lateness_p99_ms: float) -> list[TrialFlag]:
    """Flag a load during which the link was late or lost packets of its own."""
    if summary is None:
        return [TrialFlag.PATH_SUMMARY_MISSING]
    flags: list[TrialFlag] = []
    late = [d.lateness_p99_ns for d in (summary.up, summary.down) if d.lateness_p99_ns is not None]
    if any(value > lateness_p99_ms * 1e6 for value in late):
        flags.append(TrialFlag.LATENESS_EXCEEDED)
    if summary.up.dropped_device_count or summary.down.dropped_device_count:
        flags.append(TrialFlag.DEVICE_DROPS)
    return flags


def _states_seen(
    records: Sequence[Record], request: EdgeRequestRecord | None, lookup: PageLookup, span: Span, stated: CacheStates
) -> CacheStates:
    cold, warm = ConnectionState.COLD, ConnectionState.WARM
    if request is None:
        return stated
    return CacheStates(
        dns_cache=cold if lookup.query is not None else warm,
        http_cache=warm if request.status == NOT_MODIFIED else stated.http_cache,
        sockets=_socket_state(records, request, span),
        tickets=warm if request.session_resumed else stated.tickets,
    )


def _socket_state(records: Sequence[Record], request: EdgeRequestRecord, span: Span) -> ConnectionState:
    return state_of(connection_of(records, request.connection_id), span)
