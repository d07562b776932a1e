"""A trial's records sorted for an archive: the measured load, its requests, and the edge's record of each request.

For: picking and matching. Not for: HAR's shapes (`archive`).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from resolab.basics.records import (
    MEASURED_LABEL,
    ConnectionRecord,
    EdgeQueryRecord,
    EdgeRequestRecord,
    PageLoadRecord,
    PathSummaryRecord,
    Record,
    ResourceRecord,
    TrialEndRecord,
    TrialRecord,
)
from resolab.basics.urls import split_url


@dataclass(frozen=True, slots=True)
class ArchivedTrial:
    """The records of one trial for its archive."""

    trial: TrialRecord
    end: TrialEndRecord | None
    load: PageLoadRecord | None
    requests: Sequence[tuple[ResourceRecord, EdgeRequestRecord | None]]
    queries: Sequence[EdgeQueryRecord]
    connections: Mapping[int, ConnectionRecord]


def sort_records(records: Iterable[Record]) -> ArchivedTrial:
    """Sort the records of a trial's file."""
    all_records = list(records)
    since_ns = next(
        (r.window_start_ns for r in all_records if isinstance(r, PathSummaryRecord) and r.label == MEASURED_LABEL), 0
    )
    trial = next(r for r in all_records if isinstance(r, TrialRecord))
    load = next((r for r in all_records if isinstance(r, PageLoadRecord) and r.measured), None)
    resources = [r for r in all_records if isinstance(r, ResourceRecord)]
    if not resources and load is not None:
        resources = [_document(load)]
    edge = [r for r in all_records if isinstance(r, EdgeRequestRecord) and r.received_ns >= since_ns]
    return ArchivedTrial(
        trial=trial,
        end=next((r for r in all_records if isinstance(r, TrialEndRecord)), None),
        load=load,
        requests=_match_requests(resources, edge),
        queries=[r for r in all_records if isinstance(r, EdgeQueryRecord) and r.received_ns >= since_ns],
        connections={r.connection_id: r for r in all_records if isinstance(r, ConnectionRecord)},
    )


def _match_requests(
    resources: Sequence[ResourceRecord], edge: Sequence[EdgeRequestRecord]
) -> list[tuple[ResourceRecord, EdgeRequestRecord | None]]:
    """Match each request to the edge's record: same host and path, in order, each record used once."""
    waiting: dict[tuple[str, str], list[EdgeRequestRecord]] = {}
    for one in sorted(edge, key=lambda record: record.received_ns):
        waiting.setdefault((_host(one.authority), one.path), []).append(one)
    pairs: list[tuple[ResourceRecord, EdgeRequestRecord | None]] = []
    for resource in sorted(resources, key=lambda record: record.start_ms):
        parts = split_url(resource.url)
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        found = waiting.get((_host(parts.netloc), path))
        pairs.append((resource, found.pop(0) if found else None))
    return pairs


def _host(authority: str) -> str:
    return authority.lower().removesuffix(":443")


def _document(load: PageLoadRecord) -> ResourceRecord:
    """Make the document's request of a load without resource records. Such a load failed before its first byte."""
    return ResourceRecord(
        url=load.url,
        initiator_type="navigation",
        next_hop_protocol=load.next_hop_protocol,
        start_ms=0.0,
        domain_lookup_start_ms=load.domain_lookup_start_ms,
        domain_lookup_end_ms=load.domain_lookup_end_ms,
        connect_start_ms=load.connect_start_ms,
        connect_end_ms=load.connect_end_ms,
        request_start_ms=load.request_start_ms,
        response_start_ms=load.response_start_ms,
        response_end_ms=load.response_end_ms,
    )
