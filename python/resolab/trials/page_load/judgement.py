"""Judge the events of a page load by the servers' and the tap's records, not by the requested settings.

For: pure functions over the records of a trial. Not for: the look-up alone (`lookup`), or fixing or dropping anything:
a trial differing from its request is kept and flagged.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from resolab.basics.protocols import has_handshake
from resolab.basics.records import (
    ConnectionRecord,
    ConnectionSharing,
    ConnectionState,
    DiscardedBecause,
    DnsFailure,
    EdgeQueryRecord,
    EdgeRequestRecord,
    GatewaySpeculationRecord,
    HandshakeMode,
    HttpVersion,
    PageFailure,
    QueryGathering,
    QueryPurpose,
    QueryRecord,
    Record,
    ResolverPath,
    TrialFlag,
)
from resolab.browser import PageLoad
from resolab.lab.layout import RESOLVER_ADDRESS, PageSite
from resolab.plan import Condition
from resolab.plan.pages.serving import Serving
from resolab.plan.software import EDGE
from resolab.trials.page_load.browser_setup import looks_up
from resolab.trials.page_load.lookup import (
    LoadSpan,
    PageLookup,
    dns_failure,
    edge_queries,
    find_connection,
    foreign_names,
    judge_state,
    page_lookup,
    read_name,
    stub_dns_failure,
    stub_lookup,
)

OK, NOT_MODIFIED = 200, 304
REDIRECTS = range(300, 400)
PREFLIGHT = "OPTIONS"
ANSWERED = "answer"
"""The default outcome of a response in a page's settings."""
CRYPTO_ERRORS = range(0x100, 0x200)
"""The CONNECTION_CLOSE codes with a TLS alert (RFC 9001, section 4.8)."""


@dataclass(frozen=True, slots=True)
class CacheStates:
    """The browser's caches and connections at the beginning of the load."""

    dns_cache: ConnectionState
    http_cache: ConnectionState
    sockets: ConnectionState
    tickets: ConnectionState


@dataclass(frozen=True, slots=True)
class LoadJudgement:
    """The facts about a load from the records."""

    request: EdgeRequestRecord | None
    """The first request for the document."""
    handshake_mode: HandshakeMode | None
    lookup: PageLookup
    failure: PageFailure | None
    dns_failure: DnsFailure | None
    foreign_names: list[str]
    states: CacheStates
    detail: str | None = None
    """The reason for the failure, when missing in the browser's result."""


def judge(
    load: PageLoad,
    records: Sequence[Record],
    site: PageSite,
    span: LoadSpan,
    stated: CacheStates,
    *,
    by_edge: bool = True,
) -> LoadJudgement:
    """Judge a load; for caches without visible evidence, use the `stated` state.

    Without `by_edge` another resolver answered. Then the stub's records show the look-up; without a stub no record
    does.
    """
    request = document_request(records, site.host, site.path, span)
    lookup = (page_lookup if by_edge else stub_lookup)(records, site.host, span)
    states = _states_seen(records, request, lookup, span, stated)
    why = dns_failure if by_edge else stub_dns_failure
    return LoadJudgement(
        request=request,
        handshake_mode=handshake_that_happened(request),
        lookup=lookup,
        failure=failure_that_happened(load.failure, records, site.host, span),
        dns_failure=why(records, site.host, span) if load.failure is PageFailure.DNS else None,
        foreign_names=foreign_names(records, site.hosts, span),
        states=states if by_edge else replace(states, dns_cache=stated.dns_cache),
    )


def asks_edge(condition: Condition) -> bool:
    """Return True when the edge is the condition's resolver."""
    return condition.resolver_software == EDGE


def remove_upstream_queries(records: Sequence[Record], condition: Condition) -> list[Record]:
    """Remove the edge's records of other software's queries: these are not the browser's."""
    if asks_edge(condition):
        return list(records)
    return [one for one in records if not isinstance(one, EdgeQueryRecord) and not _is_at_resolver(one)]


def _is_at_resolver(record: Record) -> bool:
    at_edge = f"{RESOLVER_ADDRESS}:"
    return isinstance(record, ConnectionRecord) and record.local_address.startswith(at_edge)


def cold_states() -> CacheStates:
    """Return the state of a fresh context."""
    cold = ConnectionState.COLD
    return CacheStates(dns_cache=cold, http_cache=cold, sockets=cold, tickets=cold)


def states_made(condition: Condition) -> CacheStates:
    """Return the state after the warm-up and the condition's clearing.

    Connections to the page are closed in any case, by the browser or by the edge. No responses are left: they were
    cleared or not storable.
    """
    cold = ConnectionState.COLD
    tickets_given = condition.requested_handshake_mode is not HandshakeMode.FULL
    return CacheStates(
        dns_cache=cold, http_cache=cold, sockets=cold, tickets=ConnectionState.WARM if tickets_given else cold
    )


