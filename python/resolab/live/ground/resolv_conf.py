"""Which resolver the machine itself asks, and whom that one asks.

For: the resolver `local` of live plans, and its line in the record. Not for: asking it.
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
"""Where forwarders on loopback write whom they ask; the first that names anybody counts."""


class SystemResolver(msgspec.Struct, frozen=True, kw_only=True):
    """The machine's own name server."""

    address: str | None
    """First one of `/etc/resolv.conf`; None where there is none."""
    forwards_to: tuple[str, ...] = ()
    """Whom a forwarder of the machine's own asks, as far as it says so."""


def read_system_resolver(
    file: Path = RESOLV_CONF, behind_forwarders: tuple[Path, ...] = BEHIND_FORWARDERS
) -> SystemResolver:
    """Read it as this process sees it."""
    address = next(iter(_nameservers(file)), None)
    if address is None or not ipaddress.ip_address(address).is_loopback:
        return SystemResolver(address=address)
    found = (_nameservers(one) for one in behind_forwarders)
    return SystemResolver(address=address, forwards_to=next((one for one in found if one), ()))


def _nameservers(file: Path) -> tuple[str, ...]:
    """List the addresses in a resolv.conf(5); one of a link alone (`fe80::1%eth0`) is nobody a plan can name."""
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
