"""The resolvers and transports compared by a visit, from the words of a command line.

For: `local`, URLs, and addresses over every transport of `--transports`. Not for: queries to resolvers.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from resolab.basics.errors import UsageError
from resolab.basics.protocols import find_facts
from resolab.basics.records import DnsTransport
from resolab.plan.manners import SYSTEM, ResolverEndpoint, plain_resolver_url, resolver_endpoint

LOCAL = "local"
_NOT_IN_NAMES = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class ResolverConfiguration:
    """A resolver over a transport, compared with the other configurations."""

    name: str
    """The resolver's name in the plan: the same for each host."""
    words: str
    """The resolver as typed by the user."""
    dns_transport: DnsTransport
    url: str
    """The resolver URL for `resolab-core query`; `system` for the machine's own resolver."""
    host: str
    """The host name or address; empty for the machine's own resolver."""

    @property
    def is_address(self) -> bool:
        """Return True when the resolver's address needs no look-up."""
        return bool(self.host) and resolver_endpoint(self.url).is_address

    @property
    def label(self) -> str:
        """Return the text for lists and headings: resolver and transport."""
        return f"{self.words} {find_facts(self.dns_transport).label}"


def configurations(resolvers: Sequence[str], transports: Sequence[DnsTransport]) -> list[ResolverConfiguration]:
    """Read resolvers in their order; an address is asked over each transport, a URL over the URL's transport."""
    found: list[ResolverConfiguration] = []
    if not resolvers:
        raise UsageError("no resolver: name them with -r, such as -r local -r tls://9.9.9.9")
    for words in resolvers:
        found += _read_words(words, transports)
    for position, one in enumerate(found):
        twin = next((other for other in found[:position] if _key(other) == _key(one)), None)
        if twin is not None:
            raise UsageError(f"{twin.words} and {one.words} are the same over {one.dns_transport}: give each once")
    return _number_names(found)


def _key(one: ResolverConfiguration) -> tuple[str, DnsTransport]:
    return plain_resolver_url(one.url) if one.host else one.url, one.dns_transport


def _read_words(words: str, transports: Sequence[DnsTransport]) -> list[ResolverConfiguration]:
    if words.lower() in SYSTEM:
        return [ResolverConfiguration(LOCAL, LOCAL, DnsTransport.DOUDP, "system", "")]
    endpoint = resolver_endpoint(words)
    if "://" in words:
        name, url = _name(endpoint), plain_resolver_url(words)
        return [ResolverConfiguration(name, _short(words), endpoint.dns_transport, url, endpoint.host)]
    if endpoint.port != 53 and any(one is not DnsTransport.DOUDP for one in transports):
        raise UsageError(f"{words} has a port, which is of one transport: write it as a URL, such as tls://{words}")
    return [_configure(endpoint, one) for one in transports or [DnsTransport.DOUDP]]


def _configure(endpoint: ResolverEndpoint, transport: DnsTransport) -> ResolverConfiguration:
    host = f"[{endpoint.host}]" if ":" in endpoint.host else endpoint.host
    if transport is DnsTransport.DOUDP:
        return ResolverConfiguration(_name(endpoint), host, transport, endpoint.url, endpoint.host)
    return ResolverConfiguration(
        _name(endpoint), host, transport, find_facts(transport).url(name=host, address=host), endpoint.host
    )


def _short(words: str) -> str:
    """Remove the scheme; the label shows the transport beside the host."""
    return words.partition("://")[2].removesuffix("/dns-query").rstrip("/")


def _name(endpoint: ResolverEndpoint) -> str:
    name = _NOT_IN_NAMES.sub("_", endpoint.host.lower()).strip("_")
    return f"{name}_" if name in {*SYSTEM, "lab"} else name


def _number_names(found: list[ResolverConfiguration]) -> list[ResolverConfiguration]:
    """Give a numbered name to each further configuration of the same host and transport (another port or path)."""
    taken: dict[tuple[str, DnsTransport], int] = {}
    named = []
    for one in found:
        number = taken[one.name, one.dns_transport] = taken.get((one.name, one.dns_transport), 0) + 1
        name = one.name if number == 1 else f"{one.name}_{number}"
        named.append(replace(one, name=name))
    return named
