"""The resolvers as reached from here: addresses are found once, so no transport pays for the look-up.

For: a resolver's data for browser, stub and client over a transport. Not for: the resolver in a plan (`plan.live`).
"""

import asyncio
import ipaddress
import socket
from collections.abc import Mapping
from dataclasses import dataclass

from resolab.basics.records import DnsTransport
from resolab.plan.live import Endpoint, LiveResolver


@dataclass(frozen=True, slots=True)
class ResolverRoute:
    """A resolver over a transport, with its address."""

    name: str
    """The resolver's name in the plan."""
    dns_transport: DnsTransport
    url: str
    host: str
    """The host name or address; the ledger counts the resolver's queries by this host."""
    address: str | None
    """The address; `None` when the name was not resolved."""
    port: int
    path: str

    @property
    def is_named(self) -> bool:
        """Return True when the host is a name and needs an address."""
        return self.host != self.address

    def arguments(self) -> list[str]:
        """Return resolab-core's arguments for the host's address."""
        return ["--resolve", f"{self.host}={self.address}"] if self.is_named and self.address is not None else []


ByTransport = Mapping[tuple[str, DnsTransport], ResolverRoute]


async def reach(resolvers: Mapping[str, LiveResolver], system: str | None) -> ByTransport:
    """Find every address; `system` is the machine's own name server."""
    hosts = {one.host for resolver in resolvers.values() for one in resolver.endpoints.values() if one.host}
    addresses = dict(zip(hosts, await asyncio.gather(*map(_address, hosts)), strict=True))
    return {
        (name, transport): _build_route(name, transport, endpoint, addresses, system)
        for name, resolver in resolvers.items()
        for transport, endpoint in resolver.endpoints.items()
    }


def _build_route(
    name: str, transport: DnsTransport, endpoint: Endpoint, addresses: Mapping[str, str | None], system: str | None
) -> ResolverRoute:
    host = endpoint.host or system or ""
    address = addresses[endpoint.host] if endpoint.host else system
    bracketed = f"[{host}]" if ":" in host else host
    url = endpoint.url if endpoint.host else f"udp://{bracketed}:{endpoint.port}"
    return ResolverRoute(name, transport, url, host, address, endpoint.port, endpoint.path)


async def _address(host: str) -> str | None:
    """Look up a host like the system; prefer IPv4, available in every network."""
    try:
        return str(ipaddress.ip_address(host))
    except ValueError:
        pass
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_DGRAM)
    except OSError:
        return None
    addresses = [str(one[4][0]) for one in sorted(found, key=lambda one: one[0] is not socket.AF_INET)]
    return addresses[0] if addresses else None
