"""Resolvers as they are reached from here: their addresses found once, so that no transport pays for finding them.

For: what browser, stub and client are told of a resolver over one transport. Not for: what a plan says of it
(`plan.live`).
"""

import asyncio
import ipaddress
import socket
from collections.abc import Mapping
from dataclasses import dataclass

from resolab.plan.live import Endpoint, LiveResolver
from resolab.records import DnsTransport


@dataclass(frozen=True, slots=True)
class Reached:
    """A resolver over one transport, with its address."""

    name: str
    """As the plan calls it."""
    dns_transport: DnsTransport
    url: str
    host: str
    """Name or address; the ledger counts its queries by it."""
    address: str | None
    """None: its name was not resolved."""
    port: int
    path: str

    @property
    def is_named(self) -> bool:
        """Whether its host is a name, which somebody must know."""
        return self.host != self.address

    def arguments(self) -> list[str]:
        """Arguments that tell resolab-core where its host is."""
        return ["--resolve", f"{self.host}={self.address}"] if self.is_named and self.address is not None else []


ByTransport = Mapping[tuple[str, DnsTransport], Reached]


async def reach(resolvers: Mapping[str, LiveResolver], system: str | None) -> ByTransport:
    """Find every address; `system` is the machine's own name server."""
    hosts = {one.host for resolver in resolvers.values() for one in resolver.endpoints.values() if one.host}
    addresses = dict(zip(hosts, await asyncio.gather(*map(_address, hosts)), strict=True))
    return {
        (name, transport): _reached(name, transport, endpoint, addresses, system)
        for name, resolver in resolvers.items()
        for transport, endpoint in resolver.endpoints.items()
    }


def _reached(
    name: str, transport: DnsTransport, endpoint: Endpoint, addresses: Mapping[str, str | None], system: str | None
) -> Reached:
    host = endpoint.host or system or ""
    address = addresses[endpoint.host] if endpoint.host else system
    bracketed = f"[{host}]" if ":" in host else host
    url = endpoint.url if endpoint.host else f"udp://{bracketed}:{endpoint.port}"
    return Reached(name, transport, url, host, address, endpoint.port, endpoint.path)


async def _address(host: str) -> str | None:
    """Look a host up as the system does; IPv4 first, which every network has."""
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
