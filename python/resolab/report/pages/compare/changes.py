"""The changes between two datasets, condition by condition, tested against noise.

For: the numbers of `resolab compare A B`; B against A. Not for: showing them (`text`), or a single dataset.

The datasets have no blocks in common, so their samples are compared without pairs; within each, effects stay paired by
block.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from resolab.basics.errors import ConfigurationError
from resolab.plan import Plan
from resolab.report.findings.dataset_plan import is_live, read_plan
from resolab.report.findings.estimators import choose_estimators
from resolab.report.findings.page_loads import group_by_condition, pair_samples, sample_by_block, select_contributing
from resolab.report.pages.compare.circumstances import FactDifference, list_fact_differences
from resolab.stats import (
    Estimate,
    Sample,
    SignificantShare,
    change_of_medians,
    cliffs_delta,
    compute_paired_p_value,
    hodges_lehmann,
    holm,
    median,
    significant_share,
    subtract_pairs,
    two_sample_p_value,
)
from resolab.store import Dataset
from resolab.store.outcomes import PLT, LoadOutcome
from resolab.store.rows import LoadRow

SIGNIFICANCE = 0.05
Loads = Mapping[str, Sequence[LoadRow]]


@dataclass(frozen=True, slots=True)
class ConditionChange:
    """The results of a condition in both datasets; every change is B minus A, or B over A."""

    condition: str
    loads_count: tuple[int, int]
    failed_count: tuple[int, int]
    median_ms: tuple[Estimate, Estimate]
    change: Estimate
    shift_ms: Estimate
    delta: Estimate
    p_value: float | None
    holm_p_value: float | None = None

    @property
    def significant(self) -> bool:
        """Return True when the change is significant after correction over all conditions."""
        return self.holm_p_value is not None and self.holm_p_value <= SIGNIFICANCE


@dataclass(frozen=True, slots=True)
class EffectChange:
    """A condition against its baseline in both datasets, and the change of this effect."""

    condition: str
    baseline: str
    effect_ms: tuple[Estimate, Estimate]
    shift_ms: Estimate
    p_value: float | None
    holm_p_value: float | None = None

    @property
    def significant(self) -> bool:
        """Return True when the effect's change is significant after correction over all effects."""
        return self.holm_p_value is not None and self.holm_p_value <= SIGNIFICANCE


@dataclass(frozen=True, slots=True)
class DatasetComparison:
    """The whole content of `resolab compare`."""

    dataset_ids: tuple[str, str]
    outcome: LoadOutcome
    conditions: Sequence[ConditionChange]
    only: tuple[Sequence[str], Sequence[str]]
    effects: Sequence[EffectChange]
    ground: Sequence[FactDifference]
    noise: SignificantShare
    """The A/A comparisons of both datasets together; n = 0 without any."""
    stopped: bool
    """True when a dataset's results decided its number of blocks; the p-values here assume a fixed number."""


def compare_datasets(first: Dataset, second: Dataset, outcome: LoadOutcome = PLT) -> DatasetComparison:
    """Compare an outcome of the second dataset with the first dataset."""
    plans = (read_plan(first), read_plan(second))
    loads = (_loads(first, outcome), _loads(second, outcome))
    common = [name for name in loads[0] if name in loads[1]]
    return DatasetComparison(
        dataset_ids=(first.manifest.dataset_id, second.manifest.dataset_id),
        outcome=outcome,
        conditions=_correct([_change(name, plans, loads, outcome) for name in common]),
        only=(
            [name for name in loads[0] if name not in loads[1]],
            [name for name in loads[1] if name not in loads[0]],
        ),
        effects=_correct_effects(_effects(plans, loads, outcome)),
        ground=list_fact_differences((first, second), plans),
        noise=_noise(plans, loads, outcome),
        stopped=any(plan.stop is not None for plan in plans),
    )


def _loads(dataset: Dataset, outcome: LoadOutcome) -> Loads:
    """Read the loads contributing to the outcome; a condition without contributing loads is included."""
    loads = dataset.measured_loads()
    if not loads:
        raise ConfigurationError(f"failed to compare {dataset.folder}: it has no finished trial; resume its run first")
    if outcome != PLT and not any(outcome.value_of_load(load) is not None for load in loads):
        problem = f"none of its loads has {outcome.name}"
        raise ConfigurationError(f"failed to compare {dataset.folder}: {problem}; choose another outcome")
    return {
        condition: select_contributing(outcome, own) for condition, own in sorted(group_by_condition(loads).items())
    }


