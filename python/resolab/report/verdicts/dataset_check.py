"""The verdicts on a dataset, with the circumstances that decide whether they can be trusted.

For: reading a dataset for `resolab check` and `run --check`. Not for: the verdicts themselves (`verdicts`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

from resolab.checks.decision import Verdict
from resolab.errors import ConfigurationError
from resolab.plan import Plan
from resolab.report.findings.dataset_plan import read_plan
from resolab.report.verdicts.verdicts import CheckResult, check_expectations, is_sequential
from resolab.store import Dataset, Manifest, RunStatus, ensure_tables, open_dataset
from resolab.store.outcomes import OUTCOMES

BUSY_RATIO = 2.0
"""A spread this many times the reference marks a busy machine."""


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


def _is_busy(one: CheckResult) -> bool:
    """Return True for a spread far above the reference of a quiet machine."""
    reference = OUTCOMES[one.expectation.outcome].quiet_spread_ms
    return one.spread_ms is not None and reference is not None and one.spread_ms > BUSY_RATIO * reference


def check_dataset(folder: Path) -> DatasetCheck:
    """Judge a dataset by its plan's expectations."""
    ensure_tables(folder)
    with open_dataset(folder) as dataset:
        plan = read_plan(dataset)
        if not plan.expectations:
            hint = "add [[expect]] to a plan (docs/guides/checks.md) and run it"
            raise ConfigurationError(f"could not check {folder}: its plan expects nothing; {hint}")
        loads, trials = dataset.measured_loads(), _read_trials(dataset)
        complete = dataset.manifest.status is RunStatus.FINISHED
        results = check_expectations(plan, loads, is_complete=complete)
    seconds = {name: sum(one[0] for one in found) for name, found in trials.items()}
    every = [one for found in trials.values() for one in found]
    return DatasetCheck(
        folder=folder,
        manifest=dataset.manifest,
        plan=plan,
        results=[replace(one, seconds=_seconds(one, seconds)) for one in results],
        load_average=median(one[1] for one in every) if every else None,
        flagged_count=sum(one[2] for one in every),
        trials_count=len(every),
    )


def _read_trials(dataset: Dataset) -> dict[str, list[tuple[float, float, bool]]]:
    """Read seconds, load average and the presence of a flag of every trial, by condition."""
    statement = (
        "SELECT condition, (end_monotonic_ns - monotonic_ns) / 1e9 AS seconds, load_average_1min AS load, "
        "len(flags) > 0 AS flagged FROM trials"
    )
    found: dict[str, list[tuple[float, float, bool]]] = {}
    for row in dataset.sql(statement):
        found.setdefault(row["condition"], []).append((row["seconds"], row["load"], row["flagged"]))
    return found


def _seconds(one: CheckResult, seconds: dict[str, float]) -> float:
    return sum(seconds.get(arm.id, 0.0) for arm in (one.comparison.treatment, one.comparison.baseline))


def outcome_label(one: CheckResult) -> str:
    """Return the outcome of a check for people."""
    return OUTCOMES[one.expectation.outcome].label
