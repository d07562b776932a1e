"""Connections of one page in numbers.

For: shapes and counting. Pure. Not for: connections themselves (`browser.browser_log`) or reading logs
(`browser.chromium.netlog`).
"""

from collections import Counter
from collections.abc import Collection, Sequence

import msgspec

from resolab.browser.browser_log import BrowserConnection, SharingReason


class PageConnections(msgspec.Struct, frozen=True, kw_only=True):
    """A page's connections in numbers."""

    connections_count: int
    """Number of connections open for requests, used or unused."""
    unused_count: int
    failed_count: int
    full_handshakes_count: int
    resumed_handshakes_count: int
    early_data_count: int
    """Number of the resumed handshakes with accepted early data."""
    untold_handshakes_count: int
    """Full or resumed: QUIC's without early data."""
    by_protocol: dict[str, int]
    names_count: int
    """Number of the page's names with requests."""
    sharing_names_count: int
    """Number among these with all requests on connections of others."""
    shared: dict[str, int]
    """Names on connections of others, by reason: a name counts once for each such connection."""


def page_connections(connections: Sequence[BrowserConnection], names: Collection[str]) -> PageConnections:
    """Count the connections of a page: opened for the page's names or used by these names."""
    of_page = [one for one in connections if one.serves_any(names)]
    there = [one for one in of_page if one.is_open]
    handshakes = [one for one in there if one.handshake_end_ms is not None]
    own = {one.host for one in there if any(request.host == one.host for request in one.requests)}
    asked = {request.host for one in there for request in one.requests if request.host in names}
    reasons = Counter(reason for one in there for name, reason in one.shared_with.items() if name in names)
    return PageConnections(
        connections_count=len(there),
        unused_count=sum(not one.requests for one in there),
        failed_count=len(of_page) - len(there),
        full_handshakes_count=sum(one.resumed is False for one in handshakes),
        resumed_handshakes_count=sum(one.resumed is True for one in handshakes),
        early_data_count=sum(one.early_data is True for one in handshakes),
        untold_handshakes_count=sum(one.resumed is None for one in handshakes),
        by_protocol=dict(sorted(Counter(one.protocol or "none" for one in there).items())),
        names_count=len(asked),
        sharing_names_count=len(asked - own),
        shared={reason.value: reasons[reason] for reason in SharingReason if reasons[reason]},
    )
