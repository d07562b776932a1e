"""The shape of `contacts.json` for reading: the contacted hosts with counts and instants.

For: comparisons. Not for: counting (`contacts`, `timed_counter`), or the file (`reader`).
"""

from collections.abc import Mapping, Sequence

import msgspec

from resolab.extras.internet.layout import HOME

Count = tuple[int, int]
"""An instant on the monotonic clock, in ns, and the count until then."""


class ContactFlow(msgspec.Struct, frozen=True, kw_only=True):
    """The packets of a host to a port of an address."""

    source: str
    name: str | None = None
    address: str
    protocol: str
    """The protocol: `udp`, `tcp`, otherwise its number: `1` is ICMP."""
    port: int | None = None
    packets_count: int
    windows: Sequence[Count] = ()
    """The count in each window of the box's counting, by the window's end; only for packets from home."""


class SiteRequests(msgspec.Struct, frozen=True, kw_only=True):
    """The contacts of a registrable domain."""

    documents_ns: Sequence[int] = ()
    """The instants of requests for its page's document, in ns: each is a load."""


class OptOutListing(msgspec.Struct, frozen=True, kw_only=True):
    """A domain on the opt-out list, with the start of the listing."""

    domain: str
    since_ns: int
    until_ns: int | None = None
    """The instant of its removal, in ns; `None`: still listed."""


class BoxContacts(msgspec.Struct, frozen=True, kw_only=True):
    """All contacts received in a box."""

    counted_from_ns: int
    """The start of counting home's packets, in ns; the box's own start-up queries are before."""
    sites: Mapping[str, SiteRequests]
    flows: Sequence[ContactFlow]
    queries_ns: Mapping[str, Mapping[str, Sequence[int]]] = {}
    """The instants of queries to each resolver with resolab's edge, by transport, in ns."""
    last_requests_ns: Mapping[str, int] = {}
    """The last request of each host name of a site, in ns."""
    opt_out_fetches_ns: Sequence[int] = ()
    """The instants of fetches of the opt-out list, in ns; each begins a batch."""
    listed: Sequence[OptOutListing] = ()

    @property
    def from_home(self) -> Sequence[ContactFlow]:
        """Return the flows sent by the measuring program."""
        return [flow for flow in self.flows if flow.source == HOME]
