"""Names and addresses inside the emulated path, and the edge's configuration made from them.

For: the one place that says which page lives where. Not for: starting anything.
"""

import enum
import json
from collections.abc import Sequence
from pathlib import Path

import msgspec

from resolab.engine import Resolver
from resolab.plan import RESOLVER_NAME
from resolab.protocols import facts_of
from resolab.records import DnsTransport, KeyExchangeGroup, TicketPolicy

RESOLVER_ADDRESS = "10.77.0.1"
ORIGIN_NETWORK = "10.77.1."
EVERY_PAGES_NAME = "*.resolab.test"
"""Pattern of all host names of pages."""
STUB_ADDRESS = "127.0.0.2"
"""Loopback address of the client host on which the stub listens."""
DOH_PROBE_NAME = "www.gstatic.com"
"""Chromium asks every DoH server for this name, from each new context, until it gets an answer: unanswered, its
repetitions would fall into other trials' loads. The address leads nowhere; nobody connects to it."""
DOH_PROBE_ADDRESS = "10.77.1.254"


class Offer(enum.Enum):
    """By which sign a site says that it speaks HTTP/3."""

    NOTHING = enum.auto()
    HTTPS_RECORD = enum.auto()
    """`alpn=h3,h2` in its name's HTTPS record (RFC 9460)."""
    ALT_SVC = enum.auto()
    """The Alt-Svc field (RFC 7838) of answers over HTTP/1.1 and HTTP/2."""


class Origin(msgspec.Struct, frozen=True, kw_only=True):
    """One host name of a page: its address and its files."""

    host: str
    address: str
    folder: Path


class Site(msgspec.Struct, frozen=True, kw_only=True):
    """One page's place: the document's host name, address and files, and those of the page's other names."""

    page: str
    host: str
    address: str
    folder: Path
    path: str
    others: tuple[Origin, ...] = ()
    request_count: int | None = None
    """Requests of a whole load; `None`: not known."""

    @property
    def url(self) -> str:
        """The document's URL."""
        return f"https://{self.host}{self.path}"

    @property
    def origins(self) -> tuple[Origin, ...]:
        """Every name the page needs, the document's first; no two share an address or a certificate."""
        return (Origin(host=self.host, address=self.address, folder=self.folder), *self.others)

    @property
    def hosts(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(origin.host for origin in self.origins)


def site_address(number: int) -> str:
    """Address of the origin with this number, from 0."""
    return f"{ORIGIN_NETWORK}{number + 1}"


def resolver(dns_transport: DnsTransport, ca_file: Path, groups: Sequence[KeyExchangeGroup] = ()) -> Resolver:
    """Describe the edge as a resolver over one transport, and the groups to offer it."""
    url = facts_of(dns_transport).url(name=RESOLVER_NAME, address=RESOLVER_ADDRESS)
    return Resolver(url=url, name=RESOLVER_NAME, address=RESOLVER_ADDRESS, ca_file=ca_file, groups=tuple(groups))


def edge_configuration(
    ca_folder: Path, sites: Sequence[Site], groups: Sequence[KeyExchangeGroup] = tuple(KeyExchangeGroup)
) -> str:
    """Write the edge's TOML: one authority, the resolver without tickets, every site with a policy of its own."""
    lines = [
        "[ca]",
        f"folder = {_quoted(ca_folder)}",
        "",
        "[resolver]",
        f"name = {_quoted(RESOLVER_NAME)}",
        f"addresses = [{_quoted(RESOLVER_ADDRESS)}]",
        f"ticket_policy = {_quoted(TicketPolicy.NONE.value)}",
        "",
        "[tls]",
        f"groups = [{', '.join(map(_quoted, groups))}]",
    ]
    for origin in (origin for site in sites for origin in site.origins):
        lines += [
            "",
            "[[site]]",
            f"host = {_quoted(origin.host)}",
            f"address = {_quoted(origin.address)}",
            f"folder = {_quoted(origin.folder)}",
            f"ticket_policy = {_quoted(TicketPolicy.NONE.value)}",
            *site_settings(Offer.NOTHING),
        ]
    lines += [
        "",
        "[[zone]]",
        f"name = {_quoted(DOH_PROBE_NAME)}",
        'type = "A"',
        f"value = {_quoted(DOH_PROBE_ADDRESS)}",
    ]
    return "\n".join(lines) + "\n"


def site_settings(offer: Offer) -> list[str]:
    """Write the keys of a site that are not its place, as lines of TOML."""
    signs = {
        Offer.HTTPS_RECORD: ["https_record = true"],
        # Stored nowhere, so that the cache need not be cleared: with it Chromium forgets the Alt-Svc field too.
        Offer.ALT_SVC: ["alt_svc = true", 'cache_control = "no-store"'],
    }
    # A page weighs what its files weigh.
    return ["compression = []", *signs.get(offer, [])]


def _quoted(value: object) -> str:
    # A JSON string is a valid TOML basic string.
    return json.dumps(str(value), ensure_ascii=False)
