"""Resolvers of a live plan: `[resolvers.NAME]`, an address for each supported transport.

For: reading and checking the addresses, in the form accepted by `resolab-core query`. Not for: turning host names into
addresses, or the machine's own name server; a run finds both at its begin.
"""

from collections.abc import Mapping
from urllib.parse import urlsplit

from resolab.basics.errors import ConfigurationError
from resolab.basics.protocols import OVER_HTTP, find_facts
from resolab.basics.records import DnsTransport, ResolverPath
from resolab.plan.live.settings import Endpoint, LiveResolver
from resolab.plan.manners import plain_resolver_url, resolver_endpoint
from resolab.plan.section import PlanSection

SYSTEM = "system"
"""The word in place of an address: the first name server of `/etc/resolv.conf`."""
_OF_BROWSERS = {DnsTransport.DOUDP: 53, DnsTransport.DOH: 443, DnsTransport.DOH3: 443}
"""Ports used by a browser's own resolver."""


def read_resolvers(section: PlanSection, names: tuple[str, ...]) -> dict[str, LiveResolver]:
    """Read the resolvers among the plan's levels; others are allowed, so a plan can be narrowed in one line."""
    return {name: _resolver(section.section(name), name) for name in names}


def _resolver(section: PlanSection, name: str) -> LiveResolver:
    given = {transport: section.text(transport) for transport in DnsTransport if transport in section}
    section.allow(*DnsTransport)
    section.finish()
    if not given:
        section.fail("", f"has no address; give one of {', '.join(DnsTransport)}")
    return LiveResolver(name, {transport: _endpoint(section, transport, text) for transport, text in given.items()})


def _endpoint(section: PlanSection, transport: DnsTransport, text: str) -> Endpoint:
    if text == SYSTEM and transport is DnsTransport.DOUDP:
        return Endpoint(SYSTEM, "", _OF_BROWSERS[transport])
    try:
        found = resolver_endpoint(text)
    except ConfigurationError:
        found = None
    if found is None or found.dns_transport is not transport:
        scheme = find_facts(transport).url_form.partition("://")[0]
        bare = f', an address, or "{SYSTEM}"' if transport is DnsTransport.DOUDP else ""
        section.fail(transport, f"{text!r} is no resolver over it; give {scheme}://HOST, with :PORT if need be{bare}")
    url = plain_resolver_url(text) if "://" in text else found.url
    path = _path(section, transport, text, url)
    return Endpoint(found.url if transport is DnsTransport.DOUDP else url, found.host, found.port, path)


def _path(section: PlanSection, transport: DnsTransport, text: str, url: str) -> str:
    """Return the path of `url`, the one spelling of `text`; only DoH has a path."""
    parts = urlsplit(url)
    beyond = parts.query or parts.fragment or parts.username is not None
    if beyond or (parts.path and transport not in OVER_HTTP):
        section.fail(transport, f"{text!r} has a part that means nothing there; give SCHEME://HOST, and a path for DoH")
    return parts.path


def check_native(
    section: PlanSection, resolvers: Mapping[str, LiveResolver], paths: Mapping[DnsTransport, tuple[ResolverPath, ...]]
) -> None:
    """Refuse ports impossible in a browser's own resolver (other than the transport's), and the gateway."""
    for transport, ways in paths.items():
        if ResolverPath.GATEWAY in ways:
            section.fail(transport, 'the gateway is for pages of the lab; use "stub"')
    for transport, port in _OF_BROWSERS.items():
        if ResolverPath.NATIVE not in paths.get(transport, ()):
            continue
        for name, resolver in resolvers.items():
            endpoint = resolver.endpoints.get(transport)
            if endpoint is not None and endpoint.port != port:
                problem = f"a browser asks over {transport} at port {port} only, and resolver {name!r} is at"
                section.fail(transport, f'{problem} {endpoint.port}; use "stub"')
