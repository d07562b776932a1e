"""A connection of a load as seen in the browser's log, in a single row.

For: the shape, and making a row. Pure. Not for: the choice of a load's connections (`judgement`).
"""

import msgspec

from resolab.basics.records import HandshakeMode
from resolab.browser.browser_log import BrowserConnection, ConnectionTransport


class LoggedConnection(msgspec.Struct, frozen=True, kw_only=True):
    """A connection; values missing in the log are `None`. Times in Chromium's log are whole milliseconds."""

    host: str | None
    """The host name behind the opening of the connection."""
    is_resolver: bool
    """True when look-ups of this load used the connection."""
    transport: ConnectionTransport
    address: str | None
    http_version: str | None
    """The HTTP version by ALPN: `h1`, `h2` or `h3`."""
    tls_version: str | None
    handshake_mode: HandshakeMode | None
    """The handshake mode of the first request; without requests, of the connection."""
    early_data_accepted: bool | None
    opened_ms: float | None
    """The opening time since navigationStart, in ms; negative when opened before."""
    tcp_connect_ms: float | None
    """The TCP handshake time, in ms; `None` for QUIC."""
    tls_handshake_ms: float | None
    """The TLS handshake time, in ms; for QUIC the whole handshake."""
    request_count: int | None
    """The number of requests; `None` when the browser does not assign requests to connections."""


def make_row(one: BrowserConnection, begin_ms: float | None, *, is_resolver: bool) -> LoggedConnection:
    """Make a row; `begin_ms` is navigationStart on the log's clock."""
    tcp = one.carrier is ConnectionTransport.TCP
    return LoggedConnection(
        host=one.host,
        is_resolver=is_resolver,
        transport=one.carrier,
        address=one.address,
        http_version=one.protocol,
        tls_version=one.tls_version,
        handshake_mode=_mode(one),
        early_data_accepted=one.early_data,
        opened_ms=None if begin_ms is None else one.opened_ms - begin_ms,
        tcp_connect_ms=_compute_duration_ms(one.opened_ms, one.connected_ms) if tcp else None,
        tls_handshake_ms=_compute_duration_ms(one.handshake_start_ms, one.handshake_end_ms),
        request_count=len(one.requests),
    )


def _mode(one: BrowserConnection) -> HandshakeMode | None:
    if one.requests:
        return one.judge_handshake(one.requests[0])
    if one.resumed is None:
        return None
    return HandshakeMode.RESUMED if one.resumed else HandshakeMode.FULL


def _compute_duration_ms(start_ms: float | None, end_ms: float | None) -> float | None:
    return None if start_ms is None or end_ms is None else end_ms - start_ms
