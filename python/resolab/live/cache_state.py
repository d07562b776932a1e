"""What a resolver was asked before, by TTL and repeat: first asked, within the TTL, after it, or not known.

For: pure rules, time as an argument (seconds of one clock). Not for: asking, or whether an answer came from a cache:
resolvers have several, and drop what they might keep.

The highest TTL ever seen of a name is taken for what its owner gives it. An answer with less has been counted down:
somebody, we or others, asked before. Of an answer with all of it, what we asked before tells. A browser's look-up is
known to have been made, not what was answered: it may have met an answer that was about to end.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from resolab.records import CacheState, QueryRecord

ROUNDING_S = 1.0
"""TTLs are whole seconds, and resolvers round as they like."""

Key = tuple[str, str, str]
"""Resolver, name and type."""


@dataclass(frozen=True, slots=True)
class _Asked:
    since_s: float
    until_s: float
    """The answer came between these instants."""
    ttl_s: float | None
    """How long what came may be kept; None: nobody here saw it."""


@dataclass(slots=True)
class AskedBefore:
    """All that was asked so far, by resolver, name and type; whatever the transport, a resolver is one."""

    _last: dict[Key, _Asked] = field(default_factory=dict)
    _highest_s: dict[tuple[str, str], float] = field(default_factory=dict)

    def note_unseen(self, resolver: str, look_ups: Iterable[tuple[str, str]], since_s: float, until_s: float) -> None:
        """Take in look-ups of a span whose answers nobody here saw: a browser's own."""
        for name, qtype in look_ups:
            self._last[resolver, name, qtype] = _Asked(since_s, until_s, None)

    def note(self, resolver: str, query: QueryRecord) -> None:
        """Take in a query with its answer; one that says nothing of a cache leaves what was known."""
        name, ttl_s, now_s = name_of(query), kept_s(query), answered_s(query)
        if ttl_s is not None:
            self._highest_s[name, query.qtype] = max(ttl_s, self._highest_s.get((name, query.qtype), 0.0))
        before = self._last.get((resolver, name, query.qtype))
        if before is not None and ttl_s is None and (query.rcode is None or before.ttl_s is not None):
            return
        self._last[resolver, name, query.qtype] = _Asked(now_s, now_s, ttl_s)

    def state(self, resolver: str, query: QueryRecord) -> CacheState | None:
        """Judge a query by what was asked before it, and by what it was answered."""
        name, now_s, ttl_s = name_of(query), query.time_origin_ns / 1e9, kept_s(query)
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
        return None if life_s is None else _by_life(before, now_s, life_s, ttl_s)


def _is_counted_down(
    query: QueryRecord, ttl_s: float | None, highest_s: float | None, before: _Asked | None, now_s: float
) -> bool:
    """Whether an answer has less than its owner gives it.

    Of a name without records that says nothing: its SOA may have come with another name of the zone. A second less may
    be a slow recursion's rounding, unless something can still be there.
    """
    if ttl_s is None or highest_s is None or ttl_s >= highest_s or query.ttl_s is None:
        return False
    if ttl_s < highest_s - ROUNDING_S:
        return True
    life_s = None if before is None else before.ttl_s
    return before is not None and life_s is not None and now_s - before.until_s <= life_s + ROUNDING_S


def _by_life(asked: _Asked, now_s: float, life_s: float, ttl_s: float | None) -> CacheState | None:
    """Hold the age of a cache's entry against its life; where both are alike, an answer with its whole TTL is new."""
    youngest_s, oldest_s = now_s - asked.until_s, now_s - asked.since_s
    if oldest_s < life_s - ROUNDING_S:
        return CacheState.WITHIN_TTL
    if youngest_s > life_s + ROUNDING_S or ttl_s == 0:
        return CacheState.AFTER_TTL
    if ttl_s is not None and (youngest_s >= ROUNDING_S or ttl_s > life_s):
        return CacheState.AFTER_TTL
    return None


def kept_s(query: QueryRecord) -> float | None:
    """How long a response may be kept; None without one, or where it does not say."""
    ttl_s = query.ttl_s if query.ttl_s is not None else query.negative_ttl_s
    return None if ttl_s is None else float(ttl_s)


def name_of(query: QueryRecord) -> str:
    """Name asked, in lower case and without its final dot."""
    return query.qname.rstrip(".").lower()


def answered_s(query: QueryRecord) -> float:
    """Instant of the answer; of a query without one, its own."""
    return (query.time_origin_ns + (query.query_exchange_end_ns or 0)) / 1e9
