"""What a browser's log says of its connections, and of those of one page in numbers.

For: shapes and counting. Pure. Not for: reading logs (`reading`).
"""

import enum
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec


class Sharing(enum.StrEnum):
    """Why requests for one name went over a connection opened for another."""

    ADDRESS = "address"
    """Both names have its address, and its certificate is for both (RFC 9113 section 9.1.1)."""
    CERTIFICATE = "certificate"
    """Its certificate is for both, and the browser did not ask for one address (RFC 9114 section 3.3)."""
    UNTOLD = "untold"
    """The log shows the requests, not the decision."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """One connection; instants are the log's (ms, `CLOCK_MONOTONIC` on Linux), to the millisecond."""

    host: str | None
    """Name it was opened for."""
    address: str | None
    protocol: str | None
    """`h1`, `h2` or `h3`; none if it failed before that was settled."""
    opened_ms: float
    connected_ms: float | None = None
    """TCP's handshake was over; of QUIC, that and TLS's."""
    handshake_start_ms: float | None = None
    handshake_end_ms: float | None = None
    closed_ms: float | None = None
    resumed: bool | None = None
    """None where the log does not tell: of QUIC it tells resumption only with early data."""
    early_data: bool | None = None
    """Whether the server accepted early data."""
    certificate: str | None = None
    """Hash of the server's own certificate."""
    requests: Sequence[tuple[float, str]] = ()
    """When and for which name."""
    shared_with: Mapping[str, Sharing] = field(default_factory=dict)
    """Other names it had requests for."""

    @property
    def is_open(self) -> bool:
        """Whether it ever could carry requests."""
        return self.connected_ms is not None and (self.handshake_start_ms is None or self.handshake_end_ms is not None)

    def is_of(self, names: Collection[str]) -> bool:
        """Whether it was opened for one of these names or carried a request for one."""
        return self.host in names or any(name in names for _, name in self.requests)


@dataclass(frozen=True, slots=True, kw_only=True)
class Netlog:
    """A log, as far as it goes."""

    connections: Sequence[Connection]
    unix_offset_ms: float | None
    """What is to be added to an instant for Unix time."""
    is_cut_off: bool
    """It has no end: the browser still writes it, or was killed."""

    def during(self, begin_unix_ms: float, end_unix_ms: float) -> Sequence[Connection] | None:
        """List the connections opened or used in a span; none if the log has none in it, or no clock."""
        if self.unix_offset_ms is None:
            return None
        begin, end = begin_unix_ms - self.unix_offset_ms, end_unix_ms - self.unix_offset_ms

        def used(one: Connection) -> bool:
            return begin <= one.opened_ms <= end or any(begin <= at <= end for at, _ in one.requests)

        return [one for one in self.connections if used(one)] or None


class PageConnections(msgspec.Struct, frozen=True, kw_only=True):
    """A page's connections in numbers."""

    connections_count: int
    """That were open for requests, whether or not they had any."""
    unused_count: int
    failed_count: int
    full_handshakes_count: int
    resumed_handshakes_count: int
    early_data_count: int
    """Of the resumed ones, those whose early data was accepted."""
    untold_handshakes_count: int
    """Full or resumed: QUIC's without early data."""
    by_protocol: dict[str, int]
    names_count: int
    """Names of the page that had requests."""
    sharing_names_count: int
    """Of these, those whose requests went over connections of others alone."""
    shared: dict[str, int]
    """Names on connections of others, by reason: a name counts once for each such connection."""


def page_connections(connections: Sequence[Connection], names: Collection[str]) -> PageConnections:
    """Count those of a page, which are those its names had anything to do with."""
    of_page = [one for one in connections if one.is_of(names)]
    there = [one for one in of_page if one.is_open]
    handshakes = [one for one in there if one.handshake_end_ms is not None]
    own = {one.host for one in there if any(name == one.host for _, name in one.requests)}
    asked = {name for one in there for _, name in one.requests if name in names}
    reasons = Counter(reason for one in there for name, reason in one.shared_with.items() if name in names)
    return PageConnections(
        connections_count=len(there),
        unused_count=sum(not one.requests for one in there),
        failed_count=len(of_page) - len(there),
        full_handshakes_count=sum(one.resumed is False for one in handshakes),
        resumed_handshakes_count=sum(one.resumed is True for one in handshakes),
        early_data_count=sum(one.early_data is True for one in handshakes),
        untold_handshakes_count=sum(one.resumed is None for one in handshakes),
        by_protocol=dict(sorted(Counter(one.protocol or "none" for one in there).items())),
        names_count=len(asked),
        sharing_names_count=len(asked - own),
        shared={reason.value: reasons[reason] for reason in Sharing if reasons[reason]},
    )
