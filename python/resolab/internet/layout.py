"""What the internet in a box consists of: hosts and their distances, zones and who serves them, resolvers, sites.

For: the one description from which every configuration and the truth of every look-up follow. Pure. Not for: texts
of configurations (`zones`, `servers`), or starting anything (`box`).
"""

from collections.abc import Mapping, Sequence

import msgspec

from resolab.protocols import facts_of
from resolab.records import DnsTransport

HOME, WEB, LOCAL = "home", "web", "local"
SPACE = "198.18.0.0/15"
"""All addresses of the box (RFC 2544): of one space, so that no page reaches into a more private one."""
DAY_S = 86_400
DO53 = (DnsTransport.DOUDP, DnsTransport.DOTCP)
OVER_TLS = (*DO53, DnsTransport.DOT, DnsTransport.DOH)


class Network(msgspec.Struct, frozen=True, kw_only=True):
    """Addresses that lead to a host."""

    prefix: str
    extra_one_way_ms: float = 0.0
    """Beyond the host's own, so that one host holds servers at many distances."""


class Host(msgspec.Struct, frozen=True, kw_only=True):
    """A machine at the exchange, a network namespace."""

    name: str
    one_way_ms: float
    """Between it and the exchange, in each direction."""
    networks: tuple[Network, ...]

    @property
    def address(self) -> str:
        """Its own: the first."""
        return self.networks[0].prefix.partition("/")[0]


class NameServer(msgspec.Struct, frozen=True, kw_only=True):
    """An authoritative server of another maker."""

    host: str
    address: str
    software: str
    """`nsd` or `knot`."""


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """One record of a zone."""

    owner: str
    """Absolute, without the last dot."""
    kind: str
    value: str
    ttl_s: int


class Zone(msgspec.Struct, frozen=True, kw_only=True):
    """A zone, where it is served, and what is wrong with it."""

    origin: str
    """Without the last dot; empty: the root."""
    server: str
    """Host of the server to which its parent refers, or an address at which there is none."""
    records: tuple[Record, ...] = ()
    is_served: bool = True
    """Whether that server knows the zone at all; else it is lame."""
    is_readable: bool = True
    """Whether its file exists; else the server has the zone and nothing to say: SERVFAIL."""

    @property
    def server_name(self) -> str:
        """Name of its name server, inside the zone, so that the parent has its address, too."""
        return f"ns.{self.origin}" if self.origin else "ns.root"


class Resolver(msgspec.Struct, frozen=True, kw_only=True):
    """A recursive resolver as clients see it."""

    name: str
    """Of the host and of its row in tables."""
    software: str
    """Who answers clients: `unbound`, `kresd`, `bind9`, `dnsdist`, `edge`."""
    recursion_by: str
    """Who recurses: itself or one behind it on the same host."""
    address: str
    dns_name: str
    transports: tuple[DnsTransport, ...]
    waits_for_tickets: bool = False
    """Over DoT its first answer waits until the session tickets before it are acknowledged (interop/README.md)."""
    swallows: tuple[DnsTransport, ...] = ()
    """Transports that seem to be offered and never answer."""
    recursion_address: str | None = None
    """From which it asks authoritative servers, if not from the one it is asked at."""

    @property
    def asks_from(self) -> str:
        """Address by which authoritative servers know it."""
        return self.recursion_address or self.address

    def address_for(self, transport: DnsTransport) -> str:
        """Write it for `-r` and for plans; over DoUDP the bare address."""
        if transport is DnsTransport.DOUDP:
            return self.address
        return facts_of(transport).url(name=self.dns_name, address=self.address)

    @property
    def addresses(self) -> dict[str, str]:
        """Write it for each transport, those that never answer too."""
        return {one.value: self.address_for(one) for one in (*self.transports, *self.swallows)}


class Origin(msgspec.Struct, frozen=True, kw_only=True):
    """One host name of a page."""

    host: str
    address: str
    table: Mapping[str, object]
    """Its `[[site]]` of the edge's configuration."""
    certificate: int | None = None
    """Names of one page with the same number share a certificate."""


class Site(msgspec.Struct, frozen=True, kw_only=True):
    """A page of the box."""

    page: str
    url: str
    domain: str
    """Registrable domain of its document; `https://DOMAIN/` redirects to the document."""
    origins: tuple[Origin, ...]


class Layout(msgspec.Struct, frozen=True, kw_only=True):
    """The whole box."""

    hosts: tuple[Host, ...]
    servers: tuple[NameServer, ...]
    zones: tuple[Zone, ...]
    resolvers: tuple[Resolver, ...]
    sites: tuple[Site, ...]
    place: str | None = None
    """The vantage point of H20 it is seen from (`places`); None: the box as it comes."""

    def host(self, name: str) -> Host:
        """Find a host."""
        return next(host for host in self.hosts if host.name == name)

    def resolver(self, name: str) -> Resolver:
        """Find a resolver."""
        return next(one for one in self.resolvers if one.name == name)

    def server_address(self, server: str) -> str:
        """Find where a zone is said to be served: at one of the servers, or at an address that is one already."""
        return next((one.address for one in self.servers if one.host == server), server)

    def zones_of(self, server: str) -> tuple[Zone, ...]:
        """List the zones referred to a server."""
        return tuple(zone for zone in self.zones if zone.server == server)

    def rtt_ms(self, host: str, address: str) -> float:
        """Round trip between a host and an address, by the delays alone."""
        owner, network = self._owner(address)
        return 2 * (self.host(host).one_way_ms + owner.one_way_ms + network.extra_one_way_ms)

    def _owner(self, address: str) -> tuple[Host, Network]:
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


def names_of(sites: Sequence[Site]) -> list[str]:
    """List every host name of the sites."""
    return [origin.host for site in sites for origin in site.origins]
