"""What was asked of whom within the last day, and how long to wait before asking more.

For: the rules of the caps, pure, on instants in seconds of the wall clock, which outlives a restart. Not for: files
(`ledger`) or for whom to leave alone (`refusals`).
"""

import bisect
from collections import defaultdict
from collections.abc import Iterable

from resolab.manners.caps import Caps
from resolab.manners.lines import Line, LoadLine, QueriesLine, StopLine

HOUR_S, DAY_S = 3_600.0, 86_400.0


class Counts:
    """Loads by site, queries by resolver."""

    def __init__(self, caps: Caps) -> None:
        self._caps = caps
        self._loads: list[float] = []
        self._loads_of: dict[str, list[float]] = defaultdict(list)
        self._queries_of: dict[str, list[tuple[float, int]]] = defaultdict(list)
        self._busy_until: dict[str, float] = {}

    def take(self, lines: Iterable[Line]) -> None:
        """Count what was noted."""
        for line in lines:
            match line:
                case LoadLine():
                    bisect.insort(self._loads, line.at_s)
                    bisect.insort(self._loads_of[line.site], line.at_s)
                case QueriesLine():
                    bisect.insort(self._queries_of[line.resolver], (line.at_s, line.queries_count))
                    if line.paced:
                        until = line.at_s + line.queries_count * self._caps.query_interval_ms / 1e3
                        self._busy_until[line.resolver] = max(self._busy_until.get(line.resolver, until), until)
                case StopLine():
                    pass

    def wait_s(self, now_s: float, *, site: str | None, resolver: str | None, queries_count: int) -> float:
        """Return how long to wait, in seconds, until a load of a site and queries to a resolver are within all caps."""
        waits = [0.0]
        if site is not None:
            hourly, daily = self._caps.loads_per_site_per_hour, self._caps.loads_per_site_per_day
            waits.append(_wait(self._loads_of[site], now_s, HOUR_S, hourly))
            waits.append(_wait(self._loads_of[site], now_s, DAY_S, daily))
            waits.append(_wait(self._loads, now_s, HOUR_S, self._caps.loads_per_hour))
        if resolver is not None:
            waits.append(self._busy_until.get(resolver, now_s) - now_s)
            room = self._caps.queries_per_resolver_per_hour - queries_count
            waits.append(_weighed_wait(self._queries_of[resolver], now_s, HOUR_S, room))
        return max(waits)


def _wait(instants: list[float], now_s: float, window_s: float, cap: int) -> float:
    """Return when one more is the cap's last within a window, given sorted instants."""
    recent = instants[bisect.bisect_right(instants, now_s - window_s) :]
    return 0.0 if len(recent) < cap else max(0.0, recent[len(recent) - cap] + window_s - now_s)


def _weighed_wait(counted: list[tuple[float, int]], now_s: float, window_s: float, room: int) -> float:
    """Return when what lies in the window leaves room; corrections stand at the instant of what they correct."""
    recent = [one for one in counted if one[0] > now_s - window_s]
    total, wait = sum(count for _, count in recent), 0.0
    for at_s, count in recent:
        if total <= room:
            break
        total -= count
        wait = max(0.0, at_s + window_s - now_s)
    return wait
