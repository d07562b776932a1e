"""Resolvers as written in plans and on command lines: host, port and transport of each.

For: resolver names in lists and in the ledger before any query. Not for: queries; `resolab-core` parses the same words
itself (crates/dns, `resolver_address`). DNS stamps are rejected: a stamp does not show its resolver to a reader.
"""

import ipaddress
from dataclasses import dataclass
from urllib.parse import urlsplit

from resolab.errors import ConfigurationError
from resolab.protocols.dns_transports import DNS_TRANSPORTS, Carrier
from resolab.records import DnsTransport

SYSTEM = ("system", "local")
"""The words for the resolver used by this machine itself."""
_SCHEMES = {facts.url_form.partition("://")[0]: transport for transport, facts in DNS_TRANSPORTS.items()}
_PORTS = {
    DnsTransport.DOUDP: 53, DnsTransport.DOTCP: 53, DnsTransport.DOT: 853, DnsTransport.DOH: 443,
    DnsTransport.DOH3: 443, DnsTransport.DOQ: 853,
}  # fmt: skip
"""The default ports, by RFC 1035 section 4.2, RFC 7858 section 3.1, RFC 8484 section 3, RFC 9250 section 4.1.1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolverEndpoint:
    """The destination of a resolver's queries over a transport."""

    dns_transport: DnsTransport
    host: str
    """The name or address; the ledger counts a resolver's queries by this host."""
    port: int

    @property
    def carrier(self) -> Carrier:
        """Return the carrier of the DNS messages."""
        return DNS_TRANSPORTS[self.dns_transport].carrier

    @property
    def is_address(self) -> bool:
        """Return True when the host is an address, so no look-up is needed."""
        return _address(self.host) is not None

    @property
    def url(self) -> str:
        """Return the URL for `resolab-core`, with the port; DoH's path is the usual path."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        base = DNS_TRANSPORTS[self.dns_transport].url_form.partition("://")[0]
        return f"{base}://{host}:{self.port}"


def resolver_endpoint(text: str) -> ResolverEndpoint:
    """Read `9.9.9.9`, `udp://9.9.9.9`, `tls://NAME:853`, `https://NAME/PATH` and the like; a bare address is DoUDP."""
    bare = _address(text.strip("[]"))
    if bare is not None:
        return ResolverEndpoint(dns_transport=DnsTransport.DOUDP, host=str(bare), port=53)
    url = text if "://" in text else f"udp://{text}"
    scheme = url.partition("://")[0].lower()
    if scheme not in _SCHEMES:
        raise ConfigurationError(f"resolver {text!r}: {scheme} means no transport: use {', '.join(_SCHEMES)}")
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        raise ConfigurationError(f"resolver {text!r}: {error}; write it as SCHEME://HOST") from error
    if not host or ("://" not in text and _address(host) is None):
        raise ConfigurationError(f"resolver {text!r}: write it as SCHEME://HOST, with one of {', '.join(_SCHEMES)}")
    transport = _SCHEMES[scheme]
    # Caps count by it: an address has one spelling.
    return ResolverEndpoint(dns_transport=transport, host=str(_address(host) or host), port=port or _PORTS[transport])


def resolver_host(text: str) -> str:
    """Return a resolver's name for the ledger: the host, shared by all transports of the same machine."""
    return resolver_endpoint(text).host


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None
