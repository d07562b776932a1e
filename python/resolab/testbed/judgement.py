"""What happened in a page load, judged by the servers' and the tap's records and not by what was asked for.

For: pure functions over the records of one trial. Not for: fixing or dropping anything: a trial that is not what was
asked for is kept and flagged.
"""

from collections.abc import Iterable, Sequence

from resolab.records import (
    DnsTransport,
    EdgeQueryRecord,
    EdgeRequestRecord,
    HandshakeMode,
    HttpVersion,
    PathSummaryRecord,
    QueryPurpose,
    QueryRecord,
    Record,
    ResolverPath,
    TicketPolicy,
)

POLICIES = {
    HandshakeMode.FULL: TicketPolicy.NONE,
    HandshakeMode.RESUMED: TicketPolicy.RESUME,
    HandshakeMode.ZERO_RTT: TicketPolicy.EARLY_DATA,
}


def document_request(
    records: Iterable[Record], host: str, path: str, *, since_ns: int, until_ns: int | None = None
) -> EdgeRequestRecord | None:
    """Find the first request for the document in a span of time."""
    requests = (
        record
        for record in records
        if isinstance(record, EdgeRequestRecord)
        and since_ns <= record.received_ns
        and (until_ns is None or record.received_ns < until_ns)
        and record.authority.partition(":")[0] == host
        and record.path == path
    )
    return min(requests, key=lambda record: record.received_ns, default=None)


def handshake_that_happened(request: EdgeRequestRecord | None) -> HandshakeMode | None:
    """Name the handshake of a request's connection: zero_rtt only when the request itself came as early data."""
    if request is None:
        return None
    if request.in_early_data:
        return HandshakeMode.ZERO_RTT
    return HandshakeMode.RESUMED if request.session_resumed else HandshakeMode.FULL


def lookup_flags(
    records: Sequence[Record], host: str, since_ns: int, dns_transport: DnsTransport, resolver_path: ResolverPath
) -> list[str]:
    """Flag a load whose look-up was not inside it, not over the transport asked for, or not cold."""
    queries = [r for r in records if isinstance(r, EdgeQueryRecord) and r.received_ns >= since_ns]
    of_page = [query for query in queries if query.qname.rstrip(".").lower() == host]
    flags = []
    if not of_page:
        flags.append("no_lookup_in_load")
    if any(query.dns_transport is not dns_transport for query in of_page):
        flags.append("dns_transport_mismatch")
    if any(query.qname.rstrip(".").lower() != host for query in queries):
        flags.append("foreign_name")
    if resolver_path is ResolverPath.STUB:
        forwarded = [
            r
            for r in records
            if isinstance(r, QueryRecord) and r.purpose is QueryPurpose.FORWARDED and r.time_origin_ns >= since_ns
        ]
        if any(query.handshake_mode not in {None, HandshakeMode.FULL} for query in forwarded):
            flags.append("dns_handshake_mismatch")
    return flags


def http_flags(request: EdgeRequestRecord | None, http_version: HttpVersion) -> list[str]:
    """Flag a load that spoke another HTTP version."""
    return [] if request is None or request.http_version is http_version else ["http_version_mismatch"]


def path_flags(summary: PathSummaryRecord | None, lateness_p99_ms: float) -> list[str]:
    """Flag a load during which the link was late or lost packets of its own."""
    if summary is None:
        return ["path_summary_missing"]
    flags = []
    late = [d.lateness_p99_ns for d in (summary.up, summary.down) if d.lateness_p99_ns is not None]
    if any(value > lateness_p99_ms * 1e6 for value in late):
        flags.append("lateness_exceeded")
    if summary.up.dropped_device_count or summary.down.dropped_device_count:
        flags.append("device_drops")
    return flags
