"""The true time of a look-up in the box: round trips of its transport, and of the recursion. Pure.

For: the closed form for comparison with measured look-ups, hits and misses apart. Not for: the content of a cache at an
instant, known from the queries to authoritative servers (`recursion`), or from `cache`.

A look-up takes `k` round trips between home and the resolver (`protocols.closed_form`). A miss adds a round trip
between the resolver and each queried server, one after the other. These are the root's, the top domain's and the zone's
server, as far as unknown to the resolver.
"""

import enum
from collections.abc import Iterator, Sequence

import msgspec

from resolab.basics.errors import ConfigurationError
from resolab.basics.protocols import lookup_round_trips
from resolab.basics.records import DnsTransport
from resolab.extras.internet.layout import HOME, BoxLayout, BoxResolver
from resolab.extras.internet.zones import find_parent, find_zone

DELAYED_ACKNOWLEDGEMENT_MS = 44.0
"""The delay of Linux's acknowledgement without data to send, in ms: 40 ms, and a tick of its clock (250 Hz)."""
TOLERANCE_MS, TOLERANCE_RATIO = 2.0, 0.02
"""The allowed difference between measured times and the truth."""


class ResolverKnowledge(enum.StrEnum):
    """The content of a resolver's cache at the time of a query."""

    ANSWER = "answer"
    """The answer itself: a hit."""
    ZONE = "zone"
    """The zone's server: a new name of a known zone."""
    TOP = "top"
    """The top domain's server: a new zone."""
    ROOT = "root"
    """Only the root's servers."""


class LookUpTruth(msgspec.Struct, frozen=True, kw_only=True):
    """The closed form of a look-up."""

    resolver: str
    dns_transport: DnsTransport
    connection: str
    """The connection: `cold` or `warm`."""
    qname: str
    knowledge: ResolverKnowledge
    round_trips: int
    """The number of round trips between home and the resolver."""
    rtt_ms: float
    """The time of a single round trip, in ms."""
    asked: tuple[str, ...]
    """The hosts of the servers queried by the resolver, in order."""
    recursion_ms: float
    ticket_wait_ms: float
    """The wait of a server for its tickets' acknowledgement, in ms."""

    @property
    def total_ms(self) -> float:
        """Return the time of the look-up, in ms."""
        return self.round_trips * self.rtt_ms + self.recursion_ms + self.ticket_wait_ms


def truth(
    layout: BoxLayout,
    resolver: BoxResolver,
    transport: DnsTransport,
    qname: str,
    *,
    connection: str,
    knowledge: ResolverKnowledge,
) -> LookUpTruth:
    """Return the closed form of a look-up from the resolver's knowledge."""
    asked = servers_asked(layout, qname, knowledge)
    return compute_truth_of_servers(
        layout, resolver, transport, qname, connection=connection, knowledge=knowledge, asked=asked
    )


def compute_truth_of_servers(
    layout: BoxLayout,
    resolver: BoxResolver,
    transport: DnsTransport,
    qname: str,
    *,
    connection: str,
    knowledge: ResolverKnowledge,
    asked: Sequence[str],
) -> LookUpTruth:
    """Return the closed form of a look-up from the servers queried by the resolver."""
    rtt_ms = layout.rtt_ms(HOME, resolver.address)
    recursion_ms = sum(layout.rtt_ms(resolver.name, layout.server_address(server)) for server in asked)
    waits = connection == "cold" and transport is DnsTransport.DOT and resolver.waits_for_tickets
    return LookUpTruth(
        resolver=resolver.name,
        dns_transport=transport,
        connection=connection,
        qname=qname,
        knowledge=knowledge,
        round_trips=lookup_round_trips(transport, "full", connection),
        rtt_ms=rtt_ms,
        asked=tuple(asked),
        recursion_ms=recursion_ms,
        # The tickets leave when the query comes; what the recursion takes is over meanwhile.
        ticket_wait_ms=max(0.0, rtt_ms + DELAYED_ACKNOWLEDGEMENT_MS - recursion_ms) if waits else 0.0,
    )


def servers_asked(layout: BoxLayout, qname: str, knowledge: ResolverKnowledge) -> tuple[str, ...]:
    """List the servers queried by a resolver for a name, from the resolver's knowledge."""
    chain = find_chain(layout, qname)
    known = {
        ResolverKnowledge.ANSWER: len(chain),
        ResolverKnowledge.ZONE: len(chain) - 1,
        ResolverKnowledge.TOP: 1,
        ResolverKnowledge.ROOT: 0,
    }
    return tuple(chain[min(known[knowledge], len(chain)) :])


def knowledge_behind(layout: BoxLayout, qname: str, asked: Sequence[str]) -> ResolverKnowledge | None:
    """Return the resolver's knowledge from the queried servers; `None` when no cache state explains the queries."""
    return next((one for one in ResolverKnowledge if servers_asked(layout, qname, one) == tuple(asked)), None)


def find_chain(layout: BoxLayout, qname: str) -> list[str]:
    """List the servers from the root to a name's zone; raises `ConfigurationError` for a zone without a server."""
    zones = {zone.origin: zone for zone in layout.zones}
    zone = find_zone(layout, qname)
    origin = zone.origin
    if not (zone.is_served and zone.is_readable and any(one.host == zone.server for one in layout.servers)):
        raise ConfigurationError(
            f"no truth for {qname}: nobody serves zone {origin}, so no look-up of it has an answer"
        )
    origins = [origin]
    while origin:
        origin = find_parent(origin)
        origins.append(origin)
    return [zones[one].server for one in reversed(origins)]


def is_within(measured_ms: float, true_ms: float) -> bool:
    """Return True when a measured time is within the tolerance."""
    return abs(measured_ms - true_ms) <= TOLERANCE_MS + TOLERANCE_RATIO * true_ms


def every_truth(layout: BoxLayout, qnames: Sequence[str]) -> Iterator[LookUpTruth]:
    """Yield the closed forms of names over every resolver and transport, cold and warm, for all knowledge."""
    for resolver in layout.resolvers:
        for transport in resolver.transports:
            for connection in ("cold",) if transport is DnsTransport.DOUDP else ("cold", "warm"):
                for qname in qnames:
                    for knowledge in ResolverKnowledge:
                        yield truth(layout, resolver, transport, qname, connection=connection, knowledge=knowledge)
