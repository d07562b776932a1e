"""The page's look-up in the records of edge and stub: the connection, the outcome, and further queries.

For: pure functions over the records of a load. Not for: the browser's view, or the page's own connection (`judgement`).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from resolab.basics.protocols import has_handshake
from resolab.basics.records import (
    ConnectionRecord,
    ConnectionState,
    DnsFailure,
    EdgeQueryRecord,
    Failure,
    FailureMode,
    HandshakeMode,
    QueryPurpose,
    QueryRecord,
    Record,
)

ADDRESS_TYPES = ("A", "AAAA")
RCODES = {
    "NXDOMAIN": DnsFailure.NXDOMAIN,
    "SERVFAIL": DnsFailure.SERVFAIL,
    "REFUSED": DnsFailure.REFUSED,
}
_Query = TypeVar("_Query", EdgeQueryRecord, QueryRecord)
TIMEOUTS = {
    Failure.QUERY_TIMEOUT,
    Failure.TCP_CONNECT_TIMEOUT,
    Failure.TLS_HANDSHAKE_TIMEOUT,
    Failure.QUIC_HANDSHAKE_TIMEOUT,
}


@dataclass(frozen=True, slots=True)
class LoadSpan:
    """The time span of a load, `CLOCK_MONOTONIC`; the end is excluded."""

    since_ns: int
    until_ns: int | None = None

    def has(self, instant_ns: int) -> bool:
        """Return True when an instant lies in the span."""
        return self.since_ns <= instant_ns and (self.until_ns is None or instant_ns < self.until_ns)


@dataclass(frozen=True, slots=True)
class PageLookup:
    """The look-up of the page's name, from the edge's view."""

    query: EdgeQueryRecord | None
    """The first query for the page's name; `None` without a query."""
    connection_state: ConnectionState | None
    """The state of the connection; `None` without a look-up, and for `doudp`, without connections."""
    handshake_mode: HandshakeMode | None
    """The handshake mode of the query's connection; `zero_rtt` only when the query itself was early data."""


def edge_queries(records: Iterable[Record], span: LoadSpan) -> list[EdgeQueryRecord]:
    """Return the edge's queries in a span, in order of arrival."""
    found = [r for r in records if isinstance(r, EdgeQueryRecord) and span.has(r.received_ns)]
    return sorted(found, key=lambda query: query.received_ns)


def read_name(query: EdgeQueryRecord | QueryRecord) -> str:
    """Return the queried name, in lower case and without its final dot."""
    return query.qname.rstrip(".").lower()


def page_lookup(records: Sequence[Record], host: str, span: LoadSpan) -> PageLookup:
    """Judge the first query for the page's name; the edge must have been flushed."""
    query = next((query for query in edge_queries(records, span) if read_name(query) == host), None)
    if query is None or query.connection_id is None:
        return PageLookup(query, None, None)
    connection = find_connection(records, query.connection_id)
    mode = None if connection is None else connection.handshake_mode
    return PageLookup(query, judge_state(connection, span), _handshake(query, mode))


def stub_lookup(records: Iterable[Record], host: str, span: LoadSpan) -> PageLookup:
    """Judge the first query of a stub for the page's name, for a resolver that writes no records itself."""
    asked = sorted(_list_forwarded(records, host, span), key=lambda one: one.time_origin_ns)
    if not asked:
        return PageLookup(None, None, None)
    return PageLookup(None, asked[0].connection, asked[0].handshake_mode)


def stub_dns_failure(records: Iterable[Record], host: str, span: LoadSpan) -> DnsFailure | None:
    """Return the reason for a failed look-up from the stub's queries; `None` without a query."""
    asked = sorted(_list_forwarded(records, host, span), key=lambda one: one.time_origin_ns)
    if not asked:
        return None
    asked = _select_address_queries(asked)
    timeout = asked[-1].failure in TIMEOUTS
    return _find_bad_answer(asked) or (DnsFailure.TIMEOUT if timeout else DnsFailure.TRANSPORT)


def judge_state(connection: ConnectionRecord | None, span: LoadSpan) -> ConnectionState:
    """Return warm when the connection was open before the span; also for a connection without a record."""
    opened_here = connection is not None and span.has(connection.accepted_ns)
    return ConnectionState.COLD if opened_here else ConnectionState.WARM


def find_connection(records: Sequence[Record], connection_id: int | None) -> ConnectionRecord | None:
    """Return the edge's last record of a connection."""
    if connection_id is None:
        return None
    found = (r for r in reversed(records) if isinstance(r, ConnectionRecord) and r.connection_id == connection_id)
    return next(found, None)


def _handshake(query: EdgeQueryRecord, of_connection: HandshakeMode | None) -> HandshakeMode | None:
    if not has_handshake(query.dns_transport):
        return None
    if query.in_early_data:
        return HandshakeMode.ZERO_RTT
    # The connection had accepted early data, but not this query in it.
    return HandshakeMode.RESUMED if of_connection is HandshakeMode.ZERO_RTT else of_connection


def foreign_names(records: Iterable[Record], needed: Iterable[str], span: LoadSpan) -> list[str]:
    """List the names queried in a span but not needed, each once, in order."""
    wanted = {name.lower() for name in needed}
    asked = (read_name(query) for query in edge_queries(records, span))
    return [name for name in dict.fromkeys(asked) if name not in wanted]


def dns_failure(records: Sequence[Record], host: str, span: LoadSpan) -> DnsFailure:
    """Return the reason for a failed look-up reported by the browser: from the edge, otherwise from the stub.

    The last answer counts: browsers ask again, and give up after the last answer.
    """
    queries = _select_address_queries([query for query in edge_queries(records, span) if read_name(query) == host])
    bad_answer = _find_bad_answer(queries)
    if bad_answer is not None:
        return bad_answer
    if any(_is_swallowed(query) for query in queries) or _stub_waited_in_vain(records, host, span):
        return DnsFailure.TIMEOUT
    # Nothing came, or what was answered did not arrive.
    return DnsFailure.TRANSPORT


def _find_bad_answer(queries: Sequence[EdgeQueryRecord | QueryRecord]) -> DnsFailure | None:
    """Return the last answer that explains a failure; `None` without such an answer."""
    return next((RCODES[query.rcode] for query in reversed(queries) if query.rcode in RCODES), None)


def _select_address_queries(queries: list[_Query]) -> list[_Query]:
    """Select the queries for addresses, or all queries without any: a browser cannot load without an address.

    Names without an HTTPS record have a good answer for this type.
    """
    return [query for query in queries if query.qtype in ADDRESS_TYPES] or queries


def _is_swallowed(query: EdgeQueryRecord) -> bool:
    return query.failure_mode is FailureMode.DROP or (query.answered_ns is None and query.connection_id is None)


def _stub_waited_in_vain(records: Iterable[Record], host: str, span: LoadSpan) -> bool:
    forwarded = _list_forwarded(records, host, span)
    return bool(forwarded) and forwarded[-1].failure in TIMEOUTS


def _list_forwarded(records: Iterable[Record], host: str, span: LoadSpan) -> list[QueryRecord]:
    """List a stub's queries for a name in a span, in the order of their records."""
    return [
        r
        for r in records
        if isinstance(r, QueryRecord)
        and r.purpose is QueryPurpose.FORWARDED
        and span.has(r.time_origin_ns)
        and read_name(r) == host
    ]
