"""Compare contacted addresses with the named addresses: packets sent by home and a dry run's rows. Pure.

For: "contacted and not named", an empty list when all is well. Not for: the number of contacts (`contact_counts`).

A page's further hosts are unknown before loading, as a dry run says. In a box these hosts are known: an address of a
named page counts as the page's.
"""

import enum
import ipaddress
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from resolab.extras.internet.contact_check.box_contacts import ContactFlow
from resolab.extras.internet.layout import BoxLayout
from resolab.plan.manners import Contact, ContactReason

ICMP = "1"
_PROTOCOLS: Mapping[str, str] = {"udp": "udp", "tcp": "tcp", "quic": "udp", "icmp": ICMP}
"""The IP protocol for a dry run's word for the carrier."""


class ContactNaming(enum.StrEnum):
    """The way a contact was known beforehand."""

    NAMED = "named"
    OF_PAGE = "of_page"
    """A further host of a named page."""
    NOT_NAMED = "not_named"


class ContactedAddress(msgspec.Struct, frozen=True, kw_only=True):
    """An address contacted by home, over a protocol and to a port."""

    name: str | None
    address: str
    protocol: str
    port: int | None
    packets_count: int
    named_as: ContactNaming
    reasons: tuple[ContactReason, ...] = ()


class UnusedDryRunRow(msgspec.Struct, frozen=True, kw_only=True):
    """A row of the dry run without any packet, which is allowed."""

    reason: ContactReason
    host: str
    port: int | None


def list_addresses(layout: BoxLayout, host: str) -> frozenset[str]:
    """Return the addresses of a host of the box, by its zones; empty for a host in no zone."""
    try:
        return frozenset({str(ipaddress.ip_address(host))})
    except ValueError:
        records = (record for zone in layout.zones for record in zone.records)
        return frozenset(one.value for one in records if one.kind == "A" and one.owner == host)


class DryRunRow(msgspec.Struct, frozen=True, kw_only=True):
    """A row of a dry run in the box."""

    contact: Contact
    addresses: frozenset[str]
    """The addresses of its host."""

    def names(self, flow: ContactFlow) -> bool:
        """Return True when the row covers a flow; a ping over TCP or QUIC looks like its resolver's queries."""
        is_there = flow.address in self.addresses and flow.port == self.contact.port
        return is_there and flow.protocol in {_PROTOCOLS[one] for one in self.contact.carriers}


def find_rows(layout: BoxLayout, named: Sequence[Contact]) -> list[DryRunRow]:
    """Find the addresses of a dry run's rows in the box."""
    return [DryRunRow(contact=one, addresses=list_addresses(layout, one.host)) for one in named]


def list_contacted(layout: BoxLayout, flows: Iterable[ContactFlow], named: Sequence[Contact]) -> list[ContactedAddress]:
    """Return every address contacted by home, with the naming rows."""
    rows = find_rows(layout, named)
    of_pages = _addresses_of_pages(layout, named)
    known = frozenset[str]().union(*(row.addresses for row in rows))
    found = []
    for flow in flows:
        reasons = tuple(dict.fromkeys(row.contact.reason for row in rows if row.names(flow)))
        found.append(
            ContactedAddress(
                name=flow.name,
                address=flow.address,
                protocol=flow.protocol,
                port=flow.port,
                packets_count=flow.packets_count,
                named_as=_classify_flow(flow, reasons, known, of_pages),
                reasons=reasons,
            )
        )
    return found


def never_contacted(layout: BoxLayout, flows: Sequence[ContactFlow], named: Sequence[Contact]) -> list[UnusedDryRunRow]:
    """List the dry run's rows without any packet."""
    return [
        UnusedDryRunRow(reason=row.contact.reason, host=row.contact.host, port=row.contact.port)
        for row in find_rows(layout, named)
        if not any(map(row.names, flows))
    ]


def _classify_flow(
    flow: ContactFlow, reasons: Sequence[ContactReason], known: frozenset[str], of_pages: frozenset[str]
) -> ContactNaming:
    # The kernel's own ICMP (a port that is closed by now) goes to whoever was contacted anyway.
    if reasons or (flow.protocol == ICMP and flow.address in known):
        return ContactNaming.NAMED
    return ContactNaming.OF_PAGE if flow.address in of_pages else ContactNaming.NOT_NAMED


def _addresses_of_pages(layout: BoxLayout, named: Sequence[Contact]) -> frozenset[str]:
    """List the addresses of all hosts of the named pages."""
    hosts = {one.host for one in named if one.reason is ContactReason.PAGE}
    pages = [site for site in layout.sites if hosts & {origin.host for origin in site.origins}]
    return frozenset(origin.address for site in pages for origin in site.origins)
