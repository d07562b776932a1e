"""Netlogs for tests, made in few words: events by name, numbered as a log's head says."""

import itertools
import json
from typing import Any

OFFSET_MS = 1_000_000_000_000
BEGIN, END = 1, 2


class MadeNetlog:
    """Collects events; `text` is the file."""

    def __init__(self) -> None:
        self.names: dict[str, int] = {}
        self.kinds: dict[str, int] = {}
        self.events: list[dict[str, Any]] = []
        self._ids = itertools.count(1)

    def add(self, at: int, source: tuple[str, int], name: str, phase: int = 0, of: int | None = None, **params: Any) -> None:  # fmt: skip
        kind, number = source
        if of is not None:
            params["source_dependency"] = {"id": of, "type": 0}
        self.events.append(
            {
                "params": params,
                "phase": phase,
                "source": {"id": number, "type": self.kinds.setdefault(kind, len(self.kinds))},
                "time": str(at),
                "type": self.names.setdefault(name, len(self.names)),
            }
        )

    def new(self) -> int:
        return next(self._ids)

    def socket(self, at: int, address: str = "192.0.2.1", *, alpn: str | None = "h2", host: str = "a.example", resumed: bool = False, early: int | None = None, error: int | None = None, certificate: str = "PEM", known: bool = False, took: int = 10) -> int:  # fmt: skip
        """Connect to a host by TCP and, with ALPN, TLS; either takes as long."""
        socket, job, verifier = self.new(), self.new(), self.new()
        self.add(at, ("SSL_CONNECT_JOB", job), "SOCKET_POOL_CONNECT_JOB_CREATED", group_id=f"pm/https://{host} <x y>")
        self.add(at, ("SOCKET", socket), "SOCKET_ALIVE", BEGIN, of=job)
        self.add(at, ("SOCKET", socket), "TCP_CONNECT", BEGIN, address_list=[f"{address}:443"])
        end = {"net_error": error} if error else {"remote_address": f"{address}:443"}
        self.add(at + took, ("SOCKET", socket), "TCP_CONNECT", END, **end)
        if error or alpn is None:
            return socket
        self.add(at + took, ("SOCKET", socket), "SSL_CONNECT", BEGIN)
        self.add(
            at + took, ("CERT_VERIFIER_JOB", verifier), "CERT_VERIFIER_JOB", BEGIN, certificates=[certificate, "CA"]
        )
        self.add(at + took, ("SOCKET", socket), "CERT_VERIFIER_REQUEST_BOUND_TO_JOB", of=verifier)
        if early is not None:
            self.add(at + took, ("SOCKET", socket), "SSL_HANDSHAKE_EARLY_DATA_REASON", early_data_reason=early)
        self.add(at + 2 * took, ("SOCKET", socket), "SSL_CONNECT", END, next_proto=alpn, is_resumed=resumed)
        return socket

    def h2(self, at: int, socket: int, host: str, *asked: str) -> int:
        """Make an HTTP/2 session of a socket, with requests for names."""
        session = self.new()
        self.add(at, ("HTTP2_SESSION", session), "HTTP2_SESSION", BEGIN, host=f"{host}:443")
        self.add(at, ("HTTP2_SESSION", session), "HTTP2_SESSION_INITIALIZED", of=socket, protocol="h2")
        for name in asked:
            heads = [":method: GET", f":authority: {name}", ":path: /"]
            self.add(at, ("HTTP2_SESSION", session), "HTTP2_SESSION_SEND_HEADERS", headers=heads)
        return session

    def pooled(self, at: int, session: int, host: str) -> None:
        """A job for another name finds the session by address."""
        job = self.new()
        self.add(at, ("HTTP_STREAM_JOB", job), "HTTP_STREAM_JOB", BEGIN, destination=f"https://{host}")
        self.add(at, ("HTTP_STREAM_JOB", job), "HTTP2_SESSION_POOL_FOUND_EXISTING_SESSION_FROM_IP_POOL", of=session)

    def h1(self, at: int, socket: int, *urls: str) -> None:
        """Send requests over a socket, one after the other."""
        for url in urls:
            request, job = self.new(), self.new()
            self.add(at, ("URL_REQUEST", request), "URL_REQUEST_START_JOB", BEGIN, url=url)
            self.add(at, ("HTTP_STREAM_JOB", job), "SOCKET_POOL_BOUND_TO_SOCKET", of=socket)
            self.add(at, ("URL_REQUEST", request), "HTTP_STREAM_REQUEST_BOUND_TO_JOB", of=job)

    def quic(self, at: int, host: str, *asked: str, address: str = "192.0.2.9", took: int | None = 20, state: str = "NotAttempted") -> int:  # fmt: skip
        """Open a QUIC session; without `took` its handshake is never over."""
        session = self.new()
        self.add(at, ("QUIC_SESSION", session), "QUIC_SESSION", BEGIN, host=host, port=443)
        self.add(at + 5, ("QUIC_SESSION", session), "QUIC_SESSION_PACKET_RECEIVED", peer_address=f"{address}:443")
        if took is None:
            return session
        self.add(at + took, ("QUIC_SESSION", session), "QUIC_SESSION_CRYPTO_HANDSHAKE_COMPLETE")
        self.add(at + took, ("QUIC_SESSION", session), "QUIC_SESSION_ZERO_RTT_STATE", state=state)
        for name in asked:
            self.add(
                at + took,
                ("QUIC_SESSION", session),
                "QUIC_CHROMIUM_CLIENT_STREAM_SEND_REQUEST_HEADERS",
                headers=[f":authority: {name}", ":path: /"],
            )
        return session

    def text(self, *, end: str = '],\n"polledData": [{}]}\n', offset: object = str(OFFSET_MS)) -> str:
        """Write the file as Chromium does."""
        constants = {"logEventTypes": self.names, "logSourceType": self.kinds, "timeTickOffset": offset}
        lines = ",\n".join(json.dumps(one, separators=(",", ":")) for one in self.events)
        return f'{{"constants":{json.dumps(constants)},\n"events": [\n{lines}{end}'
