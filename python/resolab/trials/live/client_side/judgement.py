"""Judge a load from the client's side.

For: pure functions over the browser's log, the stub's and our own client's records of a load. Not for: reading logs
(`load_log`), or fixing or dropping anything.

`handshake_mode` has the same meaning as in the lab: the mode of the connection used by the document's first request.
The mode is `zero_rtt` only if this request itself went in early data accepted by the server.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from resolab.basics.protocols import has_handshake
from resolab.basics.records import (
    ConnectionState,
    DnsFailure,
    DnsTransport,
    HandshakeMode,
    PageFailure,
    QueryPurpose,
    QueryRecord,
    Record,
)
from resolab.basics.urls import host_of_split
from resolab.browser import LoadResult, PageLoad
from resolab.browser.browser_log import BrowserConnection, BrowserLog, LookUp, RequestHead
from resolab.trials.live.client_side.channels import connections_of_channels, find_channel_handshake
from resolab.trials.live.client_side.logged_connection import LoggedConnection, make_row
from resolab.trials.live.client_side.look_up_failure import FailureSource, classify_look_ups, classify_queries

CLOCK_SLACK_MS = 2.0
"""The tolerance, in ms: the page's clock and the log's clock are rounded separately."""


@dataclass(frozen=True, slots=True)
class LiveLoadJudgement:
    """The facts of a load known without any server; `None` when a fact is unknown or did not occur."""

    handshake_mode: HandshakeMode | None = None
    """The handshake of the document's connection."""
    dns_handshake_mode: HandshakeMode | None = None
    """The handshake of the connection used for the look-up of the page's name."""
    dns_connection_state: ConnectionState | None = None
    dns_failure: DnsFailure | None = None
    """The outcome of the look-up of the page's name, for a failed load."""
    dns_failure_told_by: FailureSource | None = None
    connections: tuple[LoggedConnection, ...] = ()
    """The connections in order of opening; the resolver's before the page's, when the browser distinguishes them."""


@dataclass(frozen=True, slots=True)
class _LoadLog:
    """The log's part from navigationStart on."""

    begin_ms: float | None
    connections: Sequence[BrowserConnection] = ()
    look_ups: Sequence[LookUp] = ()


def judge_load(
    load: LoadResult, log: BrowserLog | None, stub_records: Sequence[Record], own_queries: Sequence[QueryRecord]
) -> LiveLoadJudgement:
    """Judge a measured load.

    `log` is the browser's log of this load; `stub_records` are the stub's records during the load; `own_queries` are
    our own client's queries over the same configuration, at any time.
    """
    page = load.measured
    host = host_of_split(urlsplit(page.url))
    seen = _select_log(page, log)
    forwarded = _select_by_name([r for r in stub_records if _is_forwarded(r)], host)
    asked = [one for one in seen.look_ups if one.name == host]
    of_resolver = {id(one.connection) for one in seen.look_ups if one.connection is not None}
    if forwarded:
        dns_handshake, dns_state = _judge_stub_query(forwarded[0])
    else:
        dns_handshake, dns_state = _judge_look_up(asked[0], seen.begin_ms) if asked else (None, None)
    failure, told_by = _look_up_failure(page, forwarded, asked, _select_by_name(own_queries, host))
    return LiveLoadJudgement(
        handshake_mode=_document_handshake(page, seen) or find_channel_handshake(page),
        dns_handshake_mode=dns_handshake,
        dns_connection_state=dns_state,
        dns_failure=failure,
        dns_failure_told_by=told_by,
        connections=(
            *(make_row(one, seen.begin_ms, is_resolver=id(one) in of_resolver) for one in seen.connections),
            *connections_of_channels(page),
        ),
    )


def _select_log(page: PageLoad, log: BrowserLog | None) -> _LoadLog:
    if log is None:
        return _LoadLog(None)
    begin_unix_ms = page.timings.navigation_start_unix_ms if page.timings is not None else None
    if begin_unix_ms is None or log.unix_offset_ms is None:
        return _LoadLog(None, log.connections, log.look_ups)
    begin_ms = begin_unix_ms - log.unix_offset_ms
    of_load = log.select_since(begin_ms - CLOCK_SLACK_MS)
    return _LoadLog(begin_ms, of_load.connections, of_load.look_ups)


def _document_handshake(page: PageLoad, seen: _LoadLog) -> HandshakeMode | None:
    parts = urlsplit(page.url)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    found = [
        (request.at_ms, connection, request)
        for connection in seen.connections
        for request in connection.requests
        if request.host == host_of_split(parts) and request.path == path and _is_in(request, seen.begin_ms)
    ]
    if not found:
        return None
    _, connection, request = min(found, key=lambda one: one[0])
    return connection.judge_handshake(request)


def _is_in(request: RequestHead, begin_ms: float | None) -> bool:
    return begin_ms is None or request.at_ms >= begin_ms - CLOCK_SLACK_MS


def _judge_look_up(look_up: LookUp, begin_ms: float | None) -> tuple[HandshakeMode | None, ConnectionState | None]:
    connection, request = look_up.connection, look_up.request
    if connection is None or request is None:
        return None, None
    mode = connection.judge_handshake(request)
    if begin_ms is None:
        return mode, None
    is_new = connection.opened_ms >= begin_ms - CLOCK_SLACK_MS
    return mode, ConnectionState.COLD if is_new else ConnectionState.WARM


def _judge_stub_query(query: QueryRecord) -> tuple[HandshakeMode | None, ConnectionState | None]:
    if query.dns_transport is DnsTransport.DOUDP:
        return None, None
    return (query.handshake_mode if has_handshake(query.dns_transport) else None), query.connection


def _look_up_failure(
    page: PageLoad, forwarded: Sequence[QueryRecord], asked: Sequence[LookUp], own: Sequence[QueryRecord]
) -> tuple[DnsFailure | None, FailureSource | None]:
    if page.failure is None:
        return None, None
    cut_off = page.failure is PageFailure.PAGE_TIMEOUT
    told = (
        (classify_queries(forwarded), FailureSource.STUB),
        (classify_look_ups(asked, was_cut_off=cut_off) if not forwarded else None, FailureSource.BROWSER_LOG),
        # Of a load that failed elsewhere a repeat's failure is the repeat's own.
        (classify_queries(own) if page.failure is PageFailure.DNS else None, FailureSource.OWN_QUERY),
    )
    return next(((failure, by) for failure, by in told if failure is not None), (None, None))


def _is_forwarded(record: Record) -> bool:
    return isinstance(record, QueryRecord) and record.purpose is QueryPurpose.FORWARDED


def _select_by_name(records: Sequence[Record], host: str) -> list[QueryRecord]:
    found = [r for r in records if isinstance(r, QueryRecord) and r.qname.rstrip(".").lower() == host]
    return sorted(found, key=lambda query: query.time_origin_ns)
