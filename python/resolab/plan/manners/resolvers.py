"""Resolvers as written in plans and on command lines: host, port and transport of each.

For: resolver names in lists and in the ledger before any query. Not for: queries; `resolab-core` parses the same words
itself (crates/dns, `resolver_address`). DNS stamps are rejected: a stamp does not show its resolver to a reader.
"""

import ipaddress
from dataclasses import dataclass
from urllib.parse import SplitResult, unquote, urlsplit

from resolab.basics.errors import ConfigurationError
from resolab.basics.protocols import OVER_HTTP
from resolab.basics.protocols.dns_transports import DNS_TRANSPORTS, Carrier
from resolab.basics.records import DnsTransport
from resolab.basics.urls import host_as_written, plain_escapes
from resolab.plan.manners.sites import spelt_host

SYSTEM = ("system", "local")
"""The words for the resolver used by this machine itself."""
DOH_PATH = "/dns-query"
"""The path of DoH in a URL without one."""
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
    """Read `9.9.9.9`, `udp://9.9.9.9`, `tls://NAME:853`, `https://NAME/PATH` and the like; a bare address is DoUDP.

    A host has one spelling, for caps count by it.
    """
    bare = _address(text.strip("[]"))
    if bare is not None:
        return ResolverEndpoint(dns_transport=DnsTransport.DOUDP, host=str(bare), port=53)
    url = text if "://" in text else f"udp://{text}"
    transport, parts = _split(text, url)
    try:
        host, port = _spelt(parts), parts.port
    except ValueError as error:
        raise ConfigurationError(f"resolver {text!r}: {error}; write it as SCHEME://HOST") from error
    if not host or ("://" not in text and _address(host) is None):
        raise ConfigurationError(f"resolver {text!r}: write it as SCHEME://HOST, with one of {', '.join(_SCHEMES)}")
    return ResolverEndpoint(dns_transport=transport, host=host, port=port or _PORTS[transport])


def plain_resolver_url(url: str) -> str:
    """Return the one spelling of a resolver's URL (RFC 3986 section 6.2), with the path of DoH.

    A user, a fragment, and paths of other transports stay, for the caller to refuse.
    """
    endpoint = resolver_endpoint(url)
    over_http = endpoint.dns_transport in OVER_HTTP
    if over_http:
        url = url.removesuffix("{?dns}").removesuffix("{&dns}")
    _, parts = _split(url, url)
    host = f"[{endpoint.host}]" if ":" in endpoint.host else endpoint.host
    user, at, _ = parts.netloc.rpartition("@")
    port = "" if endpoint.port == _PORTS[endpoint.dns_transport] else f":{endpoint.port}"
    path = plain_escapes(parts.path)
    if path in {"", "/"}:
        path = DOH_PATH if over_http else ""
    query = f"?{plain_escapes(parts.query)}" if parts.query else ""
    fragment = f"#{parts.fragment}" if parts.fragment else ""
    return f"{parts.scheme}://{user}{at}{host}{port}{path}{query}{fragment}"


def resolver_host(text: str) -> str:
    """Return a resolver's name for the ledger: the host, shared by all transports of the same machine."""
    return resolver_endpoint(text).host


def _split(text: str, url: str) -> tuple[DnsTransport, SplitResult]:
    scheme = url.partition("://")[0].lower()
    if scheme == "sdns":
        raise ConfigurationError(f"resolver {text!r}: a stamp cannot be used here; give the URL of its resolver")
    if scheme not in _SCHEMES:
        raise ConfigurationError(f"resolver {text!r}: {scheme} means no transport: use {', '.join(_SCHEMES)}")
    try:
        return _SCHEMES[scheme], urlsplit(url)
    except ValueError as error:
        raise ConfigurationError(f"resolver {text!r}: {error}; write it as SCHEME://HOST") from error


def _spelt(parts: SplitResult) -> str:
    """Return the host in its one spelling; empty for none. Raises `ValueError` for escapes of no text."""
    host = host_as_written(parts)
    address = _address(host)
    return spelt_host(unquote(host, errors="strict")) if address is None else str(address)


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Read an address; one of version 4 in the form of version 6 is the machine's own."""
    before, percent, zone = host.partition("%")
    if percent and zone.startswith("25") and zone != "25":
        # The `%` of a URL (RFC 6874 section 2).
        zone = zone[2:]
    try:
        found = ipaddress.ip_address(f"{before}{percent}{zone}")
    except ValueError:
        return None
    return (found.ipv4_mapped or found) if isinstance(found, ipaddress.IPv6Address) else found
