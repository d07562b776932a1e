"""How long our own client gave a query, which a failed one took at least, as SQL.

For: sums in which failed queries count, and medians of which they are bounds. Not for: limits of page loads, which
their records have in every format.
"""

from resolab.plan.live.settings import LAB
from resolab.store.literals import literal

_LAB_BEFORE_1_21_NS, _LIVE_BEFORE_1_21_NS = 10_000_000_000, 5_000_000_000
"""What clients gave before their records said it; nothing later is to be added."""


def limit_as_sql(queries: str, trials: str) -> str:
    """Write a query's limit in nanoseconds over the names that both tables have in a statement."""
    is_of_lab = f"{trials}.resolver = {literal(LAB)}"
    of_old = f"CASE WHEN {is_of_lab} THEN {_LAB_BEFORE_1_21_NS} ELSE {_LIVE_BEFORE_1_21_NS} END"
    return f"coalesce({queries}.limit_ns, {of_old})::BIGINT"
