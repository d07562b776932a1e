"""The effects of the plan's comparisons on each page's connections and load time.

For: pairs of loads of a page, their sums over pages, and the choice of drawn pairs. Not for: the loads of a condition
(`loads`), the connections of a load (`store.connections.loads`), or the appearance of the figure (`plots`).

A plan with sampled pages has no result by page: each condition has only a few loads of a page, often a single load. The
values of a page are observations without an interval; intervals are over pages.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from resolab.basics.protocols import page_handshake_round_trips
from resolab.basics.records import HandshakeMode
from resolab.plan import PlannedComparison
from resolab.report.findings.findings import Findings, PairResult
from resolab.report.parts.captions import connections_caption
from resolab.report.parts.labels import name_combination
from resolab.report.parts.named_table import NamedTable
from resolab.report.parts.tables import Table, both_text
from resolab.report.plots import ABSENT, Drawing, PagePoint, draw_by_connections, number_text
from resolab.report.plots.difference import difference_columns
from resolab.report.plots.save import Value
from resolab.report.sections.connections.loads import spread
from resolab.store.connections.loads import LoadConnectionsRow
from resolab.store.outcomes import PLT
from resolab.store.rows import LoadRow

TITLE = "What sharing connections changes, over pages"
NOTE = (
    "Per page, the treatment's less the baseline's; the median over pages, and the least and the most. Connections "
    "are those opened for the page's names, used or not; the resolver's counts where it carries pages. Their "
    "handshakes' round trips are what the protocol takes for the handshake that happened (one for HTTP/3's full or "
    "resumed one, none for 0-RTT), added up over connections, of which a load waits for some side by side. The change "
    "of the load time is the median of the paired differences, with its interval over pages, and the same in round "
    "trips of the access link. Counts are of pages both of whose loads succeeded; of several rounds, the means over "
    "those in which both did."
)
_COLUMNS = (
    "profile",
    "treatment",
    "against",
    "pages",
    "names",
    "connections before",
    "change of connections",
    "change of handshakes' round trips",
    "requests on another name's connection",
    "change of load time, ms",
    "in round trips",
    "pages sooner",
)


Rounds = dict[int, tuple[LoadConnectionsRow, LoadRow]]
"""A page's loads of a condition by round."""


@dataclass(frozen=True, slots=True)
class LoadTransport:
    """The connections and requests of a page's loads under a condition, as means over rounds."""

    names_count: float
    requests_count: float
    connections_count: float
    """Connections opened for the page's names, used or unused."""
    handshake_round_trips: float
    """The sum of the handshakes' round trips over the used connections."""
    shared_requests_count: float | None
    """Requests on a connection opened for another name; `None` without connection records of the edge."""
    plt_ms: float


@dataclass(frozen=True, slots=True)
class PageChange:
    """The loads of a page under a comparison's treatment and under its baseline."""

    comparison: PlannedComparison
    page: str
    rtt_ms: float
    own: LoadTransport
    other: LoadTransport

    @property
    def difference_ms(self) -> float:
        """The treatment's page load time minus the baseline's, in ms."""
        return self.own.plt_ms - self.other.plt_ms

    @property
    def connections_difference(self) -> float:
        """The treatment's number of connections minus the baseline's."""
        return self.own.connections_count - self.other.connections_count

    @property
    def round_trips_difference(self) -> float:
        """The treatment's round trips of handshakes minus the baseline's."""
        return self.own.handshake_round_trips - self.other.handshake_round_trips


def page_changes(findings: Findings) -> list[PageChange]:
    """Pair the loads of each page; without sampled pages, return an empty list."""
    if not findings.plan.samples_pages:
        return []
    carried = _group_connections(findings)
    return [
        PageChange(one, page, findings.oracle.rtt_ms[one.treatment.profile], *both)
        for one in (found.comparison for found in findings.plt.comparisons)
        for page, own in carried.get(one.treatment.id, {}).items()
        if (both := _both(own, carried.get(one.baseline.id, {}).get(page, {}))) is not None
    ]


def changes_table(findings: Findings, changes: Sequence[PageChange]) -> NamedTable | None:
    """Summarise every comparison over its pages."""
    told = [
        (one, of_pages)
        for one in findings.plt.comparisons
        if (of_pages := [change for change in changes if change.comparison == one.comparison])
    ]
    if not told:
        return None
    rows = [_words(findings, one, of_pages) for one, of_pages in told]
    numbers = [_sums(one, of_pages) for one, of_pages in told]
    return NamedTable("connections_over_pages", TITLE, Table(_COLUMNS, rows, frozenset(range(3))), numbers, NOTE)


def page_drawing(findings: Findings, changes: Sequence[PageChange]) -> Drawing | None:
    """Draw every page of every comparison; `None` without any page."""
    if not changes:
        return None
    points = [
        PagePoint(_panel(findings, one.comparison), -one.connections_difference, one.difference_ms, _numbers(one))
        for one in changes
    ]
    medians = {_panel(findings, one.comparison): one.difference_ms for one in findings.plt.comparisons}
    caption = connections_caption(findings, medians.values())
    return draw_by_connections("connections_by_page", caption, points, medians)


