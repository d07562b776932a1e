"""The verdicts on a dataset, with the circumstances that decide whether they can be trusted.

For: reading a dataset for `resolab check` and `run --check`. Not for: the verdicts themselves (`verdicts`).
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median
from typing import NamedTuple

from resolab.basics.errors import ConfigurationError
from resolab.basics.records import TrialFlag
from resolab.campaign.checks.decision import Verdict
from resolab.plan import Plan
from resolab.report.findings.dataset_plan import read_plan
from resolab.report.verdicts.check_result import CheckResult
from resolab.report.verdicts.verdicts import check_copies, check_expectations, is_sequential
from resolab.store import Dataset, Manifest, RunStatus, ensure_tables, open_dataset
from resolab.store.outcomes import find_outcome

BUSY_RATIO = 2.0
"""A spread this many times the reference marks a busy machine."""
BUSY_LATE_SHARE = 0.15
"""A larger share of late trials marks a busy machine; of the published datasets, none has more than 11 %."""


@dataclass(frozen=True, slots=True)
class DatasetCheck:
    """All verdicts on a dataset."""

    folder: Path
    manifest: Manifest
    plan: Plan
    results: Sequence[CheckResult]
    load_average: float | None
    """The median of the trials' load averages over one minute."""
    flagged_count: int
    trials_count: int
    late_count: int = 0
    """The trials with an emulated path later than the plan's limit."""
    copies: Counter[Verdict] = field(default_factory=Counter)
    """The verdicts of the same expectations on equal copies (`[[repeat]]`): "not met" is a false alarm."""

    notes: Sequence[str] = ()
    """Further warnings, shown first."""

    def count(self, verdict: Verdict) -> int:
        """Count the expectations with a verdict."""
        return sum(one.verdict is verdict for one in self.results)

    @property
    def is_sequential(self) -> bool:
        """True when the verdicts hold at any look."""
        return is_sequential(self.plan)

    @property
    def busy_results(self) -> list[CheckResult]:
        """The checks with a spread far above the reference: the machine was busy, or the link is lossy."""
        return [one for one in self.results if _is_busy(one)]

    @property
    def is_late(self) -> bool:
        """True when many trials were late, a sign of a busy machine for any outcome."""
        return self.late_count > BUSY_LATE_SHARE * self.trials_count


def _is_busy(one: CheckResult) -> bool:
    """Return True for a spread far above the reference of a quiet machine."""
    reference = one.reference_spread_ms
    return one.spread_ms is not None and reference is not None and one.spread_ms > BUSY_RATIO * reference


def check_dataset(folder: Path) -> DatasetCheck:
    """Judge a dataset by its plan's expectations."""
    ensure_tables(folder)
    with open_dataset(folder) as dataset:
        plan = read_plan(dataset)
        if not plan.expectations:
            hint = "add [[expect]] to a plan (docs/guides/checks.md) and run it"
            raise ConfigurationError(f"could not check {folder}: its plan expects nothing; {hint}")
        loads = dataset.measured_loads()
        complete = dataset.manifest.status is RunStatus.FINISHED
        results = check_expectations(plan, loads, is_complete=complete)
        return replace(read_circumstances(folder, dataset, plan, results), copies=check_copies(plan, loads))


def read_circumstances(folder: Path, dataset: Dataset, plan: Plan, results: Sequence[CheckResult]) -> DatasetCheck:
    """Join verdicts with the circumstances of a dataset's trials."""
    trials = _read_trials(dataset)
    return DatasetCheck(
        folder=folder,
        manifest=dataset.manifest,
        plan=plan,
        results=[replace(one, seconds=_sum_seconds(one, trials)) for one in results],
        load_average=median(one.load_average for one in trials) if trials else None,
        flagged_count=sum(bool(one.flags) for one in trials),
        trials_count=len(trials),
        late_count=sum(TrialFlag.LATENESS_EXCEEDED in one.flags for one in trials),
    )


class _Trial(NamedTuple):
    """The circumstances of a trial."""

    condition: str
    seconds: float
    load_average: float
    flags: Sequence[str]


def _read_trials(dataset: Dataset) -> list[_Trial]:
    statement = (
        "SELECT condition, (end_monotonic_ns - monotonic_ns) / 1e9 AS seconds, load_average_1min AS load_average, "
        "flags FROM trials"
    )
    return [_Trial(**row) for row in dataset.sql(statement)]


def _sum_seconds(one: CheckResult, trials: Iterable[_Trial]) -> float:
    arms = {one.comparison.treatment.id, one.comparison.baseline.id}
    return sum(trial.seconds for trial in trials if trial.condition in arms)


def outcome_label(one: CheckResult) -> str:
    """Return the outcome of a check for people."""
    return find_outcome(one.expectation.outcome).label
