"""A netlog's TCP sockets with their TLS sessions.

For: opening, handshakes, certificates. Not for: requests (`http`) or QUIC (`quic`).
"""

import hashlib

from resolab.browser.chromium.netlog.events import BEGIN, END, NetlogEvent
from resolab.browser.chromium.netlog.partial_connection import (
    Handlers,
    PartialConnection,
    host_of_url,
    read_host,
    read_text,
)

_EARLY_DATA_ACCEPTED = 2
"""The value of BoringSSL's `ssl_early_data_accepted`."""


class Sockets:
    """Takes events in their order."""

    def __init__(self, opened: dict[int, PartialConnection]) -> None:
        self._open = opened
        self._group_hosts: dict[int, str] = {}
        """Name a connect job connects for."""
        self._certificates: dict[int, str] = {}
        """Certificates by socket and by verifier. QUIC's are logged only with the verifier, certificates known to be
        good only with the socket."""
        self.handlers: Handlers = {
            "TCP_CONNECT": self._tcp,
            "SSL_CONNECT": self._tls,
            "SSL_HANDSHAKE_EARLY_DATA_REASON": self._early_data,
            "SOCKET_ALIVE": self._socket,
            "SOCKET_POOL_CONNECT_JOB_CREATED": self._group,
            "CERT_VERIFIER_REQUEST_BOUND_TO_JOB": self._take_certificate,
            "CERT_VERIFIER_JOB": self._certificate,
            "SSL_CERTIFICATES_RECEIVED": self._certificate,
        }

    def group_host(self, connect_job: int | None) -> str | None:
        """Tell the name a connect job was for."""
        return None if connect_job is None else self._group_hosts.get(connect_job)

    def certificate(self, source: int, verifier: int | None) -> str | None:
        """Tell the hash of a connection's certificate."""
        return self._certificates.get(source) or self._certificates.get(-1 if verifier is None else verifier)

    def _tcp(self, event: NetlogEvent) -> None:
        if event.source_kind != "SOCKET":
            return
        one = self._open.setdefault(event.source, PartialConnection(opened_ms=event.time_ms))
        params = event.params()
        if event.phase == BEGIN:
            one.opened_ms = event.time_ms
        elif event.phase == END and "net_error" not in params:
            one.connected_ms = event.time_ms
            one.address = read_host(params.get("remote_address"))

    def _socket(self, event: NetlogEvent) -> None:
        if event.source_kind != "SOCKET":
            return
        if event.phase == BEGIN:
            one = self._open.setdefault(event.source, PartialConnection(opened_ms=event.time_ms))
            one.connect_job = event.dependency()
        elif event.source in self._open:
            self._open[event.source].closed_ms = event.time_ms

    def _tls(self, event: NetlogEvent) -> None:
        one = self._open.get(event.source)
        if one is None:
            return
        if event.phase == BEGIN:
            one.handshake_start_ms = event.time_ms
            return
        params = event.params()
        if "net_error" not in params:
            one.handshake_end_ms = event.time_ms
            one.alpn = read_text(params, "next_proto") or "http/1.1"
            one.tls_version = read_text(params, "version")
            one.resumed = params.get("is_resumed") is True
            one.early_data = one.early_data or False

    def _early_data(self, event: NetlogEvent) -> None:
        if (one := self._open.get(event.source)) is not None:
            one.early_data = event.params().get("early_data_reason") == _EARLY_DATA_ACCEPTED

    def _group(self, event: NetlogEvent) -> None:
        # As `pm/https://name <https://site same_site>`; pm: without credentials.
        group = str(event.params().get("group_id", "")).partition(" ")[0]
        url = group[group.find("http") :]
        if (host := host_of_url(url)) is not None:
            self._group_hosts[event.source] = host

    def _take_certificate(self, event: NetlogEvent) -> None:
        if (one := self._open.get(event.source)) is not None:
            one.certificate_job = event.dependency()

    def _certificate(self, event: NetlogEvent) -> None:
        chain = event.params().get("certificates")
        if isinstance(chain, list) and chain:
            self._certificates[event.source] = hashlib.sha256(str(chain[0]).encode()).hexdigest()
