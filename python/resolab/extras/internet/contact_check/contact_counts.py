"""Count loads and queries of each site and resolver within any minute, hour and day, beside the caps. Pure.

For: "no cap was exceeded", from the contacted hosts' side. Not for: the caps' numbers (`manners.caps`).

Loads are requests for a page's document, by registrable domain. Queries are counted by the resolver's host, like the
caps. resolab's own edge counts each query. For third-party resolvers a packet over DoUDP is a query. Packets over TCP
and QUIC are not queries but an upper bound: with more packets than the cap allows queries, nothing is shown.
"""

import enum
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from resolab.extras.internet.contact_check.box_contacts import BoxContacts, ContactFlow, Count
from resolab.extras.internet.contact_check.named_addresses import find_rows
from resolab.extras.internet.layout import BoxLayout
from resolab.plan.manners import Caps, Contact, ContactReason

MINUTE_S, HOUR_S, DAY_S = 60, 3_600, 86_400
EVERY_SITE = "all sites"
_SECOND_NS = 1_000_000_000
_FLOWS: Mapping[str, tuple[str, int]] = {
    "doudp": ("udp", 53), "dotcp": ("tcp", 53), "dot": ("tcp", 853), "doh": ("tcp", 443), "doh3": ("udp", 443),
    "doq": ("udp", 853),
}  # fmt: skip
"""The protocol and port of an edge's queries over each transport."""


class CapVerdict(enum.StrEnum):
    """The conclusion about a cap from the counts."""

    KEPT = "kept"
    EXCEEDED = "exceeded"
    NOT_SHOWN = "not_shown"
    """There were more packets than the cap allows queries: packets are no queries."""


class ContactCount(msgspec.Struct, frozen=True, kw_only=True):
    """The maximum counts of a site or resolver."""

    what: str
    """The counted thing: `loads` or `queries`."""
    whom: str
    total_count: int
    of_minute: int
    of_hour: int
    of_day: int
    hourly_cap: int
    daily_cap: int | None = None
    packets_of_hour: int = 0
    """The number of packets over TCP and QUIC to a resolver without counted queries; not part of the other numbers."""

    @property
    def kept(self) -> CapVerdict:
        """Return the conclusion about the caps."""
        if self.of_hour > self.hourly_cap or (self.daily_cap is not None and self.of_day > self.daily_cap):
            return CapVerdict.EXCEEDED
        return CapVerdict.KEPT if self.of_hour + self.packets_of_hour <= self.hourly_cap else CapVerdict.NOT_SHOWN


def find_most_within(counts: Iterable[Count], seconds: float) -> int:
    """Return the highest sum within any window of `seconds`; a window excludes instants exactly `seconds` apart."""
    ordered = sorted(counts)
    most = inside = first = 0
    for at_ns, count in ordered:
        inside += count
        while ordered[first][0] <= at_ns - seconds * _SECOND_NS:
            inside -= ordered[first][1]
            first += 1
        most = max(most, inside)
    return most


def count_contacts(layout: BoxLayout, seen: BoxContacts, named: Sequence[Contact], caps: Caps) -> list[ContactCount]:
    """Count every site, all sites together, and every named resolver."""
    hosts = dict.fromkeys(one.host for one in named if one.reason in {ContactReason.RESOLVER, ContactReason.BOOTSTRAP})
    return [*_count_sites(seen, caps), *(_count_resolver(layout, seen, named, host, caps) for host in hosts)]


def _count_sites(seen: BoxContacts, caps: Caps) -> list[ContactCount]:
    loads = {name: [(at_ns, 1) for at_ns in site.documents_ns] for name, site in seen.sites.items()}
    rows = [
        _build_count("loads", name, those, caps.loads_per_site_per_hour, daily_cap=caps.loads_per_site_per_day)
        for name, those in loads.items()
        if those
    ]
    every = [one for those in loads.values() for one in those]
    return [*rows, _build_count("loads", EVERY_SITE, every, caps.loads_per_hour)]


def _count_resolver(
    layout: BoxLayout, seen: BoxContacts, named: Sequence[Contact], host: str, caps: Caps
) -> ContactCount:
    rows = find_rows(layout, [one for one in named if one.host == host and one.reason is not ContactReason.PING])
    flows = [flow for flow in seen.from_home if any(row.names(flow) for row in rows)]
    edges = {one.address: one.name for one in layout.resolvers if one.software == "edge"}
    queries: list[Count] = []
    packets: list[Count] = []
    for flow in flows:
        if flow.address in edges:
            queries += _list_queries(seen, edges[flow.address], flow)
        elif flow.protocol == "udp" and flow.port == _FLOWS["doudp"][1]:
            queries += _list_packets(flow)
        else:
            packets += _list_packets(flow)
    return _build_count(
        "queries", host, queries, caps.queries_per_resolver_per_hour, packets_of_hour=find_most_within(packets, HOUR_S)
    )


def _list_queries(seen: BoxContacts, edge: str, flow: ContactFlow) -> list[Count]:
    """Return the queries of an edge received by a flow."""
    transports = [one for one, where in _FLOWS.items() if where == (flow.protocol, flow.port)]
    of_edge = seen.queries_ns.get(edge, {})
    return [(at_ns, 1) for transport in transports for at_ns in of_edge.get(transport, ())]


def _list_packets(flow: ContactFlow) -> list[Count]:
    """Return a flow's packets; packets outside all windows are placed at a single instant, the strictest assumption."""
    told = sum(count for _, count in flow.windows)
    untold = [(0, flow.packets_count - told)] if flow.packets_count > told else []
    return [*flow.windows, *untold]


def _build_count(
    what: str,
    whom: str,
    counts: Sequence[Count],
    hourly_cap: int,
    *,
    daily_cap: int | None = None,
    packets_of_hour: int = 0,
) -> ContactCount:
    return ContactCount(
        what=what,
        whom=whom,
        total_count=sum(count for _, count in counts),
        of_minute=find_most_within(counts, MINUTE_S),
        of_hour=find_most_within(counts, HOUR_S),
        of_day=find_most_within(counts, DAY_S),
        hourly_cap=hourly_cap,
        daily_cap=daily_cap,
        packets_of_hour=packets_of_hour,
    )
