"""The shape of `contacts.json` as it is read again: who got what, and when.

For: comparisons. Not for: counting (`contacts`, `contacted.timed`), or the file (`contacted.reading`).
"""

from collections.abc import Mapping, Sequence

import msgspec

from resolab.internet.layout import HOME

Count = tuple[int, int]
"""An instant on the monotonic clock, and how many came by it."""


class SeenFlow(msgspec.Struct, frozen=True, kw_only=True):
    """Packets of one host to one port of one address."""

    source: str
    name: str | None = None
    address: str
    protocol: str
    """`udp`, `tcp`, else its number: `1` is ICMP."""
    port: int | None = None
    packets_count: int
    windows: Sequence[Count] = ()
    """How many in each window of the box's counting, by its end; of what home sent alone."""


class SeenSite(msgspec.Struct, frozen=True, kw_only=True):
    """What came to one registrable domain."""

    documents_ns: Sequence[int] = ()
    """When its page's document was asked for: a load each."""


class Listed(msgspec.Struct, frozen=True, kw_only=True):
    """A domain on the opt-out list, and since when."""

    domain: str
    since_ns: int
    until_ns: int | None = None
    """When it was taken off; None: it stands there still."""


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """All of it."""

    counted_from_ns: int
    """When home began to be counted; what the box itself asked to come up is before it."""
    sites: Mapping[str, SeenSite]
    flows: Sequence[SeenFlow]
    queries_ns: Mapping[str, Mapping[str, Sequence[int]]] = {}
    """Of each resolver that is resolab's edge, by transport: when each query came."""
    last_requests_ns: Mapping[str, int] = {}
    """Of each host name of a site: its last request."""
    opt_out_fetches_ns: Sequence[int] = ()
    """When the opt-out list was fetched, which begins a batch."""
    listed: Sequence[Listed] = ()

    @property
    def from_home(self) -> Sequence[SeenFlow]:
        """What whoever measured sent."""
        return [flow for flow in self.flows if flow.source == HOME]
