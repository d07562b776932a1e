"""The state of the resolver's cache at lookups of a live dataset, as far as observable from outside.

For: counts and shares by configuration. Not for: judging a state (`live`), or times (`lookups`).
"""

from collections import Counter
from collections.abc import Mapping

from resolab.basics.protocols import transport_position
from resolab.report.live.study import LiveStudy
from resolab.report.parts.named_table import NamedTable
from resolab.report.parts.tables import Table
from resolab.report.plots import transport_label
from resolab.report.plots.save import Value
from resolab.store.live.queries import CACHED, NOT_CACHED, UNKNOWN

STATES = (*NOT_CACHED[:1], *CACHED, *NOT_CACHED[1:], UNKNOWN)
_WORDS = {"first_asked": "first asked", "within_ttl": "within TTL", "after_ttl": "after TTL", UNKNOWN: "unknown"}
Key = tuple[str, str, str]


def cache_state_table(study: LiveStudy) -> NamedTable:
    """List each configuration in a row, with the shares of the states side by side."""
    counts: dict[Key, Counter[str]] = {}
    failed: Counter[Key] = Counter()
    for row in study.cache_states:
        key = (row.profile, row.resolver, row.dns_transport)
        counts.setdefault(key, Counter())[row.cache_state] += row.n
        failed[key] += row.failed_count
    places = list(study.profiles)
    ordered = sorted(
        counts, key=lambda key: (places.index(key[0]), study.resolver_order[key[1]], transport_position(key[2]))
    )
    columns = ("vantage point", "resolver", "transport", "look-ups", *(_WORDS[one] for one in STATES), "failed")
    rows = [
        (
            *key[:2],
            transport_label(key[2]),
            str(counts[key].total()),
            *(f"{counts[key][state]} ({counts[key][state] / counts[key].total():.1%})" for state in STATES),
            str(failed[key]),
        )
        for key in ordered
    ]
    note = (
        "By what this dataset asked each resolver before, over whatever transport, and by the TTL of the answer: "
        "within TTL, the resolver had it; first asked and after TTL, as far as known it had not, though others may "
        "have asked. Unknown: nobody could tell; most failed look-ups are among these."
    )
    return NamedTable(
        "live_cache_states", "State of the resolver's cache", Table(columns, rows, frozenset(range(3))),
        [_row(key, counts, failed, state) for key in ordered for state in STATES], note,
    )  # fmt: skip


def _row(key: Key, counts: Mapping[Key, Counter[str]], failed: Mapping[Key, int], state: str) -> dict[str, Value]:
    total = counts[key].total()
    return {
        "vantage_point": key[0],
        "resolver": key[1],
        "dns_transport": key[2],
        "cache_state": state,
        "lookups_count": counts[key][state],
        "share_ratio": counts[key][state] / total,
        "total_count": total,
        "failed_count": failed[key],
    }
