"""The resolver in use by this machine (resolv.conf(5)). Not for: sending queries to it."""

import ipaddress
from pathlib import Path

from resolab.basics.errors import ConfigurationError

RESOLV_CONF = Path("/etc/resolv.conf")


def system_resolver(file: Path = RESOLV_CONF) -> str:
    """Return the first usable nameserver as a URL."""
    try:
        lines = file.read_text(errors="replace").splitlines()
    except OSError as error:
        raise ConfigurationError(f"could not read {file} ({error.strerror}): name a resolver with -r") from error
    for line in lines:
        match line.split():
            case ["nameserver", address, *_]:
                try:
                    ip = ipaddress.ip_address(address)
                except ValueError:
                    continue
                return f"udp://{ip}" if ip.version == 4 else f"udp://[{ip}]"
    raise ConfigurationError(f"{file} has no nameserver line with an address: name a resolver with -r")


def format_recorded_name(resolver: str) -> str:
    """Return a resolver's name as in records: a bare address means plain DNS over UDP."""
    host, port = resolver, 53
    if resolver.count(":") == 1 or resolver.startswith("["):
        host, _, given = resolver.rpartition(":")
        if not (given.isascii() and given.isdigit()):
            return resolver
        host, port = host.removeprefix("[").removesuffix("]"), int(given)
    try:
        ip = ipaddress.ip_address(host)
    except ValueError:
        return resolver
    return f"udp://{ip}:{port}" if ip.version == 4 else f"udp://[{ip}]:{port}"
