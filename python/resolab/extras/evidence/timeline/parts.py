"""The parts of the lab as tracks: the activities of each part in one trial.

For: pure mapping from records to tracks. Not for: the link's packets (`link`), or a file format (`perfetto`).

The browser's instants count from its navigationStart. The browser reports the wall time of navigationStart in fractions
of a millisecond. The trial's first line has both clocks, read in succession; their offset converts the browser's
instants to `CLOCK_MONOTONIC`.
"""

import itertools
from collections.abc import Iterable, Iterator, Sequence

from resolab.basics.records import (
    ConnectionRecord,
    EdgeQueryRecord,
    EdgeRequestRecord,
    PageFailure,
    PageLoadRecord,
    QueryPurpose,
    QueryRecord,
    Record,
    ResourceRecord,
)
from resolab.basics.urls import split_url
from resolab.extras.evidence.pcapng import PacketStamp
from resolab.extras.evidence.timeline.link import link_tracks
from resolab.extras.evidence.timeline.tracks import Fact, InstantEvent, Slice, Track, lanes
from resolab.extras.queries import QueryPhase, timeline
from resolab.report import request_spans
from resolab.store.har import ArchivedTrial, sort_records

MS_NS = 1e6
_INSTANTS = (
    "domain_lookup_start_ms", "domain_lookup_end_ms", "connect_start_ms", "connect_end_ms", "request_start_ms",
    "response_start_ms", "response_end_ms",
)  # fmt: skip


def list_tracks(records: Iterable[Record], stamps: Sequence[PacketStamp] = ()) -> list[Track]:
    """Return the tracks of a trial: browser, resolab's client, stub, link, edge; an inactive part has no track."""
    all_records = list(records)
    measured = sort_records(all_records)
    queries = [one for one in all_records if isinstance(one, QueryRecord)]
    end_ns = measured.trial.monotonic_ns if measured.end is None else measured.end.monotonic_ns
    return [
        *_browser(all_records, measured),
        *_group_tracks(
            "resolab's client", lanes("queries", map(_query, _select_purpose(queries, QueryPurpose.MEASURED)))
        ),
        *_group_tracks("stub", lanes("queries", map(_query, _select_purpose(queries, QueryPurpose.FORWARDED)))),
        *_group_tracks("link", link_tracks(all_records, stamps)),
        *_group_tracks("edge", _edge(all_records, measured, end_ns)),
    ]


def _group_tracks(name: str, tracks: Sequence[Track]) -> list[Track]:
    return [Track(name, tracks=tracks)] if tracks else []


def _browser(records: Iterable[Record], measured: ArchivedTrial) -> Iterator[Track]:
    loads = [one for one in records if isinstance(one, PageLoadRecord)]
    if not loads:
        return
    offset_ns = measured.trial.wall_time_unix_ns - measured.trial.monotonic_ns
    starts = {
        one.measured: round(one.navigation_start_unix_ms * MS_NS) - offset_ns
        for one in loads
        if one.navigation_start_unix_ms is not None
    }
    resources = [resource for resource, _ in measured.requests]
    slices = [
        _load(one, starts[one.measured], resources if one.measured else ()) for one in loads if one.measured in starts
    ]
    moments = [moment for one in loads if one.measured in starts for moment in _moments(one, starts[one.measured])]
    requests: list[Track] = []
    if True in starts:
        # A track for each request: what overlaps stands below each other, as in a waterfall.
        for number, (resource, of_edge) in enumerate(measured.requests, 1):
            flow = None if of_edge is None else number
            requests += _request(resource, starts[True], flow)
    yield Track(loads[-1].browser, slices, moments, tracks=requests)


def _load(load: PageLoadRecord, start_ns: int, resources: Sequence[ResourceRecord]) -> Slice:
    name = "measured load" if load.measured else "warm-up load"
    facts = _facts(
        url=load.url,
        handshake_mode=load.handshake_mode,
        next_hop_protocol=load.next_hop_protocol,
        failure=load.failure,
        plt_ms=load.plt_ms,
    )
    return Slice(
        name if load.failure is None else f"{name}, failed: {load.failure}",
        start_ns,
        _compute_instant_ns(start_ns, _last_ms(load, resources)),
        facts,
    )


def _last_ms(load: PageLoadRecord, resources: Sequence[ResourceRecord]) -> float:
    """Return the end of a load: its load event, its limit after a timeout, otherwise its last known instant."""
    if load.plt_ms is not None:
        return load.plt_ms
    if load.failure in {None, PageFailure.PAGE_TIMEOUT}:
        return load.limit_ms
    told = (getattr(one, name) for one in (load, *resources) for name in _INSTANTS)
    return max((at_ms for at_ms in told if at_ms is not None), default=0.0)


def _moments(load: PageLoadRecord, start_ns: int) -> list[InstantEvent]:
    instants = (
        ("response start", load.response_start_ms),
        ("FCP", load.fcp_ms),
        ("LCP", load.lcp_ms),
        ("DOMContentLoaded", load.dom_content_loaded_ms),
        ("last byte", load.last_byte_ms),
        ("load event", load.plt_ms),
    )
    return [InstantEvent(name, _compute_instant_ns(start_ns, at_ms)) for name, at_ms in instants if at_ms is not None]


