"""Page loads into estimates per condition, and comparisons with the baseline, of any outcome.

For: samples of loads and what every condition has of them. Not for: what a load contributes (`store.outcomes`), or the
estimates' mathematics (`stats`).
"""

from collections.abc import Mapping, Sequence

import numpy as np

from resolab.plan import Condition, Plan, stream_seed
from resolab.report.findings.estimators import estimators_of
from resolab.report.findings.findings import Comparison, ConditionResult
from resolab.report.findings.oracle import Oracle
from resolab.report.findings.planned import is_live
from resolab.stats import Sample, pairs
from resolab.store.outcomes import Load, Outcome, contributions, is_usable
from resolab.store.rows import LoadRow

Grouped = Mapping[str, Sequence[LoadRow]]


def by_condition(loads: Sequence[LoadRow]) -> dict[str, list[LoadRow]]:
    """Sort loads into conditions, in their order."""
    grouped: dict[str, list[LoadRow]] = {}
    for load in loads:
        grouped.setdefault(load.condition, []).append(load)
    return grouped


def sample_of(outcome: Outcome, loads: Sequence[Load]) -> Sample:
    """Return an outcome of loads that contribute to it; one without a value is at least its limit."""
    return Sample.censored(*contributions(outcome, loads))


def contributing(outcome: Outcome, loads: Sequence[LoadRow]) -> list[LoadRow]:
    """Leave out what the instrument lost, and what says nothing about the outcome."""
    return [load for load in loads if outcome.contribution(load) is not None]


def paired_samples(
    outcome: Outcome, own: Sequence[LoadRow], other: Sequence[LoadRow], *, both_failed: bool = True
) -> tuple[Sample, Sample]:
    """Return the outcome of two conditions in the blocks in which both contribute, in the same order.

    Of a page that was loaded in several rounds each value is the mean of those rounds in which both contribute.
    Without `both_failed`, pairs neither of whose loads ended are left out, round by round: where sites are sampled as
    they are found, those that load for nobody say nothing of a difference, and a fifth of them may be such.
    """
    if not both_failed:
        own, other = _where_one_ended(outcome, own, other)
    _, treatment, baseline = paired_blocks(outcome, own, other)
    return treatment, baseline


def paired_blocks(
    outcome: Outcome, own: Sequence[LoadRow], other: Sequence[LoadRow]
) -> tuple[list[int], Sample, Sample]:
    """Return the blocks in which both conditions contribute, and the outcome of each condition there."""
    own, other = _of_shared_rounds(outcome, own, other)
    (own_blocks, own_sample), (other_blocks, other_sample) = by_block(outcome, own), by_block(outcome, other)
    treated, compared = pairs(own_blocks, other_blocks)
    return [own_blocks[place] for place in treated], own_sample.take(treated), other_sample.take(compared)


def unpaired_count(outcome: Outcome, own: Sequence[LoadRow], other: Sequence[LoadRow]) -> int:
    """Count the loads of two conditions that contribute and have no counterpart: no pair holds them."""
    return len(_rounds(outcome, own) ^ _rounds(outcome, other))


def _rounds(outcome: Outcome, loads: Sequence[LoadRow]) -> set[tuple[int, int]]:
    return {(load.block, load.round) for load in contributing(outcome, loads)}


def _of_shared_rounds(
    outcome: Outcome, own: Sequence[LoadRow], other: Sequence[LoadRow]
) -> tuple[list[LoadRow], list[LoadRow]]:
    """Keep the rounds in which both conditions contribute.

    Means of different rounds differ even where conditions do not: the first round of a page is slower than later ones.
    """
    both = _rounds(outcome, own) & _rounds(outcome, other)
    kept = [[load for load in side if (load.block, load.round) in both] for side in (own, other)]
    return kept[0], kept[1]


