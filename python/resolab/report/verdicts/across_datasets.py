"""Verdicts between two datasets: the change of a build's difference from a reference.

For: `resolab compare A B --check`. Not for: verdicts within a dataset (`verdicts`), which need far fewer blocks.

Medians of two days differ by more than most builds do. So each dataset gives the paired differences of a build and a
reference that is the same software in both. The difference of their medians is judged, never that of the builds' times.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from resolab.basics.errors import ConfigurationError
from resolab.campaign.checks.decision import Interval, Verdict, decide, subtract_scaled
from resolab.plan import ComparisonKind, Condition, Plan, PlannedComparison
from resolab.plan.expectation import TIME_KINDS, Expectation
from resolab.report.findings.dataset_plan import read_plan
from resolab.report.findings.page_loads import group_by_condition, pair_samples
from resolab.report.verdicts.check_result import CheckResult
from resolab.report.verdicts.dataset_check import DatasetCheck, read_circumstances
from resolab.report.verdicts.evidence import compute_margin_ms
from resolab.report.verdicts.sentences import across_sentence
from resolab.report.verdicts.verdicts import is_sequential
from resolab.stats import Sample, difference_of_medians, measure_spread
from resolab.store import Dataset, Manifest, ensure_tables, open_dataset
from resolab.store.outcomes import PLT, RESPONSE_START, find_outcome
from resolab.store.rows import LoadRow

DRIFT_MS: Mapping[str, float] = {PLT.name: 5.0, RESPONSE_START.name: 1.0}
"""Margins below this are refused: medians of paired differences of one build differ by about as much between days."""
NOISE_RATIO = 2.0
"""Spreads of alike loads with a larger ratio are of two different machines."""


@dataclass(frozen=True, slots=True)
class _Side:
    """A dataset with its plan and loads."""

    manifest: Manifest
    plan: Plan
    loads: Mapping[str, Sequence[LoadRow]]


def check_across(first: Path, second: Path, *, any_margin: bool = False) -> DatasetCheck:
    """Judge the expectations about times of the second dataset's plan against the first dataset.

    `any_margin` allows margins below the known drift from day to day.
    """
    for folder in (first, second):
        ensure_tables(folder)
    with open_dataset(first) as before, open_dataset(second) as after:
        sides = (_read_side(before), _read_side(after))
        compared = _list_compared(second, sides)
        _refuse_differences(first, second, sides, [pair.baseline for _, pair in compared])
        if not any_margin:
            _refuse_small_margins(compared, sides[0])
        results = [_judge(one, pair, sides) for one, pair in compared]
        notes = [*_warn_of_other_machines(sides), *_name_unjudged(sides[1].plan, compared)]
        return replace(read_circumstances(second, after, sides[1].plan, results), notes=notes)


def _read_side(dataset: Dataset) -> _Side:
    plan = read_plan(dataset)
    return _Side(dataset.manifest, plan, group_by_condition(dataset.measured_loads()))


def _refuse_differences(first: Path, second: Path, sides: tuple[_Side, _Side], baselines: Sequence[Condition]) -> None:
    """Refuse datasets with differences that a difference of builds cannot be told from."""
    facts = [_list_facts(side, baselines) for side in sides]
    differing = [name for name in facts[0] if facts[0][name] != facts[1][name]]
    if differing:
        problem = f"they differ in {', '.join(differing)}"
        remedy = "run old and new build in one plan (docs/guides/build-pipeline.md)"
        raise ConfigurationError(f"could not check {second} against {first}: {problem}; {remedy}")


def _list_facts(side: _Side, baselines: Sequence[Condition]) -> dict[str, object]:
    """List what must be equal in both datasets; browsers and software of the baselines only."""
    manifest, instrument = side.manifest, side.plan.instrument
    software = manifest.starts[-1].software if manifest.starts else {}
    return {
        "kind of trials": side.plan.kind,
        "study": side.plan.study,
        "pages": manifest.starts[-1].pages_sha256 if manifest.starts else None,
        "profiles": {one.name: one for one in manifest.profiles},
        "the baseline's browser": {one.browser: manifest.versions.browsers.get(one.browser) for one in baselines},
        "the baseline's software": {
            # The edge has no entry: its program is of resolab's version.
            one.resolver_software: software[one.resolver_software].identity
            for one in baselines
            if one.resolver_software in software
        },
        "resolab": manifest.versions.resolab,
        "resolab-core": (
            manifest.versions.resolab_core,
            manifest.starts[-1].resolab_core_sha256 if manifest.starts else None,
        ),
        "back end": manifest.backend,
        "paths": manifest.paths,
        "keep_awake": instrument.keep_awake,
    }


def _list_compared(second: Path, sides: tuple[_Side, _Side]) -> list[tuple[Expectation, PlannedComparison]]:
    """List the expectations about times with both arms in both datasets."""
    plan = sides[1].plan
    found = [
        (one, pair)
        for one in plan.expectations
        if one.kind in TIME_KINDS
        for pair in one.list_comparisons(plan.conditions(), plan.find_with_levels)
        if all(arm.id in side.loads for side in sides for arm in (pair.treatment, pair.baseline))
    ]
    if not found:
        problem = "no expectation about times has its treatment and its baseline in both datasets"
        remedy = "add [[expect]] with a baseline that is the same software in both (docs/guides/checks.md)"
        raise ConfigurationError(f"could not check {second}: {problem}; {remedy}")
    return found


def _name_unjudged(plan: Plan, compared: Sequence[tuple[Expectation, PlannedComparison]]) -> list[str]:
    """Name the checks of the plan that no difference between datasets judges."""
    judged = {(id(one), pair.id) for one, pair in compared}
    lines = []
    for one in plan.expectations:
        pairs = one.list_comparisons(plan.conditions(), plan.find_with_levels)
        missing = [pair.treatment.id for pair in pairs if (id(one), pair.id) not in judged]
        if missing:
            reason = "both arms are not in both datasets" if one.kind in TIME_KINDS else "not about times"
            lines.append(f"not judged between datasets: {one.name} ({reason}): {', '.join(missing)}")
    return lines


def _refuse_small_margins(compared: Sequence[tuple[Expectation, PlannedComparison]], first: _Side) -> None:
    for one, pair in compared:
        drift_ms, margin_ms = DRIFT_MS.get(one.outcome), compute_margin_ms(one, _pair_arms(one, pair, first)[1])
        if drift_ms is not None and margin_ms is not None and margin_ms < drift_ms:
            problem = f"differences of one build move by about {drift_ms:g} ms from day to day"
            remedy = "run both builds in one plan, or give --any-margin"
            raise ConfigurationError(f"could not check {one.name!r} within {one.bound}: {problem}; {remedy}")


def _judge(one: Expectation, pair: PlannedComparison, sides: tuple[_Side, _Side]) -> CheckResult:
    arms = [_pair_arms(one, pair, side) for side in sides]
    before, after = (subtract_scaled(*each, 0.0, 1.0) for each in arms)
    at_any_look = any(is_sequential(side.plan) for side in sides)
    found = difference_of_medians(after, before, at_any_look=at_any_look)
    margin_ms = compute_margin_ms(one, arms[0][1])
    verdict, reason = Verdict.UNDECIDED, _find_other_noise(one, pair, sides)
    interval = None
    if found.ci_low is not None and found.ci_high is not None:
        interval = Interval(found.ci_low, found.ci_high)
    if interval is not None and margin_ms is not None and reason is None:
        ends = interval
        in_ms = replace(one, margin_ms=margin_ms, margin_percent=None)
        verdict = decide(in_ms, lambda shift_ms, _: Interval(ends.low - shift_ms, ends.high - shift_ms))
    result = CheckResult(
        expectation=one, comparison=pair, verdict=verdict, sentence="", blocks_count=min(len(before), len(after)),
        estimate_ms=found.value, interval_ms=interval, spread_ms=measure_spread(after),
    )  # fmt: skip
    remark = reason or _remark_on_spreads([measure_spread(each) or 0.0 for each in (before, after)])
    return replace(result, sentence=across_sentence(result, (len(before), len(after)), remark))


def _remark_on_spreads(spreads: Sequence[float]) -> str | None:
    """Return a remark when the pairs spread far more in one dataset: a noisier build changes no verdict."""
    if not _differ(spreads):
        return None
    return (
        f"the pairs spread by {_list_spreads(spreads)}: another machine or a noisier build; [[repeat]] tells them apart"
    )


def _pair_arms(one: Expectation, pair: PlannedComparison, side: _Side) -> tuple[Sample, Sample]:
    arms = (side.loads.get(arm.id, []) for arm in (pair.treatment, pair.baseline))
    return pair_samples(find_outcome(one.outcome), *arms)


def _find_other_noise(one: Expectation, pair: PlannedComparison, sides: tuple[_Side, _Side]) -> str | None:
    """Return a reason when equal copies spread far more in one of the datasets; `None` without copies."""
    copies = [_find_copies(pair, side.plan) for side in sides]
    if not all(copies):
        return None
    alike = [_pair_arms(one, each, side) for each, side in zip(copies, sides, strict=True) if each is not None]
    spreads = [measure_spread(subtract_scaled(*each, 0.0, 1.0)) or 0.0 for each in alike]
    if not _differ(spreads):
        return None
    return f"machines differ: equal copies spread by {_list_spreads(spreads)}"


def _differ(spreads: Sequence[float]) -> bool:
    return max(spreads) > NOISE_RATIO * min(spreads)


def _list_spreads(spreads: Sequence[float]) -> str:
    return f"{spreads[0]:.1f} ms in the first dataset, {spreads[1]:.1f} ms in the second"


def _find_copies(pair: PlannedComparison, plan: Plan) -> PlannedComparison | None:
    """Find two equal copies of the reference arm."""
    copies = (one for one in plan.comparisons() if one.kind is ComparisonKind.AA)
    return next((one for one in copies if one.baseline.id == pair.baseline.id), None)


def _warn_of_other_machines(sides: tuple[_Side, _Side]) -> list[str]:
    """Name differences of the machines that may matter."""
    facts = [
        {
            "kernel": one.manifest.machine.kernel,
            "processor": f"{one.manifest.machine.processor}, {one.manifest.machine.cores_count} cores",
        }
        for one in sides
    ]
    found = [
        f"warning: {name} differs: {facts[0][name]}; {facts[1][name]}"
        for name in facts[0]
        if facts[0][name] != facts[1][name]
    ]
    loads = [one.manifest.load_average_start for one in sides]
    if None not in loads and max(loads) > NOISE_RATIO * max(min(loads), 1.0):  # type: ignore[type-var, operator]
        found.append(f"warning: load average at the start differs: {loads[0]:.1f}; {loads[1]:.1f}")
    return found
