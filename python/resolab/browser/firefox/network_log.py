"""The network stack's account of a load, as the agent kept it, as `NetworkRequest` rows. Pure.

For: every request of the page's context from its channel, failed ones included. Not for: timing the page; that is
`timings`. Requests of the browser itself, DoH among them, are not of the page's context and do not stand here.
"""

from typing import Any

from resolab.browser.result import NetworkRequest

Json = dict[str, Any]
DOCUMENT = "document"


def network_requests(rows: list[Json]) -> list[NetworkRequest]:
    """Build the rows, in the order they were opened."""
    if not rows:
        return []
    origin_us = _opened_us(rows[0])
    return [_request(row, origin_us) for row in rows]


def document_status(rows: list[Json]) -> int | None:
    """Status of the document's last response, behind its redirections."""
    return next((row["status"] for row in reversed(rows) if row["type"] == DOCUMENT), None)


def _request(row: Json, origin_us: float) -> NetworkRequest:
    ended_us = row["endUs"] or (row["endedMs"] or 0) * 1000
    return NetworkRequest(
        url=row["url"],
        resource_type=row["type"],
        method=row["method"],
        start_ms=_ms(_opened_us(row), origin_us) or 0.0,
        end_ms=_ms(ended_us, origin_us) if row["endedMs"] is not None else None,
        status=row["status"],
        protocol=row["protocol"],
        remote_address=row["address"],
        connection_reused=None if row["status"] is None else not row["connectStartUs"],
        from_cache=row["fromCache"],
        encoded_bytes=row["transferBytes"],
        error_text=row["error"],
        dns_start_ms=_ms(row["dnsStartUs"], origin_us),
        dns_end_ms=_ms(row["dnsEndUs"], origin_us),
        connect_start_ms=_ms(row["connectStartUs"], origin_us),
        connect_end_ms=_ms(row["connectEndUs"], origin_us),
        send_start_ms=_ms(row["requestUs"], origin_us),
        headers_end_ms=_ms(row["responseUs"], origin_us),
    )


def _opened_us(row: Json) -> float:
    # A channel that was refused before it was opened has no instant of its own.
    return float(row["openUs"] or row["openedMs"] * 1000)


def _ms(instant_us: float, origin_us: float) -> float | None:
    """0 is what did not happen."""
    return round((instant_us - origin_us) / 1000, 3) if instant_us else None
