"""The connections and look-ups in a browser's own log: the same shapes for every browser.

For: data only; values missing in a log are `None`. Not for: reading logs (`chromium.netlog`, `firefox.log`) or judging
a load by the log (`resolab.trials.live.client_side`).

Instants are on the log's clock, in ms; `BrowserLog.unix_offset_ms` converts to Unix time.
"""

import enum
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from resolab.basics.records import HandshakeMode


class SharingReason(enum.StrEnum):
    """The reason for requests to one name over a connection opened for another name."""

    ADDRESS = "address"
    """Both names have the connection's address, and the certificate covers both (RFC 9113 section 9.1.1)."""
    CERTIFICATE = "certificate"
    """The certificate covers both names; the browser did not require a shared address (RFC 9114 section 3.3)."""
    UNTOLD = "untold"
    """The log shows the requests, not the decision."""


class ConnectionTransport(enum.StrEnum):
    """The transport below a connection."""

    TCP = "tcp"
    QUIC = "quic"


@dataclass(frozen=True, slots=True)
class RequestHead:
    """The head of one request, as sent."""

    at_ms: float
    host: str
    path: str | None = None
    """The path with its query, as in the request line."""
    in_early_data: bool | None = None
    """True when the request went in early data accepted by the server; `None` when the log does not say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowserConnection:
    """One connection of the browser, with its handshake and requests."""

    host: str | None
    """The name behind the opening of the connection."""
    address: str | None
    protocol: str | None
    """`h1`, `h2` or `h3`; `None` when the connection failed before the choice."""
    carrier: ConnectionTransport = ConnectionTransport.TCP
    opened_ms: float
    connected_ms: float | None = None
    """The end of TCP's handshake; for QUIC, the end of the combined handshake with TLS."""
    handshake_start_ms: float | None = None
    handshake_end_ms: float | None = None
    closed_ms: float | None = None
    tls_version: str | None = None
    """The TLS version, as `TLS 1.3`."""
    resumed: bool | None = None
    """True when the server accepted a ticket of an earlier connection (RFC 8446 section 2.2)."""
    early_data: bool | None = None
    """True when the server accepted early data."""
    certificate: str | None = None
    """Hash of the server's own certificate."""
    requests: Sequence[RequestHead] = ()
    shared_with: Mapping[str, SharingReason] = field(default_factory=dict)
    """Other names with requests on this connection."""

    @property
    def is_open(self) -> bool:
        """Return True when the connection was ever able to carry requests."""
        return self.connected_ms is not None and (self.handshake_start_ms is None or self.handshake_end_ms is not None)

    def serves_any(self, names: Collection[str]) -> bool:
        """Return True when the connection was opened for one of these names or carried a request for one."""
        return self.host in names or any(request.host in names for request in self.requests)

    def judge_handshake(self, request: RequestHead) -> HandshakeMode | None:
        """Name the handshake behind a request: `zero_rtt` only when the request itself went in accepted early data."""
        if request.in_early_data:
            return HandshakeMode.ZERO_RTT
        if self.resumed is None or (self.early_data is not False and request.in_early_data is None):
            return None
        return HandshakeMode.RESUMED if self.resumed else HandshakeMode.FULL


@dataclass(frozen=True, slots=True, kw_only=True)
class LookUp:
    """One question of the browser's own DNS client, for one name and type."""

    name: str
    qtype: str | None
    begun_ms: float
    ended_ms: float | None = None
    """`None`: the look-up was still under way at the end of the log."""
    rcode: str | None = None
    """The RCODE of the last answer; `None` without an answer, or when the log does not say."""
    error: str | None = None
    """The browser's error code for the failure."""
    connection: BrowserConnection | None = None
    """The DoH connection used by the look-up."""
    request: RequestHead | None = None
    """The DoH request carrying the look-up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowserLog:
    """A log, up to its last line, or the part of a log about one load."""

    connections: Sequence[BrowserConnection]
    look_ups: Sequence[LookUp] = ()
    unix_offset_ms: float | None
    """The offset from the log's clock to Unix time, in ms."""
    is_cut_off: bool
    """The log has no end: the browser still writes it, or was killed."""
    is_damaged: bool = False
    """Lines of the log cannot be read, or its checksum is wrong: events are missing or changed."""

    def select_during(self, begin_ms: float, end_ms: float) -> Sequence[BrowserConnection]:
        """List the connections opened or used in a span of the log's own clock."""

        def used(one: BrowserConnection) -> bool:
            return begin_ms <= one.opened_ms <= end_ms or any(
                begin_ms <= request.at_ms <= end_ms for request in one.requests
            )

        return [one for one in self.connections if used(one)]

    def select_since(self, begin_ms: float) -> "BrowserLog":
        """Leave out connections last used before an instant of the log, and look-ups begun before the instant."""

        def used(one: BrowserConnection) -> bool:
            return one.opened_ms >= begin_ms or any(request.at_ms >= begin_ms for request in one.requests)

        return replace(
            self,
            connections=[one for one in self.connections if used(one)],
            look_ups=[one for one in self.look_ups if one.begun_ms >= begin_ms],
        )
