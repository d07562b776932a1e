"""A dataset as a study in the manner of Sengupta et al.: its matching conditions, exchanges and load times, read once.

For: the common basis of the paper's figures and tables. Not for: the figures.
"""

from functools import cached_property

from resolab.report.findings.findings import Findings
from resolab.store import Dataset
from resolab.studies.s24.exchanges import Timings, read_timings
from resolab.studies.s24.loads import LoadTimes, list_load_times
from resolab.studies.s24.scope import PaperScope, choose_scope


class S24Study:
    """The study of a dataset, read on demand while the dataset is open."""

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
