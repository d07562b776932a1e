"""Phases of cold queries with a full handshake as counts by cell and bin: one pass over `queries` for both papers.

For: the temporary table read by statements of `studies`. Not for: the use of the counts.

A cell is a network, resolver and transport. Bins of one quantity add up, so a question of fewer cells needs no separate
pass. The phases measured by Sengupta et al. are durations of our own client to the nearest resolver with a cached
answer; their bins are microseconds. Every exchange on an open connection has bins of a ten thousandth.
"""

from collections.abc import Mapping, Sequence

from resolab.basics.protocols import DNS_TRANSPORTS, OVER_TCP
from resolab.plan.factor import FactorSubject
from resolab.plan.factors import OPTIONAL_FACTORS, QUERY_FACTORS, select_factors
from resolab.store.dataset import Dataset
from resolab.store.literals import literal, literal_list

PHASES: Mapping[str, Sequence[str]] = {
    "query_response_time": tuple(DNS_TRANSPORTS),
    "tcp_connect": OVER_TCP,
    "quic_handshake": ("doq",),
    "query_exchange": ("doq",),
}
"""The phases with microsecond bins, by transports with this phase."""
EXCHANGE = "exchange"
"""The quantity with logarithmic bins."""
BINS_PER_E_FOLD = 10_000
LEVELS = ", ".join(QUERY_FACTORS)
_NEAR = " AND ".join(f"{one} = {literal(str(OPTIONAL_FACTORS[one]))}" for one in select_factors(FactorSubject.RESOLVER))
"""The default resolver of a plan: at the pages' distance, with the answers in the cache."""

# Levels as one number for each trial: 1e8 queries are grouped by small integers.
_STATEMENT = """
CREATE TEMP TABLE IF NOT EXISTS cold_phases AS
WITH cells AS (
    SELECT trial_id, {levels}, {near} AS near,
           dense_rank() OVER (ORDER BY {levels})::INTEGER AS cell
    FROM trials
), found AS (
    SELECT cell, q.dns_transport, {bins}
    FROM queries AS q JOIN cells USING (trial_id)
    WHERE q.purpose = 'measured' AND coalesce(q.connection, 'cold') = 'cold'
          AND coalesce(q.requested_handshake_mode, 'full') = 'full'
), counted AS (
    SELECT cell, dns_transport, CASE grouping({names}) {quantities} END AS quantity, coalesce({names}) AS bin,
           count(*) AS members
    FROM found
    GROUP BY GROUPING SETS ({sets})
)
SELECT {levels}, near, dns_transport, quantity, bin, members
FROM counted JOIN (SELECT DISTINCT cell, near, {levels} FROM cells) USING (cell)
"""


def count_cold_phases(dataset: Dataset) -> None:
    """Make the table `cold_phases` unless it exists; a phase without an end has a null bin."""
    bins = {EXCHANGE: _EXCHANGE_BIN} | {phase: _microseconds(phase) for phase in PHASES}
    names = [f"{one}_bin" for one in bins]
    # The word `grouping` sets the bit of every name that a row is not of, the first name's highest.
    every = 2 ** len(names) - 1
    bits = [every - 2**place for place in reversed(range(len(names)))]
    statement = _STATEMENT.format(
        levels=LEVELS,
        near=_NEAR,
        bins=", ".join(f"{sql} AS {name}" for sql, name in zip(bins.values(), names, strict=True)),
        names=", ".join(names),
        quantities=" ".join(f"WHEN {bit} THEN '{one}'" for bit, one in zip(bits, bins, strict=True)),
        sets=", ".join(f"(cell, dns_transport, {name})" for name in names),
    )
    dataset.sql(statement)


_EXCHANGE_BIN = f"""CASE WHEN query_exchange_end_ns IS NOT NULL THEN
    floor(ln(greatest(query_exchange_end_ns - query_exchange_start_ns, 1)) * {BINS_PER_E_FOLD}) END::BIGINT"""


def _microseconds(phase: str) -> str:
    took = f"{phase}_ns" if phase == "query_response_time" else f"{phase}_end_ns - {phase}_start_ns"
    return f"CASE WHEN near AND q.dns_transport IN {literal_list(PHASES[phase])} THEN ({took} + 500) // 1000 END"