def _panel(findings: Findings, one: PlannedComparison) -> str:
    treatment, baseline = (name_combination(findings, each) for each in (one.treatment, one.baseline))
    return f"{one.treatment.profile}: {treatment}\nagainst {baseline}"


def _group_connections(findings: Findings) -> Mapping[str, Mapping[str, Rounds]]:
    """Group the connections of loads by condition and page."""
    loads = {one.trial_id: one for one in findings.loads}
    grouped: dict[str, dict[str, Rounds]] = {}
    for row in findings.load_connections:
        load = loads[row.trial_id]
        if PLT.value_of_load(load) is not None:
            grouped.setdefault(row.condition, {}).setdefault(load.page, {})[load.round] = (row, load)
    return grouped


def _both(own: Rounds, other: Rounds) -> tuple[LoadTransport, LoadTransport] | None:
    """Average the common rounds of both conditions for a page; `None` without common rounds."""
    shared = [number for number in own if number in other]
    if not shared:
        return None
    return _mean([own[number] for number in shared]), _mean([other[number] for number in shared])


def _mean(some: Sequence[tuple[LoadConnectionsRow, LoadRow]]) -> LoadTransport:
    shared = [row.shared_requests_count for row, _ in some]
    return LoadTransport(
        names_count=fmean(row.names_count for row, _ in some),
        requests_count=fmean(row.requests_count for row, _ in some),
        connections_count=fmean(row.connections_count + row.unused_count for row, _ in some),
        handshake_round_trips=fmean(_round_trips(row, load) for row, load in some),
        shared_requests_count=None if None in shared else fmean(one for one in shared if one is not None),
        plt_ms=fmean(PLT.value_of_load(load) or 0.0 for _, load in some),
    )


def _round_trips(row: LoadConnectionsRow, load: LoadRow) -> int:
    counts = {
        HandshakeMode.FULL: row.full_count,
        HandshakeMode.RESUMED: row.resumed_count,
        HandshakeMode.ZERO_RTT: row.zero_rtt_count,
    }
    return sum(count * page_handshake_round_trips(load.http_version, mode) for mode, count in counts.items())


def _words(findings: Findings, one: PairResult, of_pages: Sequence[PageChange]) -> tuple[str, ...]:
    rtt_ms = of_pages[0].rtt_ms
    median_ms = one.difference_ms.value
    return (
        one.comparison.treatment.profile,
        name_combination(findings, one.comparison.treatment),
        name_combination(findings, one.comparison.baseline),
        str(len(of_pages)),
        spread(change.own.names_count for change in of_pages),
        spread(change.other.connections_count for change in of_pages),
        spread((change.connections_difference for change in of_pages), signed=True),
        spread((change.round_trips_difference for change in of_pages), signed=True),
        spread(change.own.shared_requests_count for change in of_pages),
        both_text(one.difference_ms),
        ABSENT if median_ms is None or not rtt_ms else number_text(median_ms / rtt_ms, 1, signed=True),
        str(sum(change.difference_ms < 0 for change in of_pages)),
    )


def _sums(one: PairResult, of_pages: Sequence[PageChange]) -> dict[str, Value]:
    """Return the row of a comparison in the table's file."""
    return {
        "profile": one.comparison.treatment.profile,
        "treatment": one.comparison.treatment.id,
        "baseline": one.comparison.baseline.id,
        "pages_count": len(of_pages),
        "names_count": median(change.own.names_count for change in of_pages),
        "baseline_connections_count": median(change.other.connections_count for change in of_pages),
        "connections_difference": median(change.connections_difference for change in of_pages),
        "handshake_round_trips_difference": median(change.round_trips_difference for change in of_pages),
        **difference_columns(one.difference_ms, None),
        "sooner_pages_count": sum(change.difference_ms < 0 for change in of_pages),
    }


def _numbers(one: PageChange) -> dict[str, Value]:
    return {
        "page": one.page,
        "profile": one.comparison.treatment.profile,
        "treatment": one.comparison.treatment.id,
        "baseline": one.comparison.baseline.id,
        "names_count": one.own.names_count,
        "requests_count": one.own.requests_count,
        "connections_count": one.own.connections_count,
        "baseline_connections_count": one.other.connections_count,
        "handshake_round_trips": one.own.handshake_round_trips,
        "baseline_handshake_round_trips": one.other.handshake_round_trips,
        "shared_requests_count": one.own.shared_requests_count,
        "baseline_shared_requests_count": one.other.shared_requests_count,
        "plt_ms": one.own.plt_ms,
        "baseline_plt_ms": one.other.plt_ms,
        "difference_ms": one.difference_ms,
        "difference_rtts": one.difference_ms / one.rtt_ms if one.rtt_ms else None,
    }
