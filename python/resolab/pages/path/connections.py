"""The connections of one load as the server saw them: number, handshakes, names with a shared connection.

For: clones in the lab, with any browser by its own rule of sharing. Pure. Not for: recorded loads, with connections in
a netlog (`browser.chromium.netlog`).
"""

from collections import Counter
from collections.abc import Sequence

import msgspec

from resolab.basics.records import ConnectionRecord, EdgeRequestRecord, HandshakeMode, Record
from resolab.pages.clone.names import host_name
from resolab.pages.model import PageModel
from resolab.pages.path.records import find_failure, find_measured_load, navigation_ns

_NS = 1_000_000


class LoadConnections(msgspec.Struct, frozen=True, kw_only=True):
    """Counts of one load, up to its load event."""

    connections_count: int
    """Opened for the page's names, or kept from before and used."""
    unused_count: int
    """Without a request of this load."""
    failed_count: int
    """Connections with an unfinished handshake; not among the others."""
    handshakes_count: dict[str, int]
    """Number of connections opened in the load, by handshake mode."""
    names_count: int
    """Names of the page with at least one request."""
    sharing_names_count: int
    """Names among the former with all requests on connections opened for other names."""
    may_share_names_count: int
    """Names among the former with the address and certificate of another name: browsers may share by these."""


def count_connections(model: PageModel, records: Sequence[Record]) -> LoadConnections | None:
    """Count the connections of the measured load; `None` after a failure, or without load event or clock."""
    load = find_measured_load(records)
    began = navigation_ns(records, load)
    if load is None or load.plt_ms is None or began is None or find_failure(records) is not None:
        return None
    until = began + round(load.plt_ms * _NS)
    names = {host_name(model, place) for place in range(len(model.hosts))}
    asked: dict[int, set[str]] = {}
    for one in records:
        if isinstance(one, EdgeRequestRecord) and began <= one.received_ns <= until and _name(one.authority) in names:
            asked.setdefault(one.connection_id, set()).add(_name(one.authority))
    there = [
        one
        for one in records
        if isinstance(one, ConnectionRecord)
        and (one.connection_id in asked or (one.server_name in names and began <= one.accepted_ns <= until))
    ]
    return _count(model, there, asked, began)


def _name(authority: str) -> str:
    return authority.partition(":")[0].lower()


def _may_share_count(model: PageModel, names: set[str]) -> int:
    """Count the names with a partner; in a clone, a name without a known address or certificate has its own."""
    hosts = [one for place, one in enumerate(model.hosts) if host_name(model, place) in names]
    known = [(one.address_group, one.certificate) for one in hosts]
    groups = Counter(one for one in known if None not in one)
    return sum(count for count in groups.values() if count > 1)


def _count(
    model: PageModel, there: Sequence[ConnectionRecord], asked: dict[int, set[str]], began_ns: int
) -> LoadConnections:
    complete = [one for one in there if one.handshake_complete_ns is not None or one.connection_id in asked]
    modes = [one.handshake_mode for one in complete if one.accepted_ns >= began_ns]
    own = {one.server_name for one in complete if one.server_name in asked.get(one.connection_id, ())}
    names = set().union(*asked.values())
    return LoadConnections(
        connections_count=len(complete),
        unused_count=sum(one.connection_id not in asked for one in complete),
        failed_count=len(there) - len(complete),
        handshakes_count={mode.value: modes.count(mode) for mode in HandshakeMode if mode in modes},
        names_count=len(names),
        sharing_names_count=len(names - own),
        may_share_names_count=_may_share_count(model, names),
    )