def _request(resource: ResourceRecord, start_ns: int, flow: int | None) -> list[Track]:
    parts = split_url(resource.url)
    name = f"{parts.netloc}{parts.path or '/'}"
    spans = [
        Slice(one.phase, _compute_instant_ns(start_ns, one.start_ms), _compute_instant_ns(start_ns, one.end_ms))
        for one in request_spans(resource)
    ]
    end_ms = resource.start_ms if resource.response_end_ms is None else resource.response_end_ms
    facts = _facts(
        url=resource.url,
        initiator_type=resource.initiator_type,
        next_hop_protocol=resource.next_hop_protocol,
        status=resource.status,
        transfer_size_bytes=resource.transfer_size_bytes,
    )
    # In early data the request leaves before its handshake is over: that would not be one inside the other.
    beside = [one for one, later in itertools.pairwise(spans) if later.start_ns < one.end_ns]
    inside = [one for one in spans if one not in beside]
    whole = Slice(
        name,
        _compute_instant_ns(start_ns, resource.start_ms),
        _compute_instant_ns(start_ns, end_ms),
        facts,
        inside,
        flow,
    )
    return [Track(name, [whole], tracks=[Track("handshake beside early data", beside)] if beside else [])]


def _select_purpose(queries: Iterable[QueryRecord], purpose: QueryPurpose) -> list[QueryRecord]:
    return [one for one in queries if one.purpose is purpose]


def _query(query: QueryRecord) -> Slice:
    at_ns = query.time_origin_ns
    inside = []
    for phase, length_ns in timeline(query):
        if phase is not QueryPhase.OTHER:
            inside.append(Slice(phase.value, at_ns, at_ns + length_ns))
        at_ns += length_ns
    facts = _facts(
        resolver=query.resolver,
        connection=query.connection,
        handshake_mode=query.handshake_mode,
        attempt_count=query.attempt_count,
        rcode=query.rcode,
        failure=query.failure,
    )
    return Slice(f"{query.qname} {query.qtype} {query.dns_transport}", query.time_origin_ns, at_ns, facts, inside)


def _edge(records: Iterable[Record], measured: ArchivedTrial, end_ns: int) -> list[Track]:
    all_records = list(records)
    flows = {id(of_edge): number for number, (_, of_edge) in enumerate(measured.requests, 1) if of_edge is not None}
    answers = [_draw_query(one) for one in all_records if isinstance(one, EdgeQueryRecord)]
    requests = [_draw_request(one, flows.get(id(one))) for one in all_records if isinstance(one, EdgeRequestRecord)]
    connections = [_connection(one, end_ns) for one in all_records if isinstance(one, ConnectionRecord)]
    return [*lanes("DNS", answers), *lanes("requests", requests), *lanes("connections", connections)]


def _draw_query(query: EdgeQueryRecord) -> Slice:
    answered_ns = query.received_ns if query.answered_ns is None else query.answered_ns
    facts = _facts(peer=query.peer_address, in_early_data=query.in_early_data, rcode=query.rcode)
    return Slice(f"{query.qname} {query.qtype} {query.dns_transport}", query.received_ns, answered_ns, facts)


def _draw_request(request: EdgeRequestRecord, flow: int | None) -> Slice:
    sent_ns = request.received_ns if request.response_sent_ns is None else request.response_sent_ns
    facts = _facts(
        http_version=request.http_version,
        in_early_data=request.in_early_data,
        status=request.status,
        body_bytes=request.body_bytes,
        connection_id=request.connection_id,
    )
    return Slice(f"{request.authority}{request.path}", request.received_ns, sent_ns, facts, flow=flow)


def _connection(connection: ConnectionRecord, end_ns: int) -> Slice:
    closed_ns = connection.closed_ns or max(end_ns, connection.accepted_ns)
    complete_ns = connection.handshake_complete_ns
    handshake = [] if complete_ns is None else [Slice("handshake", connection.accepted_ns, min(complete_ns, closed_ns))]
    facts = _facts(
        connection_id=connection.connection_id,
        peer=connection.peer_address,
        alpn=connection.alpn,
        handshake_mode=connection.handshake_mode,
        key_exchange_group=connection.key_exchange_group,
        received_bytes=connection.received_bytes,
        sent_bytes=connection.sent_bytes,
        failure=connection.failure,
    )
    name = f"{connection.server_name or connection.local_address} {connection.alpn or connection.protocol}"
    return Slice(name, connection.accepted_ns, closed_ns, facts, handshake)


def _facts(**facts: Fact | None) -> dict[str, Fact]:
    return {name: value for name, value in facts.items() if value is not None}


def _compute_instant_ns(start_ns: int, offset_ms: float) -> int:
    return start_ns + round(offset_ms * MS_NS)
