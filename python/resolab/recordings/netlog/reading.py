"""A netlog's events as connections.

For: Chromium's events of sockets, HTTP/2 and QUIC sessions put together. What a version of the browser does not log is
not told; nothing is guessed. Not for: lines and names (`events`), or a page's hosts (`joining`).

An HTTP/2 session names its socket, requests name themselves in the heads a session sends; requests over HTTP/1.1 are
found through the job that fetched them a socket.
"""

import hashlib
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from resolab.recordings.netlog.connections import Connection, Netlog, Sharing
from resolab.recordings.netlog.events import BEGIN, END, Event, EventReader
from resolab.recordings.values import text

if TYPE_CHECKING:
    from collections.abc import Callable

_PROTOCOLS = {"http/1.1": "h1", "http/1.0": "h1", "h2": "h2"}
_EARLY_DATA_ACCEPTED = 2
"""`ssl_early_data_accepted` of BoringSSL."""
_SHARED = {
    "HTTP2_SESSION_POOL_FOUND_EXISTING_SESSION_FROM_IP_POOL": Sharing.ADDRESS,
    "QUIC_SESSION_POOL_MATCHING_IP_SESSION_FOUND": Sharing.ADDRESS,
    "QUIC_SESSION_POOL_POOLED_WITH_DIFFERENT_IP_SESSION": Sharing.CERTIFICATE,
}


@dataclass(slots=True)
class _Open:
    """A connection being put together: a socket, or a QUIC session."""

    opened_ms: float = 0.0
    is_quic: bool = False
    host: str | None = None
    address: str | None = None
    alpn: str | None = None
    connected_ms: float | None = None
    handshake_start_ms: float | None = None
    handshake_end_ms: float | None = None
    closed_ms: float | None = None
    resumed: bool | None = None
    early_data: bool | None = None
    certificate_job: int | None = None
    connect_job: int | None = None
    requests: list[tuple[float, str]] = field(default_factory=list)


