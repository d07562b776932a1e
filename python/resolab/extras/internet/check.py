"""Compare measured look-ups of the box with their truth, hits and misses apart. Pure.

For: the table resolver x transport x connection x hit or miss. Not for: asking (`look_up_rounds`), showing (`cli`).
"""

import enum
import statistics
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from resolab.basics.protocols import transport_position
from resolab.basics.records import CacheState, ConnectionState, DnsTransport, QueryRecord
from resolab.extras.internet.layout import BoxLayout, BoxResolver
from resolab.extras.internet.recursion import RecursionLog
from resolab.extras.internet.truth import (
    LookUpTruth,
    ResolverKnowledge,
    compute_truth_of_servers,
    is_within,
    knowledge_behind,
)


class CheckedLookUp(msgspec.Struct, frozen=True, kw_only=True):
    """A measured look-up beside its truth."""

    measured_ms: float
    truth: LookUpTruth
    cache_state: CacheState | None = None
    """The cache state according to the client, if known."""

    @property
    def is_hit(self) -> bool:
        """Return True when the resolver had the answer in its cache."""
        return self.truth.knowledge is ResolverKnowledge.ANSWER

    @property
    def difference_ms(self) -> float:
        """Return the measured minus the true time, in ms."""
        return self.measured_ms - self.truth.total_ms


class LookUpSummary(msgspec.Struct, frozen=True, kw_only=True):
    """The results for a resolver, transport, connection and cache state."""

    resolver: str
    dns_transport: DnsTransport
    connection: str
    cache: str
    """The cache state: `hit` or `miss`."""
    count: int
    measured_ms: float
    """The median of the measured times, in ms."""
    truth_ms: float
    """The median of the true times, in ms."""
    difference_ms: float
    """The median of the differences, in ms."""
    largest_difference_ms: float
    within: bool
    """True when the median difference is within the tolerance."""
    within_ratio: float
    """The share of single look-ups within the tolerance."""


class CacheStateSummary(msgspec.Struct, frozen=True, kw_only=True):
    """The look-ups judged to have a given cache state."""

    cache_state: CacheState | None
    """The judged cache state; `None`: not known, or not judged."""
    hits_count: int
    misses_count: int

    @property
    def right_count(self) -> int:
        """Return the number of correct judgements: a hit within the TTL, a miss when first asked or after the TTL."""
        return self.hits_count if self.cache_state is CacheState.WITHIN_TTL else self.misses_count


class TruthCheck(msgspec.Struct, frozen=True, kw_only=True):
    """The results of checking all look-ups."""

    rows: list[LookUpSummary]
    failed_count: int
    """The number of look-ups without an answer."""
    untold_count: int
    """The number of look-ups without an explanation by a cache, as when a resolver asked a server twice."""
    foreign_count: int
    """The number of look-ups over resolvers outside the box."""
    states: list[CacheStateSummary]

    @property
    def told_apart_ratio(self) -> float | None:
        """Return the share of correct judgements among judged look-ups; `None` without any."""
        judged = [row for row in self.states if row.cache_state is not None]
        count = sum(row.hits_count + row.misses_count for row in judged)
        return sum(row.right_count for row in judged) / count if count else None

    @property
    def all_within(self) -> bool:
        """Return True when every row is within the tolerance."""
        return bool(self.rows) and all(row.within for row in self.rows)


def check(layout: BoxLayout, recursion: RecursionLog, records: Iterable[QueryRecord]) -> TruthCheck:
    """Compare measured look-ups with their truth."""
    look_ups: list[CheckedLookUp] = []
    counts = dict.fromkeys(MissingTruth, 0)
    for record in records:
        found = judge_look_up(layout, recursion, record)
        if isinstance(found, CheckedLookUp):
            look_ups.append(found)
        else:
            counts[found] += 1
    return TruthCheck(
        rows=list(_rows(look_ups)),
        failed_count=counts[MissingTruth.FAILED],
        untold_count=counts[MissingTruth.UNTOLD],
        foreign_count=counts[MissingTruth.FOREIGN],
        states=list(_state_rows(look_ups)),
    )


class MissingTruth(enum.Enum):
    """The reason for a look-up without a truth."""

    FAILED = enum.auto()
    UNTOLD = enum.auto()
    FOREIGN = enum.auto()


def judge_look_up(layout: BoxLayout, recursion: RecursionLog, record: QueryRecord) -> CheckedLookUp | MissingTruth:
    """Return a measured look-up with its truth, or the reason for a missing truth."""
    address = (record.resolver_address or "").rpartition(":")[0]
    resolver = next((one for one in layout.resolvers if one.address == address), None)
    if resolver is None:
        return MissingTruth.FOREIGN
    if record.query_response_time_ns is None or record.failure is not None:
        return MissingTruth.FAILED
    true = _find_truth(layout, recursion, record, resolver)
    if true is None:
        return MissingTruth.UNTOLD
    return CheckedLookUp(measured_ms=_time_ns(record) / 1e6, truth=true, cache_state=record.cache_state)


def _find_truth(
    layout: BoxLayout, recursion: RecursionLog, record: QueryRecord, resolver: BoxResolver
) -> LookUpTruth | None:
    end_ns = record.time_origin_ns + (record.query_exchange_end_ns or 0)
    asked = recursion.servers(resolver.asks_from, record.qname, record.qtype, record.time_origin_ns, end_ns)
    knowledge = knowledge_behind(layout, record.qname, asked)
    if knowledge is None:
        return None
    return compute_truth_of_servers(
        layout,
        resolver,
        record.dns_transport,
        record.qname,
        connection="warm" if record.connection is ConnectionState.WARM else "cold",
        knowledge=knowledge,
        asked=asked,
    )


def _time_ns(record: QueryRecord) -> int:
    """Return the time from wanting the answer to its arrival, without the look-up of the resolver's own name."""
    bootstrap = (record.bootstrap_end_ns or 0) - (record.bootstrap_start_ns or 0)
    return (record.query_response_time_ns or 0) - bootstrap


def _rows(look_ups: Sequence[CheckedLookUp]) -> Iterator[LookUpSummary]:
    kinds: dict[tuple[str, DnsTransport, str, str], list[CheckedLookUp]] = defaultdict(list)
    for one in look_ups:
        cache = "hit" if one.is_hit else "miss"
        kinds[one.truth.resolver, one.truth.dns_transport, one.truth.connection, cache].append(one)
    for kind in sorted(kinds, key=lambda kind: (kind[0], transport_position(kind[1]), kind[2], kind[3])):
        yield _row(kind, kinds[kind])


def _state_rows(look_ups: Sequence[CheckedLookUp]) -> Iterator[CacheStateSummary]:
    for state in (*CacheState, None):
        hits = [one.is_hit for one in look_ups if one.cache_state is state]
        if hits:
            yield CacheStateSummary(cache_state=state, hits_count=sum(hits), misses_count=len(hits) - sum(hits))


def _row(kind: tuple[str, DnsTransport, str, str], look_ups: Sequence[CheckedLookUp]) -> LookUpSummary:
    resolver, transport, connection, cache = kind
    differences = [one.difference_ms for one in look_ups]
    truth_ms = statistics.median(one.truth.total_ms for one in look_ups)
    difference_ms = statistics.median(differences)
    return LookUpSummary(
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
