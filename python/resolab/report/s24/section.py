"""The figures and tables of Sengupta et al. (TNSM 2024), each from a single dataset, under the paper's numbers.

For: the report's list of figures and tables, and the missing data. Not for: the content of each (`exchanges`, `loads`,
`changes`, `replication`, `profiles`, `paper_comparison`).
"""

from collections.abc import Iterable, Iterator
from functools import cached_property

from resolab.plots import Drawing
from resolab.report.findings.findings import Findings
from resolab.report.findings.interval_level import level_of_loads
from resolab.report.named_table import NamedTable
from resolab.report.s24.changes import changes_table, overhead_table
from resolab.report.s24.exchanges import Timings, exchange_drawings, read_timings
from resolab.report.s24.loads import LoadTimes, list_load_times, load_drawings
from resolab.report.s24.profiles import connect_table, profile_table
from resolab.report.s24.replication import replication_table
from resolab.report.s24.scope import PaperScope, choose_scope
from resolab.store import Dataset

_NEEDS = {
    "s24_fig3": "page loads over HTTP/3",
    "s24_fig4": "page loads over HTTP/3 on fiber or 4g",
    "s24_fig5": "cold DNS exchanges with a full handshake",
    "s24_fig6": "cold DNS exchanges with a full handshake on fiber or 4g",
    "s24_fig7": "cold DNS exchanges with a full handshake",
    "s24_fig8": "a baseline DoUDP + H3 full, and DoQ or DoH beside it",
    "s24_fig9": "ended loads of DoUDP + H3 full, and DoQ or DoH beside it",
    "s24_fig10": "loads of the page wikipedia on fiber or 4g",
    "s24_fig11": "loads of the page instagram on fiber or 4g",
    "s24_fig12": "a baseline DoUDP + H3 full, and DoQ or DoH beside it",
}


class S24Section:
    """The paper's figures and tables of a dataset, with common parts computed once; the dataset must be open."""

    def __init__(self, dataset: Dataset, findings: Findings) -> None:
        self.dataset = dataset
        self.findings = findings

    @cached_property
    def scope(self) -> PaperScope:
        """The conditions matching the paper."""
        return choose_scope(self.findings.plan)

    @cached_property
    def timings(self) -> Timings:
        """The durations in round trips."""
        return read_timings(self.dataset, self.findings, self.scope)

    @cached_property
    def times(self) -> list[LoadTimes]:
        """The page load time and, if present in the dataset, the paper's sum."""
        return list_load_times(self.findings)

    @property
    def is_theirs(self) -> bool:
        """True when a condition has the paper's page, profile and protocols."""
        return bool(self.scope.cells)

    def drawings(self) -> Iterator[Drawing]:
        """Draw every figure of the paper with data in the dataset."""
        yield from exchange_drawings(self.timings, self.findings, self.scope)
        for times in self.times:
            yield from load_drawings(times, self.findings, self.scope)

    def tables(self) -> list[NamedTable]:
        """Make every table of comparisons with the paper, given data in the dataset."""
        found = [
            profile_table(self.findings),
            connect_table(self.timings),
            changes_table(self.times, self.scope, self.findings),
            replication_table(self.times, self.scope, level_of_loads(self.findings.plan)),
            *(overhead_table(times.outcome, self.findings, self.scope) for times in self.times),
        ]
        return [one for one in found if one is not None]

    @staticmethod
    def missing(drawn: Iterable[str]) -> list[str]:
        """List the paper's figures missing from `drawn`, each with the data needed."""
        names = set(drawn)
        return [f"{name}: needs {what}." for name, what in _NEEDS.items() if name not in names]