def _where_one_ended(
    outcome: Outcome, own: Sequence[LoadRow], other: Sequence[LoadRow]
) -> tuple[list[LoadRow], list[LoadRow]]:
    """Leave out the rounds in which neither condition's load has a value."""
    without = [
        {(load.block, load.round) for load in side if (told := outcome.contribution(load)) and told.value_ms is None}
        for side in (own, other)
    ]
    neither = without[0] & without[1]
    kept = [[load for load in side if (load.block, load.round) not in neither] for side in (own, other)]
    return kept[0], kept[1]


def are_of_rounds(loads: Sequence[LoadRow]) -> bool:
    """Whether a page was loaded again: what a block has of a condition is a mean then, and no load."""
    return len({(load.block, load.condition) for load in loads}) < len(loads)


def without_both_failed(treatment: Sample, baseline: Sample) -> tuple[Sample, Sample]:
    """Leave out the pairs of which neither value is known to end."""
    kept = np.flatnonzero(np.isfinite(treatment.high) | np.isfinite(baseline.high))
    return treatment.take(kept.tolist()), baseline.take(kept.tolist())


def by_block(outcome: Outcome, loads: Sequence[LoadRow]) -> tuple[list[int], Sample]:
    """Return the blocks of the loads that contribute, and a value of each.

    Only a page that was sampled and loaded in several rounds has several loads in its block: their mean.
    """
    told = contributing(outcome, loads)
    blocks, sample = [load.block for load in told], sample_of(outcome, told)
    if len(set(blocks)) == len(blocks):
        return blocks, sample
    places: dict[int, list[int]] = {}
    for place, block in enumerate(blocks):
        places.setdefault(block, []).append(place)
    low, high = (np.array([bound[of].mean() for of in places.values()]) for bound in (sample.low, sample.high))
    return list(places), Sample(low, high)


def condition_results(plan: Plan, loads: Sequence[LoadRow], oracle: Oracle, outcome: Outcome) -> list[ConditionResult]:
    """Sum up every condition of the plan, those without any load included."""
    grouped = by_condition(loads)
    results = []
    for condition in plan.conditions():
        baseline = plan.baseline_of(condition)
        comparison = None
        # A copy is compared with its first and nothing else (`comparisons`).
        if baseline != condition and condition.replicate == 1:
            comparison = _compare(plan, condition, grouped, oracle, outcome)
        results.append(_result(plan, condition, grouped.get(condition.id, []), comparison, outcome))
    return results


def _result(
    plan: Plan, condition: Condition, loads: Sequence[LoadRow], comparison: Comparison | None, outcome: Outcome
) -> ConditionResult:
    usable = [load for load in loads if is_usable(load)]
    contributed = (outcome.contribution(load) for load in usable)
    told = [one.value_ms for one in contributed if one is not None and one.value_ms is not None]
    return ConditionResult(
        condition=condition,
        trials_count=len(loads),
        failed_count=sum(load.failure is not None for load in usable),
        unusable_count=len(loads) - len(usable),
        reached_count=sum(load.handshake_mode == load.requested_handshake_mode for load in usable),
        told_count=len(told),
        median_ms=estimators_of(plan).median(by_block(outcome, usable)[1]),
        comparison=comparison,
        range_ms=(min(told), max(told)) if told else None,
    )


def _compare(plan: Plan, condition: Condition, grouped: Grouped, oracle: Oracle, outcome: Outcome) -> Comparison:
    reference, estimate = plan.baseline_of(condition), estimators_of(plan)
    treatment, baseline = paired_samples(
        outcome, grouped.get(condition.id, []), grouped.get(reference.id, []), both_failed=not is_live(plan)
    )
    both = (treatment.low == treatment.high) & (baseline.low == baseline.high)
    seed = stream_seed(plan.seed, outcome.change_stream, condition.id)
    return Comparison(
        baseline=reference,
        difference_ms=estimate.difference(treatment, baseline),
        blocks_ms=tuple(float(value) for value in np.subtract(treatment.low, baseline.low)[both]),
        change=estimate.change(treatment, baseline, seed),
        expected=oracle.where_known(condition, reference),
        shift_ms=estimate.shift(treatment, baseline),
        delta=estimate.delta(treatment, baseline),
    )
