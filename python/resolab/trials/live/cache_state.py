"""The state of a resolver's cache for a query, from earlier queries and TTLs.

The states: first asked, within the TTL, after the TTL, or unknown. For: pure rules, with the time as an argument
(seconds of one clock). Not for: asking, or a proof of a cache hit: resolvers have several caches, and drop entries
early.

The highest TTL ever seen of a name is taken as the authoritative TTL. An answer with a smaller TTL has been counted
down: we or others asked before. For an answer with the full TTL, our own earlier queries decide. A browser's look-up is
known to have happened, without its answer: the look-up may have met an answer about to expire.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from resolab.basics.records import CacheState, QueryRecord

ROUNDING_S = 1.0
"""The tolerance, in s: TTLs are whole seconds, and resolvers round differently."""

Key = tuple[str, str, str]
"""The key of a look-up: resolver, name and type."""


@dataclass(frozen=True, slots=True)
class _EarlierQuery:
    since_s: float
    until_s: float
    """The latest instant of the answer, in s; `since_s` is the earliest."""
    ttl_s: float | None
    """The lifetime of the answer, in s; `None`: the answer was not seen here."""


@dataclass(slots=True)
class QueryHistory:
    """All earlier queries by resolver, name and type; all transports of a resolver share the same cache."""

    _last: dict[Key, _EarlierQuery] = field(default_factory=dict)
    _highest_s: dict[tuple[str, str], float] = field(default_factory=dict)

    def note_unseen(self, resolver: str, look_ups: Iterable[tuple[str, str]], since_s: float, until_s: float) -> None:
        """Add look-ups within a span of time with unseen answers: a browser's own look-ups."""
        for name, qtype in look_ups:
            self._last[resolver, name, qtype] = _EarlierQuery(since_s, until_s, None)

    def note(self, resolver: str, query: QueryRecord) -> None:
        """Add a query with its answer; a query without information about a cache keeps the known state."""
        name, ttl_s, now_s = read_name(query), compute_lifetime_s(query), find_answer_instant_s(query)
        if ttl_s is not None:
            self._highest_s[name, query.qtype] = max(ttl_s, self._highest_s.get((name, query.qtype), 0.0))
        before = self._last.get((resolver, name, query.qtype))
        if before is not None and ttl_s is None and (query.rcode is None or before.ttl_s is not None):
            return
        self._last[resolver, name, query.qtype] = _EarlierQuery(now_s, now_s, ttl_s)

    def state(self, resolver: str, query: QueryRecord) -> CacheState | None:
        """Judge a query by the earlier queries and by its answer."""
        name, now_s, ttl_s = read_name(query), query.time_origin_ns / 1e9, compute_lifetime_s(query)
        before, highest_s = self._last.get((resolver, name, query.qtype)), self._highest_s.get((name, query.qtype))
        if _is_counted_down(query, ttl_s, highest_s, before, now_s):
            return CacheState.WITHIN_TTL
        if before is None:
            return CacheState.FIRST_ASKED
        if before.ttl_s is None and ttl_s is not None:
            if highest_s is None and ttl_s >= now_s - before.since_s + ROUNDING_S:
                return CacheState.WITHIN_TTL
            # What a look-up that nobody saw left would have been counted down by now.
            is_whole = highest_s is not None and ttl_s >= highest_s - ROUNDING_S
            if is_whole and now_s - before.until_s > 2 * ROUNDING_S:
                return CacheState.AFTER_TTL
        life_s = before.ttl_s if before.ttl_s is not None else highest_s
        return None if life_s is None else _compare_with_lifetime(before, now_s, life_s, ttl_s)


def _is_counted_down(
    query: QueryRecord, ttl_s: float | None, highest_s: float | None, before: _EarlierQuery | None, now_s: float
) -> bool:
    """Return True when an answer's TTL is below the authoritative TTL.

    For a name without records, a lower TTL says nothing: the SOA may have come with another name of the zone. A TTL
    lower by a second may be the rounding of a slow recursion, unless a cache entry can still be alive.
    """
    if ttl_s is None or highest_s is None or ttl_s >= highest_s or query.ttl_s is None:
        return False
    if ttl_s < highest_s - ROUNDING_S:
        return True
    life_s = None if before is None else before.ttl_s
    return before is not None and life_s is not None and now_s - before.until_s <= life_s + ROUNDING_S


def _compare_with_lifetime(asked: _EarlierQuery, now_s: float, life_s: float, ttl_s: float | None) -> CacheState | None:
    """Compare the age of a cache entry with its lifetime; when both are close, an answer with the full TTL is new."""
    youngest_s, oldest_s = now_s - asked.until_s, now_s - asked.since_s
    if oldest_s < life_s - ROUNDING_S:
        return CacheState.WITHIN_TTL
    if youngest_s > life_s + ROUNDING_S or ttl_s == 0:
        return CacheState.AFTER_TTL
    if ttl_s is not None and (youngest_s >= ROUNDING_S or ttl_s > life_s):
        return CacheState.AFTER_TTL
    return None


def compute_lifetime_s(query: QueryRecord) -> float | None:
    """Return the lifetime of a response, in s; `None` without a response or without a TTL."""
    ttl_s = query.ttl_s if query.ttl_s is not None else query.negative_ttl_s
    return None if ttl_s is None else float(ttl_s)


def read_name(query: QueryRecord) -> str:
    """Return the queried name, in lower case and without the final dot."""
    return query.qname.rstrip(".").lower()


def find_answer_instant_s(query: QueryRecord) -> float:
    """Return the instant of the answer, in s; for a query without an answer, the instant of the query."""
    return (query.time_origin_ns + (query.query_exchange_end_ns or 0)) / 1e9
