"""The plan's comparisons as estimates, tests corrected for their number, and the noise of A/A copies.

For: `Plan.comparisons()`, paired by block. Not for: every condition against the baseline (`page_loads`), or words.
"""

import math
from collections.abc import Callable, Mapping, Sequence

from resolab.plan import ComparisonKind, Plan, PlannedComparison, stream_seed
from resolab.report.findings.dataset_plan import is_live
from resolab.report.findings.estimators import Estimators, FixedBlockEstimators, choose_estimators
from resolab.report.findings.findings import Noise, PairResult
from resolab.report.findings.interval_level import find_level
from resolab.report.findings.page_loads import group_by_condition, pair_samples
from resolab.stats import Estimate, FalseAlarms, Sample, false_alarms, holm, significant_share
from resolab.store.outcomes import LoadOutcome
from resolab.store.rows import LoadRow


def comparison_results(plan: Plan, loads: Sequence[LoadRow], outcome: LoadOutcome) -> list[PairResult]:
    """Estimate the comparisons named by the plan or, without any, all with the baseline."""
    return _results(plan, loads, [one for one in plan.comparisons() if one.kind is not ComparisonKind.AA], outcome)


def aa_results(plan: Plan, loads: Sequence[LoadRow], outcome: LoadOutcome) -> list[PairResult]:
    """Estimate the A/A comparisons of copies."""
    return _results(plan, loads, [one for one in plan.comparisons() if one.kind is ComparisonKind.AA], outcome)


def summarise_noise(copies: Sequence[PairResult]) -> Noise | None:
    """Summarise the A/A comparisons: the rate of false alarms, and the size of their differences."""
    if not copies:
        return None
    p_values = [one.p_value for one in copies if one.p_value is not None]
    tested = [one.comparison.treatment.first.id for one in copies if one.p_value is not None]
    differences = [_size(one.difference_ms) for one in copies if one.difference_ms.n]
    changes = [_size(one.change) for one in copies if one.change.n]
    return Noise(
        comparisons_count=len(copies),
        conditions_count=len({one.comparison.treatment.first for one in copies}),
        difference_ms=significant_share(p_values, differences, conditions=tested),
        change=significant_share(p_values, changes, conditions=tested),
        by_interval={name: _count_excluding_zero(copies, of) for name, of in _INTERVALS.items()},
    )


def _size(one: Estimate) -> float:
    """Return the estimate's distance from 0; an estimate left open by failed loads counts as infinite."""
    return math.inf if one.value is None else abs(one.value)


_INTERVALS: Mapping[str, Callable[[PairResult], Estimate]] = {
    "paired difference": lambda one: one.difference_ms,
    "Hodges-Lehmann shift": lambda one: one.shift_ms,
    "relative change": lambda one: one.change,
    "Cliff's delta": lambda one: one.delta,
}


def _count_excluding_zero(copies: Sequence[PairResult], of: Callable[[PairResult], Estimate]) -> FalseAlarms:
    """Count the comparisons of copies with an interval excluding the truth, 0, among those with an interval."""
    known = [(one, contains) for one in copies if (contains := of(one).ci_contains_zero) is not None]
    return false_alarms(
        [not contains for _, contains in known], [one.comparison.treatment.first.id for one, _ in known]
    )


def _results(
    plan: Plan, loads: Sequence[LoadRow], comparisons: Sequence[PlannedComparison], outcome: LoadOutcome
) -> list[PairResult]:
    grouped = group_by_condition(loads)
    samples = [
        pair_samples(
            outcome, grouped.get(one.treatment.id, []), grouped.get(one.baseline.id, []), both_failed=not is_live(plan)
        )
        for one in comparisons
    ]
    p_values = [_estimators(plan, one).p_value(*pair) for one, pair in zip(comparisons, samples, strict=True)]
    adjusted = iter(holm([p for p in p_values if p is not None]))
    return [
        _result(plan, one, pair, (p, None if p is None else next(adjusted)), outcome)
        for one, pair, p in zip(comparisons, samples, p_values, strict=True)
    ]


def _result(
    plan: Plan,
    one: PlannedComparison,
    pair: tuple[Sample, Sample],
    p_values: tuple[float | None, float | None],
    outcome: LoadOutcome,
) -> PairResult:
    treatment, baseline = pair
    estimate, seed = _estimators(plan, one), stream_seed(plan.seed, outcome.change_stream, one.id)
    return PairResult(
        comparison=one,
        difference_ms=estimate.difference(treatment, baseline),
        change=estimate.change(treatment, baseline, seed),
        shift_ms=estimate.shift(treatment, baseline),
        delta=estimate.delta(treatment, baseline),
        p_value=p_values[0],
        adjusted_p_value=p_values[1],
    )


def _estimators(plan: Plan, one: PlannedComparison) -> Estimators:
    """Choose the estimators by the plan's stopping rule; copies are not subject to interim analyses."""
    return FixedBlockEstimators(find_level(plan)) if one.kind is ComparisonKind.AA else choose_estimators(plan)
