"""The comparisons of a plan without named comparisons: every condition against its baseline, each with a test.

For: p-values beside the estimates of `page_loads`, corrected for their number. Not for: comparisons named by a plan, or
copies (`comparisons`).
"""

from collections.abc import Sequence

from resolab.plan import ComparisonKind, Plan, PlannedComparison
from resolab.report.findings.dataset_plan import is_live
from resolab.report.findings.estimators import choose_estimators
from resolab.report.findings.findings import Comparison, ConditionResult, PairResult
from resolab.report.findings.page_loads import group_by_condition, pair_samples
from resolab.stats import holm
from resolab.store.outcomes import LoadOutcome
from resolab.store.rows import LoadRow


def baseline_results(
    plan: Plan, loads: Sequence[LoadRow], outcome: LoadOutcome, conditions: Sequence[ConditionResult]
) -> list[PairResult]:
    """Add p-values to the conditions' comparisons, plain and after Holm's correction over all of them."""
    results = {one.condition.id: one.comparison for one in conditions}
    planned = [one for one in plan.comparisons() if one.kind is ComparisonKind.ALL]
    pairs = [(one, found) for one in planned if (found := results.get(one.treatment.id)) is not None]
    grouped = group_by_condition(loads)
    test = choose_estimators(plan).p_value
    p_values = [
        test(
            *pair_samples(
                outcome,
                grouped.get(one.treatment.id, []),
                grouped.get(one.baseline.id, []),
                both_failed=not is_live(plan),
            )
        )
        for one, _ in pairs
    ]
    adjusted = iter(holm([p for p in p_values if p is not None]))
    return [
        _result(one, found, p, None if p is None else next(adjusted))
        for (one, found), p in zip(pairs, p_values, strict=True)
    ]


def _result(one: PlannedComparison, found: Comparison, p: float | None, adjusted: float | None) -> PairResult:
    assert found.shift_ms is not None
    assert found.delta is not None
    return PairResult(
        comparison=one,
        difference_ms=found.difference_ms,
        change=found.change,
        shift_ms=found.shift_ms,
        delta=found.delta,
        p_value=p,
        adjusted_p_value=adjusted,
    )
