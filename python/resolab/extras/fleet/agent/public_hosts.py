"""Judge a host by its text as public or private: a job must not reach into an agent's own network.

For: names and addresses of a plan, before any contact. Not for: the address behind a name, decided by the name's owner
and known only after a look-up.

Addresses reserved for documents and laboratories (RFC 2544, RFC 5737, RFC 3849) count as public: no machine's own
network uses these addresses, and the internet in a box does.
"""

import ipaddress
import socket

_NOBODYS = tuple(
    map(
        ipaddress.ip_network,
        ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "198.18.0.0/15", "2001:db8::/32"),
    )
)
_OF_A_NETWORK = frozenset(
    (
        "localhost",
        "local",
        "internal",
        "intranet",
        "private",
        "corp",
        "home",
        "lan",
        "localdomain",
        "home.arpa",
        "onion",
    )
)
"""The domains for a user's own machine or network, by RFC 6761, 6762, 8375, ICANN's decision (internal) or habit."""
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def is_public(host: str) -> bool:
    """Return True for a public address, or a name of at least two labels outside the domains of private networks."""
    address = read_address(host)
    if address is not None:
        return _is_public_address(address)
    labels = host.lower().rstrip(".").split(".")
    return (
        len(labels) > 1
        and all(labels)
        and not any(".".join(labels[begin:]) in _OF_A_NETWORK for begin in range(len(labels)))
    )


def read_address(host: str) -> Address | None:
    """Read an address like a browser: also 0x7f.1, 3232235777 and 192.168.257 are addresses of IPv4."""
    bare = host.strip("[]").partition("%")[0].rstrip(".")
    try:
        found = ipaddress.ip_address(bare)
    except ValueError:
        pass
    else:
        return (found.ipv4_mapped or found) if isinstance(found, ipaddress.IPv6Address) else found
    last = bare.rpartition(".")[2].lower()
    if not last.isascii() or not (last.isdigit() or last.startswith("0x")):
        return None
    try:
        return ipaddress.IPv4Address(socket.inet_aton(bare))
    except OSError:
        # WHATWG's URL standard takes no such name for a host at all.
        return ipaddress.IPv4Address(0)


def _is_public_address(address: Address) -> bool:
    if isinstance(address, ipaddress.IPv6Address):
        inside = _inside(address)
        if inside is not None:
            return _is_public_address(inside)
    if any(address.version == one.version and address in one for one in _NOBODYS):
        return True
    return address.is_global and not address.is_multicast


def _inside(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """Return the IPv4 address inside a mapped or translated IPv6 address."""
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    teredo = None if address.teredo is None else address.teredo[1]
    return address.ipv4_mapped or address.sixtofour or teredo
