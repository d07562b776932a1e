"""The machine's own resolver, and the upstream resolvers behind a local forwarder.

For: the resolver `local` of live plans, and its line in the record. Not for: queries to the resolver.
"""

import ipaddress
from pathlib import Path

import msgspec

RESOLV_CONF = Path("/etc/resolv.conf")
BEHIND_FORWARDERS = (
    Path("/run/systemd/resolve/resolv.conf"),
    Path("/run/NetworkManager/no-stub-resolv.conf"),
    Path("/run/resolvconf/resolv.conf"),
)
"""The files of local forwarders with their upstream resolvers; the first file with an entry counts."""


class SystemResolver(msgspec.Struct, frozen=True, kw_only=True):
    """The machine's own name server, from resolv.conf."""

    address: str | None
    """The first address in `/etc/resolv.conf`; `None` without any."""
    forwards_to: tuple[str, ...] = ()
    """The upstream resolvers of a forwarder on the machine, as far as published by the forwarder."""


def read_system_resolver(
    file: Path = RESOLV_CONF, behind_forwarders: tuple[Path, ...] = BEHIND_FORWARDERS
) -> SystemResolver:
    """Read the resolver's address as seen by this process."""
    address = next(iter(_nameservers(file)), None)
    if address is None or not ipaddress.ip_address(address).is_loopback:
        return SystemResolver(address=address)
    found = (_nameservers(one) for one in behind_forwarders)
    return SystemResolver(address=address, forwards_to=next((one for one in found if one), ()))


def _nameservers(file: Path) -> tuple[str, ...]:
    """List the addresses in a resolv.conf(5).

    Link-local addresses with a scope (`fe80::1%eth0`) are left out, as no plan can name them.
    """
    try:
        lines = file.read_text("utf-8", errors="replace").splitlines()
    except OSError:
        return ()
    words = (line.split() for line in lines)
    return tuple(one[1] for one in words if len(one) > 1 and one[0] == "nameserver" and _is_address(one[1]))


def _is_address(text: str) -> bool:
    try:
        return not getattr(ipaddress.ip_address(text), "scope_id", None)
    except ValueError:
        return False
