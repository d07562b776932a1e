"""The standard box: hosts with distances, servers and resolvers of several makers, without any site.

For: the only place with the numbers of the box. Not for: the consequences of a number (`truth`), sites (`sites`).
"""

from collections.abc import Sequence

from resolab.basics.records import DnsTransport
from resolab.extras.internet.layout import (
    DAY_S,
    DO53,
    HOME,
    LOCAL,
    OVER_TLS,
    WEB,
    BoxHost,
    BoxResolver,
    HostNetwork,
    NameServer,
    Zone,
    ZoneRecord,
)

ONE_WAY_MS = {
    HOME: 2.0,
    LOCAL: 0.5,
    "unbound": 4.0,
    "knot": 9.0,
    "bind": 16.0,
    "dnsdist": 24.0,
    "quick": 6.0,
    "deaf": 12.0,
    "root": 15.0,
    "tld-test": 10.0,
    "tld-example": 20.0,
    "auth-a": 8.0,
    "auth-b": 14.0,
    "auth-c": 30.0,
    WEB: 3.0,
}
"""The delay of each host to the exchange, in ms: twice the sum of two delays is a round trip."""
SITES_NETWORK = "198.19.0.0/16"
"""The network of all sites, on a single host; each address has its site's distance."""
SOFTWARE = {
    "root": "nsd",
    "tld-test": "knot",
    "tld-example": "nsd",
    "auth-a": "nsd",
    "auth-b": "knot",
    "auth-c": "nsd",
}
"""The software of the authoritative servers."""
SITE_SERVERS = ("auth-a", "auth-b", "auth-c")
TOP_DOMAINS = {"test": "tld-test", "example": "tld-example", "com": "tld-example"}
"""The servers of the top domains. `com` has a single name, queried by Chromium from every DoH server."""
UNOWNED_ADDRESS = "198.18.250.1"
"""An address leading nowhere: packets to this address are lost."""
UNOWNED_SERVER = "198.18.250.53"
CHROMIUM_PROBE = "www.gstatic.com"


def make_address(host: str) -> str:
    """Return the own address of a host."""
    return f"198.18.{list(ONE_WAY_MS).index(host)}.1"


def hosts(of_sites: Sequence[HostNetwork]) -> tuple[BoxHost, ...]:
    """List all hosts; the sites' host has a separate network for each farther address."""
    sites = (HostNetwork(prefix=SITES_NETWORK), *of_sites)
    return tuple(
        BoxHost(
            name=name,
            one_way_ms=one_way_ms,
            networks=(HostNetwork(prefix=f"{make_address(name)}/32"), *(sites if name == WEB else ())),
        )
        for name, one_way_ms in ONE_WAY_MS.items()
    )


def servers() -> tuple[NameServer, ...]:
    """List the authoritative servers."""
    return tuple(
        NameServer(host=host, address=make_address(host), software=software) for host, software in SOFTWARE.items()
    )


def resolvers() -> tuple[BoxResolver, ...]:
    """List the resolvers, the near resolver first."""
    every = tuple(DnsTransport)
    return (
        _resolver(LOCAL, "unbound", DO53),
        _resolver("unbound", "unbound", OVER_TLS, waits_for_tickets=True),
        _resolver("knot", "kresd", OVER_TLS),
        _resolver("bind", "bind9", OVER_TLS, waits_for_tickets=True),
        _resolver("dnsdist", "dnsdist", OVER_TLS, recursion_by="unbound"),
        _resolver("quick", "edge", every, recursion_by="unbound"),
        _resolver("deaf", "kresd", OVER_TLS, swallows=(DnsTransport.DOQ,)),
    )


def _resolver(
    name: str,
    software: str,
    transports: tuple[DnsTransport, ...],
    *,
    recursion_by: str | None = None,
    waits_for_tickets: bool = False,
    swallows: tuple[DnsTransport, ...] = (),
) -> BoxResolver:
    return BoxResolver(
        name=name,
        software=software,
        recursion_by=recursion_by or software,
        address=make_address(name),
        dns_name=f"dns.{name}.example",
        transports=transports,
        waits_for_tickets=waits_for_tickets,
        swallows=swallows,
    )


def common_zones() -> tuple[Zone, ...]:
    """List the root, the top domains and all zones without a site: the resolvers' names, Chromium's probe."""
    of_resolvers = [
        Zone(origin=f"{one.name}.example", server="auth-a", records=(_address(one.dns_name, one.address),))
        for one in resolvers()
    ]
    probe = Zone(origin="gstatic.com", server="auth-a", records=(_address(CHROMIUM_PROBE, UNOWNED_ADDRESS),))
    tops = [Zone(origin=name, server=server) for name, server in TOP_DOMAINS.items()]
    return (Zone(origin="", server="root"), *tops, *of_resolvers, probe)


def _address(owner: str, address: str) -> ZoneRecord:
    return ZoneRecord(owner=owner, kind="A", value=address, ttl_s=DAY_S)
