"""What a look-up in the box must take: round trips of its transport, and of the recursion behind it. Pure.

For: the closed form that measured look-ups are held against, hits and misses apart. Not for: what was in a cache at
some instant; that is told by what the authoritative servers were asked (`recursion`), or by `cache`.

A look-up takes `k` round trips between home and the resolver (`protocols.closed_form`), and on a miss one between the
resolver and each server it asks, one after the other: the root, the top domain's, the zone's, as far as it does not
know them.
"""

import enum
from collections.abc import Iterator, Sequence

import msgspec

from resolab.errors import ConfigurationError
from resolab.internet.layout import HOME, Layout, Resolver
from resolab.internet.zones import parent_of, zone_of
from resolab.protocols import lookup_round_trips
from resolab.records import DnsTransport

DELAYED_ACKNOWLEDGEMENT_MS = 44.0
"""How long Linux waits to acknowledge what it has no answer for: 40 ms, and a tick of its clock (250 Hz)."""
TOLERANCE_MS, TOLERANCE_RATIO = 2.0, 0.02
"""How far measured times may lie from the truth."""


class Knowledge(enum.StrEnum):
    """What a resolver has in its cache when it is asked for a name."""

    ANSWER = "answer"
    """A hit."""
    ZONE = "zone"
    """The zone's server: a new name of a known zone."""
    TOP = "top"
    """The top domain's server: a new zone."""
    ROOT = "root"
    """The root's servers and no more."""


class Truth(msgspec.Struct, frozen=True, kw_only=True):
    """One look-up's closed form."""

    resolver: str
    dns_transport: DnsTransport
    connection: str
    """`cold` or `warm`."""
    qname: str
    knowledge: Knowledge
    round_trips: int
    """Between home and the resolver."""
    rtt_ms: float
    """Of one of them."""
    asked: tuple[str, ...]
    """Hosts of the servers the resolver asks, in order."""
    recursion_ms: float
    ticket_wait_ms: float
    """Until a server that waits for its tickets' acknowledgement goes on."""

    @property
    def total_ms(self) -> float:
        """The look-up."""
        return self.round_trips * self.rtt_ms + self.recursion_ms + self.ticket_wait_ms


def truth(
    layout: Layout,
    resolver: Resolver,
    transport: DnsTransport,
    qname: str,
    *,
    connection: str,
    knowledge: Knowledge,
) -> Truth:
    """Write the closed form of a look-up by what the resolver knows."""
    asked = servers_asked(layout, qname, knowledge)
    return of_servers(layout, resolver, transport, qname, connection=connection, knowledge=knowledge, asked=asked)


def of_servers(
    layout: Layout,
    resolver: Resolver,
    transport: DnsTransport,
    qname: str,
    *,
    connection: str,
    knowledge: Knowledge,
    asked: Sequence[str],
) -> Truth:
    """Write the closed form of a look-up for which the resolver asks these servers."""
    rtt_ms = layout.rtt_ms(HOME, resolver.address)
    recursion_ms = sum(layout.rtt_ms(resolver.name, layout.server_address(server)) for server in asked)
    waits = connection == "cold" and transport is DnsTransport.DOT and resolver.waits_for_tickets
    return Truth(
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


def servers_asked(layout: Layout, qname: str, knowledge: Knowledge) -> tuple[str, ...]:
    """List the servers a resolver asks for a name, by what it knows."""
    chain = chain_of(layout, qname)
    known = {Knowledge.ANSWER: len(chain), Knowledge.ZONE: len(chain) - 1, Knowledge.TOP: 1, Knowledge.ROOT: 0}
    return tuple(chain[min(known[knowledge], len(chain)) :])


def knowledge_behind(layout: Layout, qname: str, asked: Sequence[str]) -> Knowledge | None:
    """Tell from the servers that were asked what the resolver knew; none if no cache explains it."""
    return next((one for one in Knowledge if servers_asked(layout, qname, one) == tuple(asked)), None)


def chain_of(layout: Layout, qname: str) -> list[str]:
    """List the servers on the way from the root to a name's zone; that of a zone nobody serves is an error."""
    zones = {zone.origin: zone for zone in layout.zones}
    zone = zone_of(layout, qname)
    origin = zone.origin
    if not (zone.is_served and zone.is_readable and any(one.host == zone.server for one in layout.servers)):
        raise ConfigurationError(
            f"no truth for {qname}: nobody serves zone {origin}, so no look-up of it has an answer"
        )
    origins = [origin]
    while origin:
        origin = parent_of(origin)
        origins.append(origin)
    return [zones[one].server for one in reversed(origins)]


def is_within(measured_ms: float, true_ms: float) -> bool:
    """Whether a measured time is as close as asked for."""
    return abs(measured_ms - true_ms) <= TOLERANCE_MS + TOLERANCE_RATIO * true_ms


def every_truth(layout: Layout, qnames: Sequence[str]) -> Iterator[Truth]:
    """Write the closed forms of names over every resolver and transport, cold and warm, by what is known."""
    for resolver in layout.resolvers:
        for transport in resolver.transports:
            for connection in ("cold",) if transport is DnsTransport.DOUDP else ("cold", "warm"):
                for qname in qnames:
                    for knowledge in Knowledge:
                        yield truth(layout, resolver, transport, qname, connection=connection, knowledge=knowledge)
