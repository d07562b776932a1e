"""The names and addresses inside the emulated path, and the edge's configuration made from them.

For: the only place for the addresses of pages. Not for: starting anything.
"""

import enum
import ipaddress
import itertools
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import msgspec

from resolab.basics.protocols import find_facts
from resolab.basics.records import DnsTransport, HttpVersion, KeyExchangeGroup, TicketPolicy
from resolab.basics.toml_text import key_lines
from resolab.lab.engine import ResolverTarget
from resolab.plan import RESOLVER_NAME, EdgeSettings, PageCertificates
from resolab.plan.pages.page_file import PAGES_DOMAIN, TOP_DOMAIN, registrable_domain
from resolab.plan.pages.serving import ORDINARY, Serving
from resolab.plan.software import EDGE

RESOLVER_ADDRESS = "10.77.0.1"
SOFTWARE_NETWORK = "10.77.255.0/24"
"""The network of a plan's own software: the last network of pages' addresses, unused below 64,000 names."""
HTTPS_PORT = 443
FIRST_NETWORK = "10.77.1.0/24"
"""The network of the pages' addresses, as named in a profile's `far` networks."""
EVERY_PAGES_NAME = f"*.{TOP_DOMAIN}"
"""The pattern of all host names of pages, and of the resolver's."""
STUB_ADDRESS = "127.0.0.2"
"""The stub's loopback address on the client host."""
DOH_PROBE_NAME = "www.gstatic.com"
"""Chromium asks every DoH server for this name, from each new context, until answered. Without an answer, repetitions
would fall into other trials' loads. The address is unused; no client connects to this address."""
DOH_PROBE_ADDRESS = "10.77.1.254"
FIRST_NETWORK_COUNT, NETWORK_COUNT = 253, 254
"""The number of page addresses in the first network (without the address above), and in each further network."""
RESIDENT_NAMES_LIMIT = 1_000
"""The maximum number of names of all pages at the edge at once: files of more pages would fill its memory."""
_OF_FILES = ("precoded",)
_NEWEST_FIRST = (HttpVersion.H3, HttpVersion.H2, HttpVersion.H1)
_SIGNS = ("https_record", "alt_svc")
"""The keys of a site for HTTP/3 offers."""


class Http3Offer(enum.Enum):
    """A site's offer of HTTP/3."""

    NOTHING = enum.auto()
    HTTPS_RECORD = enum.auto()
    """The value `alpn=h3,h2` in the HTTPS record of the name (RFC 9460)."""
    ALT_SVC = enum.auto()
    """The Alt-Svc field (RFC 7838) of answers over HTTP/1.1 and HTTP/2."""


class PageOrigin(msgspec.Struct, frozen=True, kw_only=True):
    """A host name of a page: its address, its files, and its special settings."""

    host: str
    address: str
    folder: Path | None
    """The folder of files; `None` without files, with all answers in the settings."""
    serving: Serving = ORDINARY
    needed: bool = True
    """True when a load needs the host: there is a request to the host before the load event."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """Return the page's settings of this host for the edge; without files, the coding of files is left out."""
        told = self.serving.settings
        return told if self.folder is not None else {key: value for key, value in told.items() if key not in _OF_FILES}


class PageSite(msgspec.Struct, frozen=True, kw_only=True):
    """The hosts of a page and its document."""

    page: str
    origins: tuple[PageOrigin, ...]
    """The origins, the document's first. Origins share addresses and certificates only when set in the page."""
    path: str
    """The path of the document."""
    request_count: int | None = None
    """The number of requests answered before the load event in a complete load; `None`: not known."""

    @property
    def host(self) -> str:
        """Return the document's host name."""
        return self.origins[0].host

    @property
    def url(self) -> str:
        """Return the document's URL."""
        return f"https://{self.host}{self.path}"

    @property
    def hosts(self) -> tuple[str, ...]:
        """Return all host names of the page."""
        return tuple(origin.host for origin in self.origins)

    def document_version(self, wanted: HttpVersion) -> HttpVersion:
        """Return the document's HTTP version for a requested version: its host may only have older versions."""
        speaks = self.origins[0].serving.speaks
        older = _NEWEST_FIRST[_NEWEST_FIRST.index(wanted) :] if wanted in _NEWEST_FIRST else ()
        return next((one for one in older if speaks(one)), wanted)

    @property
    def needed_hosts(self) -> frozenset[str]:
        """Return the names to be looked up in a complete load."""
        return frozenset(origin.host for origin in self.origins if origin.needed)


def site_address(number: int) -> str:
    """Return the address of the origin with this number, from 0."""
    if number < FIRST_NETWORK_COUNT:
        return f"10.77.1.{number + 1}"
    network, host = divmod(number - FIRST_NETWORK_COUNT, NETWORK_COUNT)
    return f"10.77.{network + 2}.{host + 1}"


def assign_resolver_addresses(software: Collection[str] = ()) -> dict[str, str]:
    """Give each resolver of a plan its address: the edge, and the plan's own software in the plan's order."""
    hosts = itertools.islice(ipaddress.IPv4Network(SOFTWARE_NETWORK).hosts(), len(software))
    return {EDGE: RESOLVER_ADDRESS} | dict(zip(software, map(str, hosts), strict=True))


def resolver(
    dns_transport: DnsTransport,
    ca_file: Path,
    groups: Sequence[KeyExchangeGroup] = (),
    *,
    carries_pages: bool = False,
    address: str = RESOLVER_ADDRESS,
) -> ResolverTarget:
    """Describe a resolver over a transport, with the offered key exchange groups: the edge, or another at an address.

    When its connections carry pages, DoQ uses HTTP/3's port: by the private ALPN.
    """
    at_https = carries_pages and dns_transport is DnsTransport.DOQ
    name = f"{RESOLVER_NAME}:{HTTPS_PORT}" if at_https else RESOLVER_NAME
    url = find_facts(dns_transport).url(name=name, address=address)
    return ResolverTarget(url=url, name=RESOLVER_NAME, address=address, ca_file=ca_file, groups=tuple(groups))


