"""Two outcomes of the same loads beside each other, and their difference within each load.

For: a sum beside the corresponding load time; for a page loaded in several rounds, the first round counts. Not for:
comparing conditions (`page_loads`).
"""

from collections.abc import Sequence

from resolab.plan import Plan
from resolab.report.findings.estimators import Estimators, choose_estimators
from resolab.report.findings.findings import OutcomeComparison
from resolab.report.findings.page_loads import group_by_condition, make_sample, select_contributing
from resolab.stats import Sample
from resolab.store.outcomes import LoadOutcome
from resolab.store.rows import LoadRow


def compare_outcomes(
    plan: Plan, loads: Sequence[LoadRow], outcome: LoadOutcome, other: LoadOutcome
) -> dict[str, OutcomeComparison]:
    """Compare an outcome with another in the loads contributing to it, by condition; a failed load is in both."""
    return {
        condition: _compare_within(select_contributing(other, own), outcome, other, choose_estimators(plan))
        for condition, own in group_by_condition(select_contributing(outcome, loads)).items()
    }


def _compare_within(
    loads: Sequence[LoadRow], outcome: LoadOutcome, other: LoadOutcome, estimate: Estimators
) -> OutcomeComparison:
    loads = list({load.block: load for load in reversed(loads)}.values())[::-1]
    told = [(outcome.value_of_load(load), other.value_of_load(load)) for load in loads if not load.failure]
    both = [(one, another) for one, another in told if one is not None and another is not None]
    return OutcomeComparison(
        other_ms=estimate.median(make_sample(other, loads)),
        difference_ms=estimate.difference(
            Sample.exact([one for one, _ in both]), Sample.exact([another for _, another in both])
        ),
    )
