"""A netlog's requests over TCP, and the names with shared connections.

For: HTTP/2 sessions, jobs fetching connections, requests over HTTP/1.1. Not for: requests over QUIC (`quic`).

An HTTP/2 session names its socket; the heads sent by a session name the requests. Requests over HTTP/1.1 are found
through the job behind their socket.
"""

from collections import defaultdict

from resolab.browser.browser_log import SharingReason
from resolab.browser.chromium.netlog.events import BEGIN, NetlogEvent
from resolab.browser.chromium.netlog.partial_connection import (
    Handlers,
    PartialConnection,
    PartialRequest,
    host_of_url,
    path_of_url,
    read_host,
    read_request,
)

_SHARED = {
    "HTTP2_SESSION_POOL_FOUND_EXISTING_SESSION_FROM_IP_POOL": SharingReason.ADDRESS,
    "QUIC_SESSION_POOL_MATCHING_IP_SESSION_FOUND": SharingReason.ADDRESS,
    "QUIC_SESSION_POOL_POOLED_WITH_DIFFERENT_IP_SESSION": SharingReason.CERTIFICATE,
}


class RequestCollector:
    """Takes events in their order."""

    def __init__(self, opened: dict[int, PartialConnection]) -> None:
        self._open = opened
        self._sessions: dict[int, tuple[str | None, int | None]] = {}
        """Name and socket of each HTTP/2 session."""
        self._job_hosts: dict[int, str] = {}
        self._job_sockets: dict[int, int] = {}
        self._job_askers: dict[int, int] = {}
        self._urls: dict[int, tuple[str, str | None]] = {}
        self._asked: list[PartialRequest] = []
        """Requests with the jobs behind their connections."""
        self._session_requests: dict[int, list[PartialRequest]] = defaultdict(list)
        self.reasons: dict[tuple[int, str], SharingReason] = {}
        """Reasons for sharing by socket or QUIC session, complete after `finish`."""
        self._told: dict[tuple[int, str], SharingReason] = {}
        self.handlers: Handlers = {
            "HTTP2_SESSION": self._h2_session,
            "HTTP2_SESSION_INITIALIZED": self._h2_socket,
            "HTTP2_SESSION_SEND_HEADERS": self._h2_request,
            "HTTP_STREAM_JOB": self._job,
            "SOCKET_POOL_BOUND_TO_SOCKET": self._job_socket,
            "URL_REQUEST_START_JOB": self._url,
            "HTTP_STREAM_REQUEST_BOUND_TO_JOB": self._note_request,
            **dict.fromkeys(_SHARED, self._note_sharing),
        }

    def finish(self) -> None:
        """Put sessions' requests and reasons to their sockets."""
        self.reasons = {key: reason for key, reason in self._told.items() if key[0] in self._open}
        of_sockets: dict[int, list[PartialRequest]] = defaultdict(list)
        with_session = set()
        for session, (host, socket) in self._sessions.items():
            if socket is None or socket not in self._open:
                continue
            with_session.add(socket)
            self._open[socket].host = host
            for asked in self._session_requests[session]:
                asked.asker = None if asked.job is None else self._job_askers.get(asked.job)
                of_sockets[socket].append(asked)
            self.reasons |= {(socket, name): why for (of, name), why in self._told.items() if of == session}
        for asked in self._asked:
            socket = self._job_sockets.get(-1 if asked.job is None else asked.job)
            if socket is not None and socket in self._open and socket not in with_session:
                of_sockets[socket].append(asked)
        for socket, requests in of_sockets.items():
            one = self._open[socket]
            one.requests = requests
            for asked in requests:
                asked.early = False if one.early_data is False else None

    def _h2_session(self, event: NetlogEvent) -> None:
        if event.phase == BEGIN:
            self._sessions[event.source] = (read_host(event.params().get("host")), None)

    def _h2_socket(self, event: NetlogEvent) -> None:
        host, _ = self._sessions.get(event.source, (None, None))
        self._sessions[event.source] = (host, event.dependency())

    def _h2_request(self, event: NetlogEvent) -> None:
        if (asked := read_request(event)) is not None:
            asked.job = event.dependency()
            self._session_requests[event.source].append(asked)

    def _job(self, event: NetlogEvent) -> None:
        if event.phase == BEGIN:
            params = event.params()
            host = host_of_url(params.get("destination") or params.get("original_url") or params.get("url"))
            if host is not None:
                self._job_hosts[event.source] = host

    def _job_socket(self, event: NetlogEvent) -> None:
        if (socket := event.dependency()) is not None:
            self._job_sockets[event.source] = socket

    def _note_sharing(self, event: NetlogEvent) -> None:
        session = event.dependency()
        host = host_of_url(event.params().get("destination")) or self._job_hosts.get(event.source)
        if session is not None and host is not None:
            self._told.setdefault((session, host), _SHARED[event.name])

    def _url(self, event: NetlogEvent) -> None:
        url = event.params().get("url") if event.phase == BEGIN else None
        if (host := host_of_url(url)) is not None:
            self._urls[event.source] = (host, path_of_url(url))

    def _note_request(self, event: NetlogEvent) -> None:
        job = event.dependency()
        if job is None:
            return
        self._job_askers[job] = event.source
        if (url := self._urls.get(event.source)) is not None:
            self._asked.append(PartialRequest(event.time_ms, *url, asker=event.source, job=job))
