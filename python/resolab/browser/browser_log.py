"""What a browser's own log says of its connections and look-ups: the same shapes for every browser.

For: data only; what a log does not tell is `None`. Not for: reading logs (`chromium.netlog`, `firefox.log`) or judging
a load by them (`resolab.live.judged`).

Instants are the log's, in ms; `BrowserLog.unix_offset_ms` makes Unix time of them.
"""

import enum
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from resolab.records import HandshakeMode


class Sharing(enum.StrEnum):
    """Why requests for one name went over a connection opened for another."""

    ADDRESS = "address"
    """Both names have its address, and its certificate is for both (RFC 9113 section 9.1.1)."""
    CERTIFICATE = "certificate"
    """Its certificate is for both, and the browser did not ask for one address (RFC 9114 section 3.3)."""
    UNTOLD = "untold"
    """The log shows the requests, not the decision."""


class Carrier(enum.StrEnum):
    """What a connection is made over."""

    TCP = "tcp"
    QUIC = "quic"


@dataclass(frozen=True, slots=True)
class Request:
    """One request's head, as it was sent."""

    at_ms: float
    host: str
    path: str | None = None
    """With its query, as in the request line."""
    in_early_data: bool | None = None
    """Whether it went in early data that the server accepted; `None` where the log does not tell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """One connection."""

    host: str | None
    """Name it was opened for."""
    address: str | None
    protocol: str | None
    """`h1`, `h2` or `h3`; none if it failed before that was settled."""
    carrier: Carrier = Carrier.TCP
    opened_ms: float
    connected_ms: float | None = None
    """TCP's handshake was over; of QUIC, that and TLS's."""
    handshake_start_ms: float | None = None
    handshake_end_ms: float | None = None
    closed_ms: float | None = None
    tls_version: str | None = None
    """As `TLS 1.3`."""
    resumed: bool | None = None
    """Whether the server took a ticket of an earlier connection (RFC 8446 section 2.2)."""
    early_data: bool | None = None
    """Whether the server accepted early data."""
    certificate: str | None = None
    """Hash of the server's own certificate."""
    requests: Sequence[Request] = ()
    shared_with: Mapping[str, Sharing] = field(default_factory=dict)
    """Other names it had requests for."""

    @property
    def is_open(self) -> bool:
        """Whether it ever could carry requests."""
        return self.connected_ms is not None and (self.handshake_start_ms is None or self.handshake_end_ms is not None)

    def is_of(self, names: Collection[str]) -> bool:
        """Whether it was opened for one of these names or carried a request for one."""
        return self.host in names or any(request.host in names for request in self.requests)

    def handshake_of(self, request: Request) -> HandshakeMode | None:
        """Name the handshake behind a request: `zero_rtt` only when the request itself went in accepted early data."""
        if request.in_early_data:
            return HandshakeMode.ZERO_RTT
        if self.resumed is None or (self.early_data is not False and request.in_early_data is None):
            return None
        return HandshakeMode.RESUMED if self.resumed else HandshakeMode.FULL


@dataclass(frozen=True, slots=True, kw_only=True)
class LookUp:
    """One question the browser's own DNS client asked, for one name and type."""

    name: str
    qtype: str | None
    begun_ms: float
    ended_ms: float | None = None
    """`None`: it was still under way when the log ended."""
    rcode: str | None = None
    """Of the last answer; `None`: none came, or the log does not tell."""
    error: str | None = None
    """The browser's word for why it failed."""
    connection: Connection | None = None
    """The DoH connection it went over."""
    request: Request | None = None
    """The DoH request it went in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowserLog:
    """A log, as far as it goes, or the part of it that is of one load."""

    connections: Sequence[Connection]
    look_ups: Sequence[LookUp] = ()
    unix_offset_ms: float | None
    """What is to be added to an instant for Unix time."""
    is_cut_off: bool
    """It has no end: the browser still writes it, or was killed."""

    def during(self, begin_ms: float, end_ms: float) -> Sequence[Connection]:
        """List the connections opened or used in a span of the log's own clock."""

        def used(one: Connection) -> bool:
            return begin_ms <= one.opened_ms <= end_ms or any(
                begin_ms <= request.at_ms <= end_ms for request in one.requests
            )

        return [one for one in self.connections if used(one)]

    def since(self, begin_ms: float) -> "BrowserLog":
        """Leave out what was over before an instant of the log: connections last used, look-ups begun before it."""

        def used(one: Connection) -> bool:
            return one.opened_ms >= begin_ms or any(request.at_ms >= begin_ms for request in one.requests)

        return replace(
            self,
            connections=[one for one in self.connections if used(one)],
            look_ups=[one for one in self.look_ups if one.begun_ms >= begin_ms],
        )
