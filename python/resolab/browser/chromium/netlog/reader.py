"""A netlog's events as connections and look-ups.

For: combining Chromium's events of sockets, sessions, requests and queries. Facts missing in a browser version's log
stay unknown; nothing is guessed. Not for: lines and names (`events`), or the part about one load
(`incremental_reader`).
"""

from pathlib import Path

from resolab.browser.browser_log import BrowserConnection, BrowserLog, ConnectionTransport, RequestHead, SharingReason
from resolab.browser.chromium.netlog.events import EventReader, Head, NetlogEvent
from resolab.browser.chromium.netlog.http import RequestCollector
from resolab.browser.chromium.netlog.look_ups import LookUps
from resolab.browser.chromium.netlog.partial_connection import PartialConnection
from resolab.browser.chromium.netlog.quic import QuicSessions
from resolab.browser.chromium.netlog.sockets import Sockets

_PROTOCOLS = {"http/1.1": "h1", "http/1.0": "h1", "h2": "h2"}


class NetlogBuilder:
    """Takes events in their order."""

    def __init__(self) -> None:
        self._open: dict[int, PartialConnection] = {}
        self._sockets, self._quic = Sockets(self._open), QuicSessions(self._open)
        self._requests, self._look_ups = RequestCollector(self._open), LookUps()
        parts = (self._sockets, self._quic, self._requests, self._look_ups)
        self._handlers = {name: handler for part in parts for name, handler in part.handlers.items()}

    @property
    def names(self) -> frozenset[str]:
        """Return the names of the events taken by this log."""
        return frozenset(self._handlers)

    def take(self, event: NetlogEvent) -> None:
        """Take the next event of the log."""
        self._handlers[event.name](event)

    def build(self, head: Head | None, *, is_cut_off: bool, is_damaged: bool = False) -> BrowserLog:
        """Build the log from the events taken until now."""
        self._quic.finish()
        self._requests.finish()
        self._look_ups.errors = {} if head is None else head.errors
        connections = {source: self._connection(source, one) for source, one in self._open.items()}
        of_askers: dict[int, tuple[BrowserConnection, RequestHead]] = {}
        for source, one in self._open.items():
            for asked in one.requests:
                if asked.asker is not None:
                    of_askers.setdefault(asked.asker, (connections[source], asked.request()))
        return BrowserLog(
            connections=sorted(connections.values(), key=lambda one: one.opened_ms),
            look_ups=self._look_ups.build(of_askers),
            unix_offset_ms=None if head is None else head.unix_offset_ms,
            is_cut_off=is_cut_off,
            is_damaged=is_damaged,
        )

    def _connection(self, source: int, one: PartialConnection) -> BrowserConnection:
        for asked in one.requests:
            asked.made = None  # More may be known of it now than before.
        requests = tuple(sorted((asked.request() for asked in one.requests), key=lambda request: request.at_ms))
        host = one.host or self._sockets.group_host(one.connect_job) or next((to.host for to in requests), None)
        others = dict.fromkeys(request.host for request in requests if request.host != host)
        settled = one.is_quic or one.handshake_end_ms is not None or one.handshake_start_ms is None
        alpn = one.alpn or "http/1.1"
        return BrowserConnection(
            host=host,
            address=one.address,
            protocol=_PROTOCOLS.get(alpn, alpn) if settled and one.connected_ms is not None else None,
            carrier=ConnectionTransport.QUIC if one.is_quic else ConnectionTransport.TCP,
            opened_ms=one.opened_ms,
            connected_ms=one.connected_ms,
            handshake_start_ms=one.handshake_start_ms,
            handshake_end_ms=one.handshake_end_ms,
            closed_ms=one.closed_ms,
            tls_version=one.tls_version,
            resumed=one.resumed,
            early_data=one.early_data,
            certificate=self._sockets.certificate(source, one.certificate_job),
            requests=requests,
            shared_with={name: self._requests.reasons.get((source, name), SharingReason.UNTOLD) for name in others},
        )


def read_netlog(file: Path) -> BrowserLog:
    """Read a log, plain or gzip, whole or cut off. Raise `ConfigurationError` for a file without a valid netlog."""
    reader, log = EventReader(file), NetlogBuilder()
    for event in reader.events(log.names):
        log.take(event)
    return log.build(reader.head, is_cut_off=reader.is_cut_off, is_damaged=reader.is_damaged)
