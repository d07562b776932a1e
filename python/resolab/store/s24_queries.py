"""What the figures of Sengupta et al. (TNSM 2024) ask of the tables: connects of page loads, phases of cold exchanges.

For: their statements and typed rows. Not for: the other figures (`queries`).

Phases come as distributions counted in whole microseconds, thinned to a thousandth of the share each, in one pass per
phase: up to 1,000 exchanges every one is there, and a hundred million are as many rows as a thousand.
"""

from collections.abc import Sequence
from functools import lru_cache

import msgspec

from resolab.store.dataset import Dataset

CONNECTS = """
SELECT t.condition, l.handshake_mode, l.failure, l.connect_end_ms - l.connect_start_ms AS connect_ms,
       l.request_start_ms - l.connect_start_ms AS connect_to_request_ms
FROM page_loads AS l JOIN trials AS t USING (trial_id)
WHERE l.measured
ORDER BY t.block, t.position
"""

# A cold exchange of our own client with a full handshake, the resolver at the edge and its answer in the cache: what
# the paper measured. A phase without an end did not succeed; it sorts last and counts in the total.
_PHASE = """
SELECT t.profile, q.dns_transport, '{phase}' AS phase, ({end} - {start} + 500) // 1000 AS time_us, count(*) AS count
FROM queries AS q JOIN trials AS t USING (trial_id)
WHERE q.purpose = 'measured' AND coalesce(q.connection, 'cold') = 'cold'
      AND coalesce(q.requested_handshake_mode, 'full') = 'full'
      AND t.resolver_extra_rtt_ms = 0 AND t.resolver_cache = 'hit' AND q.dns_transport IN ({transports})
GROUP BY ALL
"""

_THINNED = """
WITH counted AS ({phases}), ranked AS (
    SELECT *, sum(count) OVER (PARTITION BY profile, dns_transport, phase ORDER BY time_us NULLS LAST) AS reached,
           sum(count) OVER (PARTITION BY profile, dns_transport, phase) AS total
    FROM counted
)
SELECT profile, dns_transport, phase, time_us, reached::BIGINT AS reached_count, total::BIGINT AS total_count
FROM ranked
WHERE time_us IS NULL OR 1000 * reached // total > 1000 * (reached - count) // total
ORDER BY profile, dns_transport, phase, time_us NULLS LAST
"""

PHASES: dict[str, Sequence[str]] = {
    "query_response_time": ("doudp", "dotcp", "dot", "doh", "doh3", "doq"),
    "tcp_connect": ("dotcp", "dot", "doh"),
    "quic_handshake": ("doq",),
    "query_exchange": ("doq",),
}
"""The phases the figures draw, and the transports they draw them of."""


class ConnectRow(msgspec.Struct, kw_only=True, frozen=True):
    """How long a measured load took to connect; null where the browser gave no such instants."""

    condition: str
    handshake_mode: str | None
    failure: str | None
    connect_ms: float | None
    connect_to_request_ms: float | None


class PhaseRow(msgspec.Struct, kw_only=True, frozen=True):
    """So many of a profile's and transport's exchanges ended a phase within `time_us`; null: those that did not."""

    profile: str
    dns_transport: str
    phase: str
    time_us: int | None
    reached_count: int
    total_count: int


def connects(dataset: Dataset) -> list[ConnectRow]:
    """List the connects of measured loads in the order they ran."""
    return msgspec.convert(dataset.sql(CONNECTS), list[ConnectRow])


@lru_cache(maxsize=1)  # Figures and tables both ask, and each time costs a pass per phase over all queries.
def phase_distributions(dataset: Dataset) -> list[PhaseRow]:
    """List the distributions of the phases, each in ascending order."""
    return msgspec.convert(dataset.sql(_THINNED.format(phases=" UNION ALL ".join(_phases()))), list[PhaseRow])


def _phases() -> list[str]:
    return [
        _PHASE.format(
            phase=phase,
            start="0" if phase == "query_response_time" else f"q.{phase}_start_ns",
            end="q.query_response_time_ns" if phase == "query_response_time" else f"q.{phase}_end_ns",
            transports=", ".join(f"'{transport}'" for transport in transports),
        )
        for phase, transports in PHASES.items()
    ]
