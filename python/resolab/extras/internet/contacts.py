"""Count all contacts in the box: requests of each site, packets to each resolver and site. Pure but for its file.

For: `contacts.json`, compared with the manners of the measuring program. Not for: the identity of the client.
"""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import msgspec

from resolab.basics.records import EdgeQueryRecord, EdgeRequestRecord, InternetFlow, Record
from resolab.extras.internet.layout import HOME, BoxLayout, BoxSite
from resolab.plan.pages.page_file import registrable_domain

HIGHEST_SERVER_PORT = 1023
_FlowKey = tuple[str, str, str, int | None]
"""The key of a flow: source host, address, protocol, port."""


class SiteContactCounts(msgspec.Struct, kw_only=True):
    """The contacts of a registrable domain."""

    requests_count: int = 0
    documents_ns: list[int] = []
    """The instants of requests for its page's document, on the monotonic clock, in ns."""
    statuses: Counter[str] = msgspec.field(default_factory=Counter)
    """The number of answers by status."""


class ContactCounter:
    """The counts from records of the edges and the exchange."""

    def __init__(self, layout: BoxLayout) -> None:
        self._sites: dict[str, SiteContactCounts] = {}
        self._documents = {_document(site): site.domain for site in layout.sites}
        self._domains = {
            origin.host: registrable_domain(origin.host) for site in layout.sites for origin in site.origins
        }
        self._queries: dict[str, Counter[str]] = {}
        self._flows: dict[_FlowKey, tuple[int, int]] = {}
        self._names = {one.address: one.name for one in layout.resolvers}
        self._names |= {origin.address: origin.host for site in layout.sites for origin in site.origins[::-1]}
        self._names |= {one.address: one.host for one in layout.servers}

    def take(self, edge: str, record: Record) -> None:
        """Count a record of an edge."""
        match record:
            case EdgeRequestRecord():
                self._take_request(record)
            case EdgeQueryRecord():
                self._queries.setdefault(edge, Counter())[record.dns_transport.value] += 1

    def _take_request(self, record: EdgeRequestRecord) -> None:
        host = record.authority.partition(":")[0].lower()
        site = self._sites.setdefault(self._domains.get(host, host), SiteContactCounts())
        site.requests_count += 1
        site.statuses[str(record.status)] += 1
        if (host, record.path) in self._documents:
            site.documents_ns.append(record.received_ns)

    def add_flows(self, flows: Iterable[InternetFlow]) -> None:
        """Count packets since the last time: packets from home, and packets from other hosts to servers."""
        for flow in flows:
            if _is_contact(flow):
                key = (flow.source_host, flow.destination_address, flow.protocol, flow.destination_port)
                packets, size = self._flows.get(key, (0, 0))
                self._flows[key] = (packets + flow.packets_count, size + flow.total_bytes)

    def as_dict(self) -> dict[str, object]:
        """Give all of it, for people and programs."""
        flows = [
            {
                "source": source,
                "name": self._names.get(address),
                "address": address,
                "protocol": protocol,
                "port": port,
                "packets_count": packets,
                "bytes_count": size,
            }
            for (source, address, protocol, port), (packets, size) in sorted(self._flows.items(), key=str)
        ]
        return {
            "sites": {domain: msgspec.to_builtins(one) for domain, one in sorted(self._sites.items())},
            "resolver_queries": {name: dict(counts) for name, counts in sorted(self._queries.items())},
            "flows": flows,
        }

    def write(self, file: Path) -> None:
        """Write the counts into a file, whole or not at all."""
        unfinished = file.with_suffix(".unfinished")
        unfinished.write_bytes(msgspec.json.format(msgspec.json.encode(self.as_dict()), indent=1))
        unfinished.replace(file)


def _is_contact(flow: InternetFlow) -> bool:
    """Return True when a flow is a contact; answers, to ports chosen by clients, are not."""
    if flow.destination_port is None:
        return flow.source_host == HOME and flow.protocol not in {"tcp", "udp"}
    return flow.source_host == HOME or flow.destination_port <= HIGHEST_SERVER_PORT


def _document(site: BoxSite) -> tuple[str, str]:
    host, _, path = site.url.removeprefix("https://").partition("/")
    return host, f"/{path}"
