"""The network stack's account of a load, kept by the agent, as `NetworkRequest` rows. Pure.

For: every request of the page's context from its channel, failed ones included. Not for: timing the page (`timings`).
Requests of the browser itself, DoH among them, are outside the page's context and missing here.
"""

from typing import Any

from resolab.browser.result import NetworkRequest

Json = dict[str, Any]
DOCUMENT = "document"
_TLS_VERSIONS = {1: "TLS 1.0", 2: "TLS 1.1", 3: "TLS 1.2", 4: "TLS 1.3"}
"""TLS versions by `nsITransportSecurityInfo.protocolVersion`."""


def network_requests(rows: list[Json]) -> list[NetworkRequest]:
    """Build the rows, in the order they were opened."""
    if not rows:
        return []
    origin_us = _read_open_us(rows[0])
    return [_request(row, origin_us) for row in rows]


def document_status(rows: list[Json]) -> int | None:
    """Return the status of the document's last response, after its redirections."""
    return next((row["status"] for row in reversed(rows) if row["type"] == DOCUMENT), None)


def _request(row: Json, origin_us: float) -> NetworkRequest:
    ended_us = row["endUs"] or (row["endedMs"] or 0) * 1000
    # Of a response from the cache, all three are those of its first way here.
    is_fresh = row["status"] is not None and not row["fromCache"] and row["tlsVersion"] is not None
    return NetworkRequest(
        url=row["url"],
        resource_type=row["type"],
        method=row["method"],
        start_ms=_ms(_read_open_us(row), origin_us) or 0.0,
        end_ms=_ms(ended_us, origin_us) if row["endedMs"] is not None else None,
        status=row["status"],
        protocol=row["protocol"],
        remote_address=row["address"],
        connection_reused=None if row["status"] is None else not row["connectStartUs"],
        from_cache=row["fromCache"],
        encoded_bytes=row["transferBytes"],
        error_text=row["error"],
        tls_version=_TLS_VERSIONS.get(row["tlsVersion"]) if is_fresh else None,
        session_resumed=row["resumed"] if is_fresh else None,
        in_early_data=_parse_early_data(row["earlyData"]) if is_fresh else None,
        dns_start_ms=_ms(row["dnsStartUs"], origin_us),
        dns_end_ms=_ms(row["dnsEndUs"], origin_us),
        connect_start_ms=_ms(row["connectStartUs"], origin_us),
        connect_end_ms=_ms(row["connectEndUs"], origin_us),
        send_start_ms=_ms(row["requestUs"], origin_us),
        headers_end_ms=_ms(row["responseUs"], origin_us),
        retry_after=row["retryAfter"],
    )


def _parse_early_data(word: str | None) -> bool | None:
    """Read Firefox's early-data field: `accepted` by the server, or `sent` with an unknown outcome."""
    if word is None:
        return False
    return {"accepted": True, "sent": None}.get(word, False)


def _read_open_us(row: Json) -> float:
    # A channel that was refused before it was opened has no instant of its own.
    return float(row["openUs"] or row["openedMs"] * 1000)


def _ms(instant_us: float, origin_us: float) -> float | None:
    """Convert an instant to ms since the origin; 0 marks an absent event."""
    return round((instant_us - origin_us) / 1000, 3) if instant_us else None
