"""The limit of our own client's queries, the least duration of a failed query, as SQL.

For: sums with failed queries, and medians bounded by the limits. Not for: limits of page loads, present in the records
of every format.
"""

from resolab.plan.live.settings import LAB
from resolab.store.literals import literal

_LAB_BEFORE_1_21_NS, _LIVE_BEFORE_1_21_NS = 10_000_000_000, 5_000_000_000
"""The limits of clients before records had this field; do not add later limits."""


def limit_as_sql(queries: str, trials: str) -> str:
    """Write a query's limit in nanoseconds over the statement's names for both tables."""
    is_of_lab = f"{trials}.resolver = {literal(LAB)}"
    of_old = f"CASE WHEN {is_of_lab} THEN {_LAB_BEFORE_1_21_NS} ELSE {_LIVE_BEFORE_1_21_NS} END"
    return f"coalesce({queries}.limit_ns, {of_old})::BIGINT"
