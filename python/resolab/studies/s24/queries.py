"""The questions of the figures of Sengupta et al. (TNSM 2024): connects of page loads, phases of cold exchanges.

For: the statements and typed rows. Not for: the other figures (`queries`).

Phases come as distributions counted in whole microseconds, thinned to a thousandth of the share each. Up to 1,000
exchanges are all present; a hundred million exchanges have as many rows as a thousand.
"""

from collections.abc import Sequence

import msgspec

from resolab.store.dataset import Dataset
from resolab.store.literals import literal_list
from resolab.store.query_times.cold_phases import PHASES, count_cold_phases

CONNECTS = """
SELECT t.condition, l.handshake_mode, l.failure, l.connect_end_ms - l.connect_start_ms AS connect_ms,
       l.request_start_ms - l.connect_start_ms AS connect_to_request_ms
FROM page_loads AS l JOIN trials AS t USING (trial_id)
WHERE l.measured
ORDER BY t.block, t.position
"""

# A phase without an end did not succeed; it sorts last and counts in the total. The last bin that was reached stays in
# any case: what is missing from it to the total is how many did not succeed.
_THINNED = """
WITH ranked AS (
    SELECT *, sum(members) OVER (PARTITION BY profile, dns_transport, quantity ORDER BY bin NULLS LAST) AS reached,
           sum(members) OVER (PARTITION BY profile, dns_transport, quantity) AS total
    FROM cold_phases
    WHERE near AND ({wanted})
)
SELECT profile, dns_transport, quantity AS phase, bin AS time_us, reached::BIGINT AS reached_count,
       total::BIGINT AS total_count
FROM ranked
QUALIFY bin IS NULL OR 1000 * reached // total > 1000 * (reached - members) // total
        OR reached = max(reached) FILTER (bin IS NOT NULL) OVER (PARTITION BY profile, dns_transport, quantity)
ORDER BY profile, dns_transport, phase, time_us NULLS LAST
"""


class ConnectRow(msgspec.Struct, kw_only=True, frozen=True):
    """The connect time of a measured load; null when the browser gave no such instants."""

    condition: str
    handshake_mode: str | None
    failure: str | None
    connect_ms: float | None
    connect_to_request_ms: float | None


class PhaseRow(msgspec.Struct, kw_only=True, frozen=True):
    """Number of a profile's and transport's exchanges ending a phase within `time_us`; null: without an end."""

    profile: str
    dns_transport: str
    phase: str
    time_us: int | None
    reached_count: int
    total_count: int


def connects(dataset: Dataset) -> list[ConnectRow]:
    """List the connects of measured loads in the order they ran."""
    return msgspec.convert(dataset.sql(CONNECTS), list[ConnectRow])


def phase_distributions(dataset: Dataset) -> list[PhaseRow]:
    """List the distributions of the phases, each in ascending order."""
    count_cold_phases(dataset)
    return msgspec.convert(dataset.sql(_THINNED.format(wanted=_build_condition())), list[PhaseRow])


def _build_condition() -> str:
    def one(phase: str, transports: Sequence[str]) -> str:
        return f"(quantity = '{phase}' AND dns_transport IN {literal_list(transports)})"

    return " OR ".join(one(phase, transports) for phase, transports in PHASES.items())
