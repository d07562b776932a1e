"""The time of one query, divided into phases.

For: a single rule by which the phases add up to the query response time. Not for: drawing the phases.
"""

import enum
import itertools
from collections.abc import Sequence

from resolab.basics.records import QueryRecord


class QueryPhase(enum.StrEnum):
    """The phases in the order of their beginnings (glossary), and the remaining time."""

    BOOTSTRAP = "bootstrap"
    TCP_CONNECT = "tcp_connect"
    TLS_HANDSHAKE = "tls_handshake"
    QUIC_HANDSHAKE = "quic_handshake"
    QUERY_EXCHANGE = "query_exchange"
    OTHER = "other"


Split = list[tuple[QueryPhase, int]]
"""Phases with their times in ns, in order; an interrupted phase occurs twice."""


def timeline(record: QueryRecord) -> Split:
    """Divide a query's response time: each instant belongs to the phase begun last and not yet ended.

    So a query in early data is in its exchange phase from the moment of sending. The TCP connect after a truncated
    response does not belong to the exchange. Return an empty list without a response time.
    """
    end_ns = record.query_response_time_ns
    if end_ns is None:
        return []
    spans = _spans(record)
    borders = sorted({0, end_ns, *(min(border, end_ns) for _, start, end in spans for border in (start, end))})
    found: Split = []
    for start, end in itertools.pairwise(borders):
        phase = _find_phase(spans, start)
        if found and found[-1][0] is phase:
            found[-1] = (phase, found[-1][1] + end - start)
        else:
            found.append((phase, end - start))
    return found


def sum_by_phase(record: QueryRecord) -> dict[QueryPhase, int]:
    """Add up each phase of a query with a response time."""
    totals = dict.fromkeys(QueryPhase, 0)
    for phase, length_ns in timeline(record):
        totals[phase] += length_ns
    return totals


def wire_exchange_ns(record: QueryRecord) -> int | None:
    """Return the time on the wire and in the resolver, by the kernel's stamps; `None` without these stamps."""
    if record.kernel_transmit_ns is None or record.kernel_receive_ns is None:
        return None
    return record.kernel_receive_ns - record.kernel_transmit_ns


def _spans(record: QueryRecord) -> list[tuple[QueryPhase, int, int]]:
    found: list[tuple[QueryPhase, int, int]] = []
    for phase in QueryPhase:
        if phase is not QueryPhase.OTHER:
            start, end = (getattr(record, f"{phase.value}_{which}_ns") for which in ("start", "end"))
            if start is not None and end is not None:
                found.append((phase, start, end))
    return found


def _find_phase(spans: Sequence[tuple[QueryPhase, int, int]], instant_ns: int) -> QueryPhase:
    under_way = [(start, phase) for phase, start, end in spans if start <= instant_ns < end]
    # Of two that began at once the later one in the order of phases goes first, as in early data.
    order = list(QueryPhase)
    return max(under_way, key=lambda one: (one[0], order.index(one[1])))[1] if under_way else QueryPhase.OTHER
