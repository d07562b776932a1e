"""Measured look-ups of the box against their truth, hits and misses apart. Pure.

For: the table resolver x transport x connection x hit or miss. Not for: asking (`asking`), showing (`cli`).
"""

import enum
import statistics
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from resolab.internet.layout import Layout, Resolver
from resolab.internet.recursion import Recursion
from resolab.internet.truth import Knowledge, Truth, is_within, knowledge_behind, of_servers
from resolab.protocols import place_of
from resolab.records import CacheState, ConnectionState, DnsTransport, QueryRecord


class LookUp(msgspec.Struct, frozen=True, kw_only=True):
    """One measured look-up beside its truth."""

    measured_ms: float
    truth: Truth
    cache_state: CacheState | None = None
    """What whoever asked judged of the resolver's cache, if it did."""

    @property
    def is_hit(self) -> bool:
        """Whether the resolver had the answer."""
        return self.truth.knowledge is Knowledge.ANSWER

    @property
    def difference_ms(self) -> float:
        """Measured minus true."""
        return self.measured_ms - self.truth.total_ms


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """Look-ups of one kind."""

    resolver: str
    dns_transport: DnsTransport
    connection: str
    cache: str
    """`hit` or `miss`."""
    count: int
    measured_ms: float
    """Median."""
    truth_ms: float
    """Median of theirs."""
    difference_ms: float
    """Median of the differences."""
    largest_difference_ms: float
    within: bool
    """Whether the median difference is as small as asked for."""
    within_ratio: float
    """Share of the single look-ups that are."""


class StateRow(msgspec.Struct, frozen=True, kw_only=True):
    """Look-ups of which one cache state was judged."""

    cache_state: CacheState | None
    """None: not known, or not judged."""
    hits_count: int
    misses_count: int

    @property
    def right_count(self) -> int:
        """How many were judged as they were: within the TTL a hit, first asked and after it a miss."""
        return self.hits_count if self.cache_state is CacheState.WITHIN_TTL else self.misses_count


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """All of it."""

    rows: list[Row]
    failed_count: int
    """Look-ups without an answer."""
    untold_count: int
    """Look-ups that nothing in a cache explains, as when a resolver asked a server twice."""
    foreign_count: int
    """Look-ups of resolvers that are none of the box's."""
    states: list[StateRow]

    @property
    def told_apart_ratio(self) -> float | None:
        """Share of the look-ups whose cache state was judged as it was, of those judged at all; none without any."""
        judged = [row for row in self.states if row.cache_state is not None]
        count = sum(row.hits_count + row.misses_count for row in judged)
        return sum(row.right_count for row in judged) / count if count else None

    @property
    def all_within(self) -> bool:
        """Whether every row is."""
        return bool(self.rows) and all(row.within for row in self.rows)


def check(layout: Layout, recursion: Recursion, records: Iterable[QueryRecord]) -> Checked:
    """Hold measured look-ups against their truth."""
    look_ups: list[LookUp] = []
    counts = dict.fromkeys(Untrue, 0)
    for record in records:
        found = look_up_of(layout, recursion, record)
        if isinstance(found, LookUp):
            look_ups.append(found)
        else:
            counts[found] += 1
    return Checked(
        rows=list(_rows(look_ups)),
        failed_count=counts[Untrue.FAILED],
        untold_count=counts[Untrue.UNTOLD],
        foreign_count=counts[Untrue.FOREIGN],
        states=list(_state_rows(look_ups)),
    )


class Untrue(enum.Enum):
    """Why a look-up has no truth."""

    FAILED = enum.auto()
    UNTOLD = enum.auto()
    FOREIGN = enum.auto()


def look_up_of(layout: Layout, recursion: Recursion, record: QueryRecord) -> LookUp | Untrue:
    """Set a measured look-up beside its truth, or say why there is none."""
    address = (record.resolver_address or "").rpartition(":")[0]
    resolver = next((one for one in layout.resolvers if one.address == address), None)
    if resolver is None:
        return Untrue.FOREIGN
    if record.query_response_time_ns is None or record.failure is not None:
        return Untrue.FAILED
    true = _truth_of(layout, recursion, record, resolver)
    if true is None:
        return Untrue.UNTOLD
    return LookUp(measured_ms=_time_ns(record) / 1e6, truth=true, cache_state=record.cache_state)


def _truth_of(layout: Layout, recursion: Recursion, record: QueryRecord, resolver: Resolver) -> Truth | None:
    end_ns = record.time_origin_ns + (record.query_exchange_end_ns or 0)
    asked = recursion.servers(resolver.asks_from, record.qname, record.qtype, record.time_origin_ns, end_ns)
    knowledge = knowledge_behind(layout, record.qname, asked)
    if knowledge is None:
        return None
    return of_servers(
        layout,
        resolver,
        record.dns_transport,
        record.qname,
        connection="warm" if record.connection is ConnectionState.WARM else "cold",
        knowledge=knowledge,
        asked=asked,
    )


def _time_ns(record: QueryRecord) -> int:
    """From wanting the answer to having it; the look-up of the resolver's own name is not in it."""
    bootstrap = (record.bootstrap_end_ns or 0) - (record.bootstrap_start_ns or 0)
    return (record.query_response_time_ns or 0) - bootstrap


def _rows(look_ups: Sequence[LookUp]) -> Iterator[Row]:
    kinds: dict[tuple[str, DnsTransport, str, str], list[LookUp]] = defaultdict(list)
    for one in look_ups:
        cache = "hit" if one.is_hit else "miss"
        kinds[one.truth.resolver, one.truth.dns_transport, one.truth.connection, cache].append(one)
    for kind in sorted(kinds, key=lambda kind: (kind[0], place_of(kind[1]), kind[2], kind[3])):
        yield _row(kind, kinds[kind])


def _state_rows(look_ups: Sequence[LookUp]) -> Iterator[StateRow]:
    for state in (*CacheState, None):
        hits = [one.is_hit for one in look_ups if one.cache_state is state]
        if hits:
            yield StateRow(cache_state=state, hits_count=sum(hits), misses_count=len(hits) - sum(hits))


def _row(kind: tuple[str, DnsTransport, str, str], look_ups: Sequence[LookUp]) -> Row:
    resolver, transport, connection, cache = kind
    differences = [one.difference_ms for one in look_ups]
    truth_ms = statistics.median(one.truth.total_ms for one in look_ups)
    difference_ms = statistics.median(differences)
    return Row(
        resolver=resolver,
        dns_transport=transport,
        connection=connection,
        cache=cache,
        count=len(look_ups),
        measured_ms=statistics.median(one.measured_ms for one in look_ups),
        truth_ms=truth_ms,
        difference_ms=difference_ms,
        largest_difference_ms=max(differences, key=abs),
        within=is_within(truth_ms + difference_ms, truth_ms),
        within_ratio=sum(is_within(one.measured_ms, one.truth.total_ms) for one in look_ups) / len(look_ups),
    )
