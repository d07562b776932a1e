"""A dataset as sections read it: its tables, plan and findings, and further results, each computed once.

For: the only input of every section. Not for: any result of its own.
"""

from collections.abc import Callable, Collection
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar, cast

from resolab.basics.records import TrialKind
from resolab.plan import Plan
from resolab.report.findings.analysis import analyse
from resolab.report.findings.dataset_plan import is_live
from resolab.report.findings.findings import Findings
from resolab.report.live.findings import LiveFindings, live_findings
from resolab.store import Dataset

Result = TypeVar("Result")


class Reading:
    """A dataset with its results; the dataset must be open for results not asked for before."""

    def __init__(self, dataset: Dataset, findings: Findings | None = None) -> None:
        self.dataset = dataset
        self.findings = analyse(dataset) if findings is None else findings
        self._results: dict[Any, object] = {}

    @property
    def folder(self) -> Path:
        """The dataset's folder."""
        return self.dataset.folder

    @property
    def plan(self) -> Plan:
        """The dataset's plan."""
        return self.findings.plan

    @property
    def is_live(self) -> bool:
        """True for a dataset of the live network."""
        return is_live(self.plan)

    @property
    def has_page_loads(self) -> bool:
        """True for a dataset of page loads in browsers."""
        return self.plan.kind is TrialKind.PAGE_LOAD

    @cached_property
    def live(self) -> LiveFindings | None:
        """The additional findings of the live network; `None` for an emulated network."""
        return live_findings(self.dataset, self.findings) if self.is_live else None

    def lacks(self, tables: Collection[str]) -> bool:
        """Return True when the published folder lacks one of the tables."""
        return bool(set(tables) & set(self.findings.missing_tables))

    def once(self, compute: Callable[["Reading"], Result]) -> Result:
        """Return a function's result for this reading, computed at the first request only."""
        if compute not in self._results:
            self._results[compute] = compute(self)
        return cast(Result, self._results[compute])