class _Log:
    """Takes events in their order."""

    def __init__(self) -> None:
        self.open: dict[int, _Open] = {}
        self._sessions: dict[int, tuple[str | None, int | None]] = {}
        """Name and socket of each HTTP/2 session."""
        self._job_hosts: dict[int, str] = {}
        self._group_hosts: dict[int, str] = {}
        """Name a connect job connects for."""
        self._job_sockets: dict[int, int] = {}
        self._urls: dict[int, str] = {}
        self._certificates: dict[int, str] = {}
        """By socket, and by verifier: QUIC's are told with the latter alone, those known good with the former."""
        self._asked: list[tuple[float, str, int]] = []
        """Requests with the jobs that fetched them a connection."""
        self._reasons: dict[tuple[int, str], Sharing] = {}
        self._session_requests: dict[int, list[tuple[float, str]]] = defaultdict(list)
        self.handlers: dict[str, Callable[[Event], None]] = {
            "TCP_CONNECT": self._tcp,
            "SSL_CONNECT": self._tls,
            "SSL_HANDSHAKE_EARLY_DATA_REASON": self._early_data,
            "SOCKET_ALIVE": self._socket,
            "SOCKET_POOL_CONNECT_JOB_CREATED": self._group,
            "CERT_VERIFIER_REQUEST_BOUND_TO_JOB": self._verified_by,
            "CERT_VERIFIER_JOB": self._certificate,
            "SSL_CERTIFICATES_RECEIVED": self._certificate,
            "HTTP2_SESSION": self._h2_session,
            "HTTP2_SESSION_INITIALIZED": self._h2_socket,
            "HTTP2_SESSION_SEND_HEADERS": self._h2_request,
            "HTTP_STREAM_JOB": self._job,
            "SOCKET_POOL_BOUND_TO_SOCKET": self._job_socket,
            "URL_REQUEST_START_JOB": self._url,
            "HTTP_STREAM_REQUEST_BOUND_TO_JOB": self._asked_by,
            "QUIC_SESSION": self._quic,
            "QUIC_SESSION_PACKET_RECEIVED": self._quic_packet,
            "QUIC_SESSION_CRYPTO_HANDSHAKE_COMPLETE": self._quic_complete,
            "QUIC_SESSION_ZERO_RTT_STATE": self._quic_early_data,
            "QUIC_CHROMIUM_CLIENT_STREAM_SEND_REQUEST_HEADERS": self._quic_request,
            **dict.fromkeys(_SHARED, self._shared),
        }

    def _tcp(self, event: Event) -> None:
        if event.source_kind != "SOCKET":
            return
        one = self.open.setdefault(event.source, _Open(opened_ms=event.time_ms))
        params = event.params()
        if event.phase == BEGIN:
            one.opened_ms = event.time_ms
        elif event.phase == END and "net_error" not in params:
            one.connected_ms = event.time_ms
            one.address = _host_of(params.get("remote_address"))

    def _socket(self, event: Event) -> None:
        if event.source_kind != "SOCKET":
            return
        if event.phase == BEGIN:
            one = self.open.setdefault(event.source, _Open(opened_ms=event.time_ms))
            one.connect_job = event.dependency()
        elif event.source in self.open:
            self.open[event.source].closed_ms = event.time_ms

    def _tls(self, event: Event) -> None:
        one = self.open.get(event.source)
        if one is None:
            return
        if event.phase == BEGIN:
            one.handshake_start_ms = event.time_ms
            return
        params = event.params()
        if "net_error" not in params:
            one.handshake_end_ms = event.time_ms
            one.alpn = text(params.get("next_proto")) or "http/1.1"
            one.resumed = params.get("is_resumed") is True
            one.early_data = one.early_data or False

    def _early_data(self, event: Event) -> None:
        if (one := self.open.get(event.source)) is not None:
            one.early_data = event.params().get("early_data_reason") == _EARLY_DATA_ACCEPTED

    def _group(self, event: Event) -> None:
        # As `pm/https://name <https://site same_site>`; pm: without credentials.
        group = str(event.params().get("group_id", "")).partition(" ")[0]
        url = group[group.find("http") :]
        if (host := _host_of_url(url)) is not None:
            self._group_hosts[event.source] = host

    def _verified_by(self, event: Event) -> None:
        if (one := self.open.get(event.source)) is not None:
            one.certificate_job = event.dependency()

    def _certificate(self, event: Event) -> None:
        chain = event.params().get("certificates")
        if isinstance(chain, list) and chain:
            self._certificates[event.source] = hashlib.sha256(str(chain[0]).encode()).hexdigest()

    def _h2_session(self, event: Event) -> None:
        if event.phase == BEGIN:
            self._sessions[event.source] = (_host_of(event.params().get("host")), None)

    def _h2_socket(self, event: Event) -> None:
        host, _ = self._sessions.get(event.source, (None, None))
        self._sessions[event.source] = (host, event.dependency())

    def _h2_request(self, event: Event) -> None:
        if (host := _authority(event.params())) is not None:
            self._session_requests[event.source].append((event.time_ms, host))

    def _job(self, event: Event) -> None:
        if event.phase == BEGIN:
            params = event.params()
            host = _host_of_url(params.get("destination") or params.get("original_url") or params.get("url"))
            if host is not None:
                self._job_hosts[event.source] = host

    def _job_socket(self, event: Event) -> None:
        if (socket := event.dependency()) is not None:
            self._job_sockets[event.source] = socket

    def _shared(self, event: Event) -> None:
        session = event.dependency()
        host = _host_of_url(event.params().get("destination")) or self._job_hosts.get(event.source)
        if session is not None and host is not None:
            self._reasons.setdefault((session, host), _SHARED[event.name])

    def _url(self, event: Event) -> None:
        if event.phase == BEGIN and (host := _host_of_url(event.params().get("url"))) is not None:
            self._urls[event.source] = host

    def _asked_by(self, event: Event) -> None:
        job, host = event.dependency(), self._urls.get(event.source)
        if job is not None and host is not None:
            self._asked.append((event.time_ms, host, job))

    def _quic(self, event: Event) -> None:
        if event.phase == BEGIN:
            self.open[event.source] = _Open(
                opened_ms=event.time_ms,
                is_quic=True,
                alpn="h3",
                host=_host_of(event.params().get("host")),
                handshake_start_ms=event.time_ms,
            )
        elif event.phase == END and event.source in self.open:
            self.open[event.source].closed_ms = event.time_ms

    def _quic_packet(self, event: Event) -> None:
        one = self.open.get(event.source)
        if one is not None and one.address is None:
            one.address = _host_of(event.params().get("peer_address"))

    def _quic_complete(self, event: Event) -> None:
        if (one := self.open.get(event.source)) is not None and one.handshake_end_ms is None:
            one.connected_ms = one.handshake_end_ms = event.time_ms

    def _quic_early_data(self, event: Event) -> None:
        if (one := self.open.get(event.source)) is not None:
            one.early_data = event.params().get("state") == "AttemptedAndSucceeded"
            # Without early data the log does not say whether a ticket was used.
            one.resumed = True if one.early_data else None

    def _quic_request(self, event: Event) -> None:
        one, host = self.open.get(event.source), _authority(event.params())
        if one is not None and host is not None:
            one.requests.append((event.time_ms, host))

    def connections(self) -> list[Connection]:
        """Put sessions, requests and certificates to their connections."""
        reasons = {key: reason for key, reason in self._reasons.items() if key[0] in self.open}
        with_session = set()
        for session, (host, socket) in self._sessions.items():
            if socket in self.open:
                with_session.add(socket)
                self.open[socket].host = host
                self.open[socket].requests += self._session_requests[session]
                reasons |= {(socket, name): why for (of, name), why in self._reasons.items() if of == session}
        for at, host, job in self._asked:
            socket = self._job_sockets.get(job)
            if socket in self.open and socket not in with_session:
                self.open[socket].requests.append((at, host))
        return sorted((self._made(key, one, reasons) for key, one in self.open.items()), key=lambda one: one.opened_ms)

    def _made(self, key: int, one: _Open, reasons: dict[tuple[int, str], Sharing]) -> Connection:
        host = one.host or self._group_hosts.get(one.connect_job or -1) or next((to for _, to in one.requests), None)
        others = dict.fromkeys(name for _, name in one.requests if name != host)
        settled = one.is_quic or one.handshake_end_ms is not None or one.handshake_start_ms is None
        alpn = one.alpn or "http/1.1"
        return Connection(
            host=host,
            address=one.address,
            protocol=_PROTOCOLS.get(alpn, alpn) if settled and one.connected_ms is not None else None,
            opened_ms=one.opened_ms,
            connected_ms=one.connected_ms,
            handshake_start_ms=one.handshake_start_ms,
            handshake_end_ms=one.handshake_end_ms,
            closed_ms=one.closed_ms,
            resumed=one.resumed,
            early_data=one.early_data,
            certificate=self._certificates.get(key) or self._certificates.get(one.certificate_job or -1),
            requests=tuple(sorted(one.requests)),
            shared_with={name: reasons.get((key, name), Sharing.UNTOLD) for name in others},
        )


def read_netlog(file: Path) -> Netlog:
    """Read a log, plain or packed by gzip, whole or cut off; the error names what is no netlog."""
    reader, log = EventReader(file), _Log()
    for event in reader.events(frozenset(log.handlers)):
        log.handlers[event.name](event)
    return Netlog(connections=log.connections(), unix_offset_ms=reader.unix_offset_ms, is_cut_off=reader.is_cut_off)


def _authority(params: dict[str, Any]) -> str | None:
    """Name the host a request's head is for; heads are lists of `name: value`."""
    heads = params.get("headers")
    for head in heads if isinstance(heads, list) else ():
        if isinstance(head, str) and head.startswith(":authority:"):
            return _host_of(head.partition(":authority:")[2].strip())
    return None


def _host_of(authority: object) -> str | None:
    """Take name or address from `name:port` or `[address]:port`."""
    return _host_of_url(f"//{authority}") if isinstance(authority, str) else None


def _host_of_url(url: object) -> str | None:
    if not isinstance(url, str):
        return None
    try:
        host = urlsplit(url).hostname
    except ValueError:
        return None
    return host.rstrip(".") if host else None
