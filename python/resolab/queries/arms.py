"""The queries of one run by resolver, in the order the resolvers were given.

For: which records stand side by side, and which are pairs. Not for: numbers from them; those are in `summary`.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from resolab.queries.system_resolver import as_recorded
from resolab.records import ConnectionState, DnsTransport, QueryPurpose, QueryRecord

Key = tuple[str, str, int]
"""Name, type and round: the queries of several resolvers with one key are a pair."""


@dataclass(frozen=True, slots=True)
class Arm:
    """Queries to one resolver that are alike."""

    resolver: str
    dns_transport: DnsTransport
    opening: bool
    """Whether these are the queries that had to open a connection in a run that keeps them."""
    records: dict[Key, QueryRecord] = field(default_factory=dict)


def measured(records: Iterable[QueryRecord]) -> list[QueryRecord]:
    """Leave out the queries that only fetched a ticket."""
    return [record for record in records if record.purpose is QueryPurpose.MEASURED]


def arms_of(records: Sequence[QueryRecord], resolvers: Sequence[str], *, keeps_connections: bool) -> list[Arm]:
    """Sort records by resolver as given; where connections are kept, apart from the queries that opened them."""
    rounds: Counter[tuple[str, str, str]] = Counter()
    found: dict[tuple[str, bool], Arm] = {}
    for record in records:
        asked = (record.resolver, record.qname, record.qtype)
        opening = keeps_connections and record.connection is ConnectionState.COLD
        arm = found.setdefault((record.resolver, opening), Arm(record.resolver, record.dns_transport, opening))
        arm.records[record.qname, record.qtype, rounds[asked]] = record
        rounds[asked] += 1
    order = {as_recorded(resolver): position for position, resolver in enumerate(resolvers)}
    return sorted(found.values(), key=lambda arm: (order.get(arm.resolver, len(order)), arm.opening))