def document_request(records: Sequence[Record], host: str, path: str, span: LoadSpan) -> EdgeRequestRecord | None:
    """Return the first request for the document in a span with an answer used by the browser.

    A speculative request of a gateway, with a discarded response, comes before the browser's own.
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


def _thrown_away(records: Sequence[Record], host: str, path: str, span: LoadSpan) -> DiscardedBecause | None:
    """Return the reason for discarding the document's speculative request; `None` without a discarded request."""
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
    """Return True when the answer to a document's request was a redirect."""
    return request is not None and request.status in REDIRECTS and request.status != NOT_MODIFIED


def handshake_that_happened(request: EdgeRequestRecord | None) -> HandshakeMode | None:
    """Return the handshake mode of a request's connection: zero_rtt only when the request itself was early data."""
    if request is None:
        return None
    if request.in_early_data:
        return HandshakeMode.ZERO_RTT
    return HandshakeMode.RESUMED if request.session_resumed else HandshakeMode.FULL


def failure_that_happened(
    failure: PageFailure | None, records: Iterable[Record], host: str, span: LoadSpan
) -> PageFailure | None:
    """Return a failure's class: a QUIC connection ended by the browser with a TLS alert failed in TLS.

    Chromium reports a rejected certificate over QUIC as an error of QUIC's protocol.
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
    records: Sequence[Record],
    condition: Condition,
    site: PageSite,
    span: LoadSpan,
    judged: LoadJudgement,
    *,
    failed: bool = False,
) -> list[TrialFlag]:
    """Flag a load with look-ups outside the load, or over another transport or connection than requested.

    Only the connection is judged with another resolver than the edge: its cache may answer alone. A failed load needs
    only the document's name. The same is true for a browser reading ORIGIN frames: servers list
    further names, and the browser does not look these names up.
    """
    if not asks_edge(condition):
        return _dns_connection_flags(condition, judged.lookup)
    hosts = frozenset(site.hosts)
    of_page = [query for query in edge_queries(records, span) if read_name(query) in hosts]
    asked = {read_name(query) for query in of_page}
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


def flag_gathering(records: Iterable[Record], condition: Condition, span: LoadSpan) -> list[TrialFlag]:
    """Flag a load with gathering requested but each query sent alone: refused by the resolver, or never simultaneous.

    A lost message counts as gathered.
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


def connection_flags(records: Sequence[Record], judged: LoadJudgement, span: LoadSpan) -> list[TrialFlag]:
    """Flag a load with the page on an earlier connection, or with connections missing in the edge's records."""
    used = [one.connection_id for one in (judged.request, judged.lookup.query) if one is not None]
    flags: list[TrialFlag] = []
    if judged.request is not None and _socket_state(records, judged.request, span) is ConnectionState.WARM:
        flags.append(TrialFlag.PAGE_CONNECTION_MISMATCH)
    if any(number is not None and find_connection(records, number) is None for number in used):
        flags.append(TrialFlag.CONNECTION_RECORD_MISSING)
    return flags


def http_flags(request: EdgeRequestRecord | None, http_version: HttpVersion, site: PageSite) -> list[TrialFlag]:
    """Flag a load over another HTTP version than requested, or than the newest older version of its page."""
    expected = site.document_version(http_version)
    return [] if request is None or request.http_version is expected else [TrialFlag.HTTP_VERSION_MISMATCH]


def count_answered_if_incomplete(records: Iterable[Record], site: PageSite, span: LoadSpan) -> str | None:
    """Return the number of a page's answered requests, if not all: a part's look-up or connection had failed."""
    in_load = (one for one in records if isinstance(one, EdgeRequestRecord) and span.has(one.received_ns))
    answered = list_answered_requests(in_load, site)
    if site.request_count is None or len(answered) >= site.request_count:
        return None
    return f"{len(answered)} of the page's {site.request_count} requests were answered"


def list_answered_requests(requests: Iterable[EdgeRequestRecord], site: PageSite) -> set[tuple[str, str]]:
    """List the page's requests answered before its load event, each once: host name and path.

    A resource with its own response in the page's settings counts as answered with this response's status. Resources
    left unanswered, by a reset or for ever, do not count. A CORS preflight is not a request of the page.
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


def _states_seen(
    records: Sequence[Record],
    request: EdgeRequestRecord | None,
    lookup: PageLookup,
    span: LoadSpan,
    stated: CacheStates,
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


def _socket_state(records: Sequence[Record], request: EdgeRequestRecord, span: LoadSpan) -> ConnectionState:
    return judge_state(find_connection(records, request.connection_id), span)
