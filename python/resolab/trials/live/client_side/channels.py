"""The page's connections from a browser's channels, without any log: available in Firefox.

For: the document's handshake, and a row for each connection opened by a request. Pure. Not for: the browser's own DoH,
with channels not visible to us.
"""

from urllib.parse import urlsplit

from resolab.basics.records import HandshakeMode
from resolab.basics.urls import host_of_split
from resolab.browser import NetworkRequest, PageLoad
from resolab.browser.browser_log import ConnectionTransport
from resolab.trials.live.client_side.logged_connection import LoggedConnection

_HTTP_VERSIONS = {"http/1.1": "h1", "http/1.0": "h1", "h2": "h2", "h3": "h3"}


def find_channel_handshake(page: PageLoad) -> HandshakeMode | None:
    """Return the handshake of the document's connection; `None` when channels do not say."""
    document = next((request for request in page.network if request.url == page.url), None)
    return None if document is None else _mode(document)


def connections_of_channels(page: PageLoad) -> list[LoggedConnection]:
    """List the connections opened by requests, in the order of the requests."""
    opened = [one for one in page.network if one.tls_version is not None and one.connect_start_ms is not None]
    return [_connection(one) for one in opened]


def _mode(request: NetworkRequest) -> HandshakeMode | None:
    if request.in_early_data:
        return HandshakeMode.ZERO_RTT
    if request.session_resumed is None or (request.session_resumed and request.in_early_data is None):
        return None
    return HandshakeMode.RESUMED if request.session_resumed else HandshakeMode.FULL


def _connection(request: NetworkRequest) -> LoggedConnection:
    quic = request.protocol == "h3"
    start_ms, end_ms = request.connect_start_ms, request.connect_end_ms
    return LoggedConnection(
        host=host_of_split(urlsplit(request.url)) or None,
        is_resolver=False,
        transport=ConnectionTransport.QUIC if quic else ConnectionTransport.TCP,
        address=request.remote_address,
        http_version=_HTTP_VERSIONS.get(request.protocol or ""),
        tls_version=request.tls_version,
        handshake_mode=_mode(request),
        early_data_accepted=request.in_early_data or None,
        opened_ms=start_ms,
        tcp_connect_ms=None,
        # Over TCP connect and TLS are not told apart here.
        tls_handshake_ms=end_ms - start_ms if quic and start_ms is not None and end_ms is not None else None,
        request_count=None,
    )
