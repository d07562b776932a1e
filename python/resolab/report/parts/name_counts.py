"""The figure of pages differing only in their names: the cost of a transport by a page's number of names.

For: finding these pages, and choosing the findings. Not for: the appearance (`plots.name_counts`).
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from resolab.report.findings.findings import Findings
from resolab.report.parts.captions import by_names_caption
from resolab.report.parts.labels import name_combination
from resolab.report.plots import Drawing, NamesPoint, draw_by_names

LEAST_COUNTS = 2
"""The smallest number of different name counts for a line."""
_COUNT = re.compile(r"-\d+$")


def names_drawing(findings: Findings) -> Drawing | None:
    """Draw the figure; `None` without two pages differing in a number at the end and in their count of names."""
    counts = _names_counts(findings)
    points = [
        NamesPoint(
            place=f"{_COUNT.sub('', one.condition.page)}, {one.condition.profile}",
            label=name_combination(findings, one.condition),
            dns_transport=one.condition.dns_transport,
            requested_handshake_mode=one.condition.requested_handshake_mode,
            names_count=counts[one.condition.page],
            difference_ms=comparison.difference_ms,
            expected_ms=None if comparison.expected is None else comparison.expected.total_ms,
        )
        for one, comparison in findings.plt.compared
        if one.condition.page in counts and _COUNT.search(one.condition.page)
    ]
    told = _list_several_points(points)
    return draw_by_names(told, by_names_caption(findings, told), findings.plt.outcome.label) if told else None


def is_about_names(findings: Findings) -> bool:
    """Return True when enough pages for a line differ only in a number at their end."""
    series = Counter(_COUNT.sub("", page) for page in findings.pages if _COUNT.search(page))
    return any(count >= LEAST_COUNTS for count in series.values())


def _names_counts(findings: Findings) -> Mapping[str, int]:
    """Return the number of names requested from the servers for each page, as the maximum over loads."""
    page_of = {one.id: one.page for one in findings.plan.conditions()}
    counts: dict[str, int] = {}
    for load in findings.load_connections:
        page = page_of.get(load.condition)
        if page is not None:
            counts[page] = max(counts.get(page, 0), load.names_count)
    return counts


def _list_several_points(points: Iterable[NamesPoint]) -> list[NamesPoint]:
    """Return the points of panels with different name counts."""
    some = list(points)
    counts: dict[str, set[int]] = {}
    for one in some:
        counts.setdefault(one.place, set()).add(one.names_count)
    return [one for one in some if len(counts[one.place]) >= LEAST_COUNTS]