def edge_configuration(
    ca_folder: Path,
    sites: Sequence[PageSite],
    groups: Sequence[KeyExchangeGroup] = tuple(KeyExchangeGroup),
    *,
    pages_at_resolver: bool = False,
    certificates: PageCertificates = PageCertificates.RECORDED,
    tells_origins: bool = False,
    settings: EdgeSettings | None = None,
) -> str:
    """Return the edge's TOML: one authority, the resolver without tickets, each site with its own policy.

    With `pages_at_resolver` connections to the resolver also serve pages, for names of its certificate
    (`resolver_covers`). With `tells_origins` connections for names on a shared certificate send the names (ORIGIN
    frames). Pages loaded on demand are left out, except their domains and certificates.
    """
    origins = [origin for site in sites for origin in site.origins]
    resident = origins if are_resident(sites) else []
    tables: list[tuple[str, Mapping[str, object]]] = [
        ("[ca]", {"folder": ca_folder}),
        (
            "[resolver]",
            {
                "name": RESOLVER_NAME,
                "addresses": [RESOLVER_ADDRESS],
                "origins": _domains(origins),
                "ticket_policy": TicketPolicy.NONE.value,
            },
        ),
        *([("[coalescing]", {"shared_connection": True, "private_alpn": True})] if pages_at_resolver else []),
        ("[tls]", {"groups": [group.value for group in groups]}),
        ("[limits]", asdict(settings or EdgeSettings())),
        *(("[[site]]", _site_table(origin)) for origin in resident),
        *(
            ("[[certificate]]", {"names": names} | ({"origin_frame": True} if tells_origins else {}))
            for site in sites
            for names in list_shared_certificates(site, certificates)
        ),
        ("[[zone]]", {"name": DOH_PROBE_NAME, "type": "A", "value": DOH_PROBE_ADDRESS}),
    ]
    return "\n\n".join("\n".join([head, *key_lines(table)]) for head, table in tables) + "\n"


def are_resident(sites: Sequence[PageSite]) -> bool:
    """Return True when all pages are at the edge from the start; otherwise each is loaded on demand."""
    return sum(len(site.origins) for site in sites) <= RESIDENT_NAMES_LIMIT


def _site_table(origin: PageOrigin) -> Mapping[str, object]:
    place = {"host": origin.host, "address": origin.address, "folder": origin.folder}
    settings = site_settings(Http3Offer.NOTHING, origin.settings)
    told = place | {"ticket_policy": TicketPolicy.NONE.value} | settings
    return {key: value for key, value in told.items() if value is not None}


def site_settings(offer: Http3Offer, of_page: Mapping[str, Any] | None = None) -> dict[str, object]:
    """Return the keys of a site beside host, address and folder: the page's settings, and the condition's offers.

    A page can withhold an offer for a name, but not add an offer.
    """
    of_page = of_page or {}
    signs = {Http3Offer.HTTPS_RECORD: "https_record", Http3Offer.ALT_SVC: "alt_svc"}
    # A page weighs what its files weigh.
    settings: dict[str, object] = {"compression": []}
    settings |= {key: value for key, value in of_page.items() if key not in _SIGNS}
    if offer in signs:
        has_h3 = HttpVersion.H3 in of_page.get("protocols", [HttpVersion.H3])
        settings[signs[offer]] = of_page.get(signs[offer], True) if has_h3 else False
    if offer is Http3Offer.ALT_SVC:
        # Stored nowhere, so that the cache need not be cleared: with it Chromium forgets the Alt-Svc field too.
        settings["cache_control"] = "no-store"
    return settings


def list_shared_certificates(
    site: PageSite, certificates: PageCertificates = PageCertificates.RECORDED
) -> Iterator[list[str]]:
    """List the names or wildcards of each shared certificate; every other name has its own certificate."""
    if certificates is PageCertificates.SITE:
        yield from (_below(domain, hosts) for domain, hosts in _group_by_domain(site).items() if len(hosts) > 1)
        return
    groups: dict[int, list[str]] = defaultdict(list)
    for origin in site.origins:
        if origin.serving.certificate is not None:
            groups[origin.serving.certificate].append(origin.host)
    yield from (names for names in groups.values() if len(names) > 1)


def resolver_covers(site: PageSite) -> list[str]:
    """List the names of the resolver's certificate for a page on the resolver's connections, as shorter wildcards."""
    return [name for domain, hosts in _group_by_domain(site).items() for name in _below(domain, hosts)]


def _group_by_domain(site: PageSite) -> Mapping[str, list[str]]:
    domains: dict[str, list[str]] = defaultdict(list)
    for host in site.hosts:
        domains[registrable_domain(host)].append(host)
    return domains


def _below(domain: str, hosts: list[str]) -> list[str]:
    """Return a wildcard for a site's names, or the names themselves.

    A wildcard needs another domain than the common domain of pages, and every name exactly one label below the domain.
    """
    has_wildcard = domain != PAGES_DOMAIN and all(host.removesuffix(domain).count(".") == 1 for host in hosts)
    return [f"*.{domain}"] if has_wildcard else hosts


def _domains(origins: Sequence[PageOrigin]) -> list[str]:
    """Return the registrable domains of the lab's names, so names below these domains exist or get NXDOMAIN."""
    return list(dict.fromkeys([PAGES_DOMAIN, *(registrable_domain(origin.host) for origin in origins)]))
