"""A connection of a load as the browser's log tells it, in one row.

For: the shape, and making it. Pure. Not for: which connections are of a load (`judging`).
"""

import msgspec

from resolab.browser.browser_log import Carrier, Connection
from resolab.records import HandshakeMode


class SeenConnection(msgspec.Struct, frozen=True, kw_only=True):
    """One connection; what the log does not tell is `None`. Times are of whole milliseconds in Chromium's log."""

    host: str | None
    """Name it was opened for."""
    is_resolver: bool
    """Whether look-ups of this load went over it."""
    transport: Carrier
    address: str | None
    http_version: str | None
    """`h1`, `h2` or `h3`, as ALPN settled it."""
    tls_version: str | None
    handshake_mode: HandshakeMode | None
    """Of its first request; without any, of the connection."""
    early_data_accepted: bool | None
    opened_ms: float | None
    """Since navigationStart; negative: it was there before."""
    tcp_connect_ms: float | None
    """`None` for QUIC."""
    tls_handshake_ms: float | None
    """Of QUIC its whole handshake."""
    request_count: int | None
    """`None` where the browser does not tell which went over it."""


def seen_connection(one: Connection, begin_ms: float | None, *, is_resolver: bool) -> SeenConnection:
    """Make a row; `begin_ms` is navigationStart on the log's clock."""
    tcp = one.carrier is Carrier.TCP
    return SeenConnection(
        host=one.host,
        is_resolver=is_resolver,
        transport=one.carrier,
        address=one.address,
        http_version=one.protocol,
        tls_version=one.tls_version,
        handshake_mode=_mode(one),
        early_data_accepted=one.early_data,
        opened_ms=None if begin_ms is None else one.opened_ms - begin_ms,
        tcp_connect_ms=_between(one.opened_ms, one.connected_ms) if tcp else None,
        tls_handshake_ms=_between(one.handshake_start_ms, one.handshake_end_ms),
        request_count=len(one.requests),
    )


def _mode(one: Connection) -> HandshakeMode | None:
    if one.requests:
        return one.handshake_of(one.requests[0])
    if one.resumed is None:
        return None
    return HandshakeMode.RESUMED if one.resumed else HandshakeMode.FULL


def _between(start_ms: float | None, end_ms: float | None) -> float | None:
    return None if start_ms is None or end_ms is None else end_ms - start_ms
