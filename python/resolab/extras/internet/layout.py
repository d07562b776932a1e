"""The parts of the internet in a box: hosts and their distances, zones and their servers, resolvers, sites.

For: the single description behind every configuration and the truth of every look-up. Pure. Not for: texts of
configurations (`zones`, `servers`), or starting anything (`box`).
"""

from collections.abc import Mapping, Sequence

import msgspec

from resolab.basics.protocols import find_facts
from resolab.basics.records import DnsTransport

HOME, WEB, LOCAL = "home", "web", "local"
SPACE = "198.18.0.0/15"
"""The range of all addresses of the box (RFC 2544). With a single address space, no page reaches into a more private
space."""
DAY_S = 86_400
DO53 = (DnsTransport.DOUDP, DnsTransport.DOTCP)
OVER_TLS = (*DO53, DnsTransport.DOT, DnsTransport.DOH)


class HostNetwork(msgspec.Struct, frozen=True, kw_only=True):
    """A network of addresses routed to a host."""

    prefix: str
    extra_one_way_ms: float = 0.0
    """The extra delay beyond the host's own, in ms, so a single host holds servers at many distances."""


class BoxHost(msgspec.Struct, frozen=True, kw_only=True):
    """A machine at the exchange, a network namespace."""

    name: str
    one_way_ms: float
    """The delay between host and exchange in each direction, in ms."""
    networks: tuple[HostNetwork, ...]

    @property
    def address(self) -> str:
        """Return the host's own address: the first."""
        return self.networks[0].prefix.partition("/")[0]


class NameServer(msgspec.Struct, frozen=True, kw_only=True):
    """A third-party authoritative server."""

    host: str
    address: str
    software: str
    """The software: `nsd` or `knot`."""


class ZoneRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A record of a zone."""

    owner: str
    """The owner name, absolute, without the last dot."""
    kind: str
    value: str
    ttl_s: int


class Zone(msgspec.Struct, frozen=True, kw_only=True):
    """A zone with its server and deliberate faults."""

    origin: str
    """The origin, without the last dot; empty: the root."""
    server: str
    """The host of the server referred to by the parent, or an address without a server."""
    records: tuple[ZoneRecord, ...] = ()
    is_served: bool = True
    """True when the server knows the zone; otherwise the delegation is lame."""
    is_readable: bool = True
    """True when the zone's file exists; otherwise the server has no data and answers SERVFAIL."""

    @property
    def server_name(self) -> str:
        """Return the name of the zone's name server, inside the zone, so the parent has its address, too."""
        return f"ns.{self.origin}" if self.origin else "ns.root"


class BoxResolver(msgspec.Struct, frozen=True, kw_only=True):
    """A recursive resolver, as seen by clients."""

    name: str
    """The name of the host and of the resolver's row in tables."""
    software: str
    """The software answering clients: `unbound`, `kresd`, `bind9`, `dnsdist`, `edge`."""
    recursion_by: str
    """The recursing software: the same, or another behind on the same host."""
    address: str
    dns_name: str
    transports: tuple[DnsTransport, ...]
    waits_for_tickets: bool = False
    """True when the first answer over DoT waits for the acknowledgement of the session tickets before
    (interop/README.md)."""
    swallows: tuple[DnsTransport, ...] = ()
    """The transports seemingly offered, but never answered."""
    recursion_address: str | None = None
    """The source address of queries to authoritative servers, when different from the resolver's address."""

    @property
    def asks_from(self) -> str:
        """Return the resolver's address as known to authoritative servers."""
        return self.recursion_address or self.address

    def address_for(self, transport: DnsTransport) -> str:
        """Return the resolver's address for `-r` and for plans; over DoUDP the bare address."""
        if transport is DnsTransport.DOUDP:
            return self.address
        return find_facts(transport).url(name=self.dns_name, address=self.address)

    @property
    def addresses(self) -> dict[str, str]:
        """Return the resolver's address for each transport, including transports without answers."""
        return {one.value: self.address_for(one) for one in (*self.transports, *self.swallows)}


class BoxOrigin(msgspec.Struct, frozen=True, kw_only=True):
    """A host name of a page."""

    host: str
    address: str
    table: Mapping[str, object]
    """The host's `[[site]]` table of the edge's configuration."""
    certificate: int | None = None
    """The certificate's number; names of a page with the same number share a certificate."""


class BoxSite(msgspec.Struct, frozen=True, kw_only=True):
    """A page of the box, with its hosts."""

    page: str
    url: str
    domain: str
    """The registrable domain of its document; `https://DOMAIN/` redirects to the document."""
    origins: tuple[BoxOrigin, ...]


class BoxLayout(msgspec.Struct, frozen=True, kw_only=True):
    """The whole box: hosts, servers, zones, resolvers and sites."""

    hosts: tuple[BoxHost, ...]
    servers: tuple[NameServer, ...]
    zones: tuple[Zone, ...]
    resolvers: tuple[BoxResolver, ...]
    sites: tuple[BoxSite, ...]
    place: str | None = None
    """The vantage point of this layout (`places`); `None`: the standard box."""

    def host(self, name: str) -> BoxHost:
        """Find a host by name."""
        return next(host for host in self.hosts if host.name == name)

    def resolver(self, name: str) -> BoxResolver:
        """Find a resolver by name."""
        return next(one for one in self.resolvers if one.name == name)

    def server_address(self, server: str) -> str:
        """Return the address of a zone's server: of a server by host name, or the given address itself."""
        return next((one.address for one in self.servers if one.host == server), server)

    def list_zones(self, server: str) -> tuple[Zone, ...]:
        """List the zones referred to a server."""
        return tuple(zone for zone in self.zones if zone.server == server)

    def rtt_ms(self, host: str, address: str) -> float:
        """Return the round trip time between a host and an address, in ms, from the delays alone."""
        owner, network = self._owner(address)
        return 2 * (self.host(host).one_way_ms + owner.one_way_ms + network.extra_one_way_ms)

    def _owner(self, address: str) -> tuple[BoxHost, HostNetwork]:
        best = max(
            ((host, network) for host in self.hosts for network in host.networks if _holds(network.prefix, address)),
            key=lambda found: int(found[1].prefix.partition("/")[2]),
            default=None,
        )
        if best is None:
            raise LookupError(address)
        return best


def _holds(prefix: str, address: str) -> bool:
    network, _, length = prefix.partition("/")
    shift = 32 - int(length)
    return _number(network) >> shift == _number(address) >> shift


def _number(address: str) -> int:
    return int.from_bytes(bytes(map(int, address.split("."))), "big")


def list_names(sites: Sequence[BoxSite]) -> list[str]:
    """List every host name of the sites."""
    return [origin.host for site in sites for origin in site.origins]