def _change(
    condition: str, plans: tuple[Plan, Plan], loads: tuple[Loads, Loads], outcome: LoadOutcome
) -> ConditionChange:
    """Compare a condition's blocks; a page loaded in several rounds gives a single value."""
    before, after = (each[condition] for each in loads)
    one, other = (sample_by_block(outcome, each)[1] for each in (before, after))
    return ConditionChange(
        condition=condition,
        loads_count=(len(before), len(after)),
        failed_count=(_count_failed(before), _count_failed(after)),
        median_ms=(choose_estimators(plans[0]).median(one), choose_estimators(plans[1]).median(other)),
        change=change_of_medians(other, one),
        shift_ms=hodges_lehmann(other, one),
        delta=cliffs_delta(other, one),
        p_value=two_sample_p_value(other, one),
    )


def smallest_p_value(first: int, second: int) -> float:
    """Return the p of two samples without overlap, the smallest p of any rank test."""
    return min(1.0, 2 / math.comb(first + second, first))


def _count_failed(loads: Sequence[LoadRow]) -> int:
    return sum(load.failure is not None for load in loads)


def _correct(changes: Sequence[ConditionChange]) -> list[ConditionChange]:
    adjusted = iter(holm([one.p_value for one in changes if one.p_value is not None]))
    return [one if one.p_value is None else replace(one, holm_p_value=next(adjusted)) for one in changes]


def _effects(plans: tuple[Plan, Plan], loads: tuple[Loads, Loads], outcome: LoadOutcome) -> list[EffectChange]:
    """Compare the comparisons present in both plans."""
    found = []
    second_has = {(one.treatment.id, one.baseline.id) for one in plans[1].comparisons() if one.kind != "aa"}
    wanted = ((one.treatment.id, one.baseline.id) for one in plans[0].comparisons() if one.kind != "aa")
    for name, baseline in dict.fromkeys(wanted):
        known = all(name in each and baseline in each for each in loads)
        if (name, baseline) not in second_has or not known:
            continue
        pairs = [_pairs(plan, each, (name, baseline), outcome) for plan, each in zip(plans, loads, strict=True)]
        first, second = (subtract_pairs(*one) for one in pairs)
        effects = [choose_estimators(plan).difference(*one) for plan, one in zip(plans, pairs, strict=True)]
        found.append(
            EffectChange(
                condition=name,
                baseline=baseline,
                effect_ms=(effects[0], effects[1]),
                shift_ms=hodges_lehmann(second, first),
                p_value=two_sample_p_value(second, first),
            )
        )
    return found


def _pairs(plan: Plan, loads: Loads, conditions: tuple[str, str], outcome: LoadOutcome) -> tuple[Sample, Sample]:
    own, other = (loads[one] for one in conditions)
    return pair_samples(outcome, own, other, both_failed=not is_live(plan))


def _correct_effects(effects: Sequence[EffectChange]) -> list[EffectChange]:
    adjusted = iter(holm([one.p_value for one in effects if one.p_value is not None]))
    return [one if one.p_value is None else replace(one, holm_p_value=next(adjusted)) for one in effects]


def _noise(plans: tuple[Plan, Plan], loads: tuple[Loads, Loads], outcome: LoadOutcome) -> SignificantShare:
    """Summarise the A/A comparisons of copies in both datasets."""
    p_values, differences, conditions = [], [], []
    for place, (plan, each) in enumerate(zip(plans, loads, strict=True)):
        for one in plan.comparisons():
            if one.kind != "aa" or one.treatment.id not in each or one.baseline.id not in each:
                continue
            treatment, baseline = _pairs(plan, each, (one.treatment.id, one.baseline.id), outcome)
            p, middle = (
                compute_paired_p_value(treatment, baseline),
                median(subtract_pairs(treatment, baseline), seed=0).value,
            )
            if p is not None and middle is not None:
                p_values.append(p)
                differences.append(middle)
                conditions.append(f"{place}/{one.treatment.first.id}")
    return significant_share(p_values, differences, conditions=conditions)
