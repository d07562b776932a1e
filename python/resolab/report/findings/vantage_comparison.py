"""The plan's comparisons at each of several vantage points, and across them.

For: an estimate with vantage points as the sampling unit; blocks are paired within each. Not for: the work of a fleet
(`fleet`), words.

Instants are never compared between vantage points, only differences measured within a vantage point.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from resolab.plan import Condition, Plan, PlannedComparison
from resolab.report.findings.dataset_plan import is_live
from resolab.report.findings.estimators import choose_estimators
from resolab.report.findings.findings import OutcomeFindings, VantagePointComparison
from resolab.report.findings.interval_level import find_level
from resolab.report.findings.page_loads import group_by_condition, pair_samples
from resolab.stats import Estimate, median_of_clusters
from resolab.store.outcomes import LoadOutcome
from resolab.store.rows import LoadRow


def compare_across_places(
    plan: Plan, loads: Sequence[LoadRow], found: OutcomeFindings, place_of: Mapping[str, str]
) -> list[VantagePointComparison]:
    """Estimate every comparison of an outcome over vantage points; a single vantage point gives an empty list.

    `place_of` maps each trial to its vantage point.
    """
    if len(set(place_of.values())) < 2:
        return []
    of_places = _group_live_places(found) if is_live(plan) else _group_lab_places(plan, loads, found, place_of)
    return [
        VantagePointComparison(*pair, estimates, median_of_clusters(list(estimates.values()), level=find_level(plan)))
        for pair, estimates in of_places.items()
    ]


Pair = tuple[Condition, Condition]


def _group_live_places(found: OutcomeFindings) -> dict[Pair, dict[str, Estimate]]:
    """Group live comparisons by vantage point; on the live network, the vantage point is a level of the condition."""
    grouped: dict[Pair, dict[str, Estimate]] = {}
    first: dict[Pair, Pair] = {}
    for one in found.comparisons:
        treatment, baseline = one.comparison.treatment, one.comparison.baseline
        alike = replace(treatment, profile=""), replace(baseline, profile="")
        pair = first.setdefault(alike, (treatment, baseline))
        grouped.setdefault(pair, {})[treatment.profile] = one.difference_ms
    return grouped


def _group_lab_places(
    plan: Plan, loads: Sequence[LoadRow], found: OutcomeFindings, place_of: Mapping[str, str]
) -> dict[Pair, dict[str, Estimate]]:
    by_place: dict[str, list[LoadRow]] = {}
    for load in loads:
        by_place.setdefault(place_of[load.trial_id], []).append(load)
    grouped = {place: group_by_condition(those) for place, those in by_place.items()}
    return {
        (one.comparison.treatment, one.comparison.baseline): {
            place: _difference(plan, those, one.comparison, found.outcome) for place, those in grouped.items()
        }
        for one in found.comparisons
    }


def _difference(
    plan: Plan, grouped: Mapping[str, Sequence[LoadRow]], one: PlannedComparison, outcome: LoadOutcome
) -> Estimate:
    treatment, baseline = grouped.get(one.treatment.id, []), grouped.get(one.baseline.id, [])
    return choose_estimators(plan).difference(*pair_samples(outcome, treatment, baseline))
