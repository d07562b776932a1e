"""The queries of one run by resolver, in the given order of the resolvers.

For: grouping records into arms and pairs. Not for: statistics of the records (`summary`).
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from resolab.basics.records import ConnectionState, DnsTransport, QueryPurpose, QueryRecord
from resolab.extras.queries.system_resolver import format_recorded_name

Key = tuple[str, str, int]
"""Name, type and round. Queries to several resolvers with equal keys are a pair."""


@dataclass(frozen=True, slots=True)
class Arm:
    """Queries of the same kind to one resolver."""

    resolver: str
    dns_transport: DnsTransport
    opening: bool
    """True for the queries opening a connection, in a run with kept connections."""
    records: dict[Key, QueryRecord] = field(default_factory=dict)


def select_measured(records: Iterable[QueryRecord]) -> list[QueryRecord]:
    """Return the queries without the ones sent only to fetch a ticket."""
    return [record for record in records if record.purpose is QueryPurpose.MEASURED]


def group_arms(records: Sequence[QueryRecord], resolvers: Sequence[str], *, keeps_connections: bool) -> list[Arm]:
    """Sort records by resolver in the given order; with kept connections, the opening queries are an arm apart."""
    rounds: Counter[tuple[str, str, str]] = Counter()
    found: dict[tuple[str, bool], Arm] = {}
    for record in records:
        asked = (record.resolver, record.qname, record.qtype)
        opening = keeps_connections and record.connection is ConnectionState.COLD
        arm = found.setdefault((record.resolver, opening), Arm(record.resolver, record.dns_transport, opening))
        arm.records[record.qname, record.qtype, rounds[asked]] = record
        rounds[asked] += 1
    order = {format_recorded_name(resolver): position for position, resolver in enumerate(resolvers)}
    return sorted(found.values(), key=lambda arm: (order.get(arm.resolver, len(order)), arm.opening))
