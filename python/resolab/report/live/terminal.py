"""The lookups of a live dataset, for the terminal at the end of a run.

For: a short table. Not for: the complete table (`lookups`).
"""

from resolab.report.live.findings import LiveFindings
from resolab.report.live.lookups import CONNECTION_WORDS, LookupConfiguration, LookupSummary
from resolab.report.parts.narrow_table import TerminalTable
from resolab.report.plots import estimate_text, interval_text, transport_label

_CACHES = {"hit": "cached ms", "miss": "not cached ms", "every": "all ms"}


def lookups_for_terminal(live: LiveFindings) -> TerminalTable:
    """List each configuration and connection state in a row; the medians are over sites."""
    ways: dict[LookupConfiguration, dict[str, LookupSummary]] = {}
    for one in live.lookups:
        ways.setdefault(one.way, {})[one.cache] = one
    known = any("hit" in found or "miss" in found for found in ways.values())
    caches = {name: words for name, words in _CACHES.items() if (name != "every") == known}
    columns = ("vantage point, resolver, transport, connection", "sites", "failed", *caches.values())
    rows = [
        (
            f"{way.profile}, {way.resolver}, {transport_label(way.dns_transport)}, {CONNECTION_WORDS[way.connection]}",
            str(found["every"].median_ms.n),
            str(found["every"].failed_count),
            *(_cell(found.get(name)) for name in caches),
        )
        for way, found in ways.items()
    ]
    return TerminalTable("Look-ups: median over sites and its interval", columns, frozenset({0}), rows)


def _cell(one: LookupSummary | None) -> str:
    return "" if one is None else f"{estimate_text(one.median_ms)} {interval_text(one.median_ms)}".rstrip()
