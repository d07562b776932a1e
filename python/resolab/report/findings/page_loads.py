"""Page loads as estimates per condition, and comparisons with the baseline, of any outcome.

For: samples of loads, and the results of each condition. Not for: a load's contribution (`store.outcomes`), or the
estimates' mathematics (`stats`).
"""

from collections.abc import Mapping, Sequence

import numpy as np

from resolab.plan import Condition, Plan, stream_seed
from resolab.report.findings.dataset_plan import is_live
from resolab.report.findings.estimators import choose_estimators
from resolab.report.findings.findings import Comparison, ConditionResult
from resolab.report.findings.oracle import Oracle
from resolab.stats import Sample, pairs
from resolab.store.outcomes import LoadOutcome, LoadWithTimes, contributions, is_usable
from resolab.store.rows import LoadRow

Grouped = Mapping[str, Sequence[LoadRow]]


def group_by_condition(loads: Sequence[LoadRow]) -> dict[str, list[LoadRow]]:
    """Group loads by condition, in their order."""
    grouped: dict[str, list[LoadRow]] = {}
    for load in loads:
        grouped.setdefault(load.condition, []).append(load)
    return grouped


def make_sample(outcome: LoadOutcome, loads: Sequence[LoadWithTimes]) -> Sample:
    """Return an outcome of contributing loads; a load without a value is censored at its limit."""
    return Sample.from_censored(*contributions(outcome, loads))


def select_contributing(outcome: LoadOutcome, loads: Sequence[LoadRow]) -> list[LoadRow]:
    """Return the loads without instrument losses and without loads uninformative about the outcome."""
    return [load for load in loads if outcome.contribution(load) is not None]


def pair_samples(
    outcome: LoadOutcome, own: Sequence[LoadRow], other: Sequence[LoadRow], *, both_failed: bool = True
) -> tuple[Sample, Sample]:
    """Return the outcome of two conditions in the blocks with contributions of both, in the same order.

    For a page loaded in several rounds, each value is the mean of the rounds with contributions of both. Without
    `both_failed`, pairs without an ended load are left out, round by round. Reason: in a sample of arbitrary sites,
    sites failing for all clients give no information about a difference, and may be a fifth of the sample.
    """
    if not both_failed:
        own, other = _where_one_ended(outcome, own, other)
    _, treatment, baseline = pair_blocks(outcome, own, other)
    return treatment, baseline


def pair_blocks(
    outcome: LoadOutcome, own: Sequence[LoadRow], other: Sequence[LoadRow]
) -> tuple[list[int], Sample, Sample]:
    """Return the blocks with contributions of both conditions, and the outcome of each condition there."""
    own, other = _select_shared_rounds(outcome, own, other)
    (own_blocks, own_sample), (other_blocks, other_sample) = (
        sample_by_block(outcome, own),
        sample_by_block(outcome, other),
    )
    treated, compared = pairs(own_blocks, other_blocks)
    return [own_blocks[place] for place in treated], own_sample.take(treated), other_sample.take(compared)


def count_unpaired(outcome: LoadOutcome, own: Sequence[LoadRow], other: Sequence[LoadRow]) -> int:
    """Count the contributing loads of two conditions without a counterpart, and so outside all pairs."""
    return len(_rounds(outcome, own) ^ _rounds(outcome, other))


def _rounds(outcome: LoadOutcome, loads: Sequence[LoadRow]) -> set[tuple[int, int]]:
    return {(load.block, load.round) for load in select_contributing(outcome, loads)}


def _select_shared_rounds(
    outcome: LoadOutcome, own: Sequence[LoadRow], other: Sequence[LoadRow]
) -> tuple[list[LoadRow], list[LoadRow]]:
    """Return the loads of the rounds with contributions of both conditions.

    Means over different rounds differ even for equal conditions: the first round of a page is slower than later rounds.
    """
    both = _rounds(outcome, own) & _rounds(outcome, other)
    kept = [[load for load in side if (load.block, load.round) in both] for side in (own, other)]
    return kept[0], kept[1]


def _where_one_ended(
    outcome: LoadOutcome, own: Sequence[LoadRow], other: Sequence[LoadRow]
) -> tuple[list[LoadRow], list[LoadRow]]:
    """Leave out the rounds without a value in either condition's load."""
    without = [
        {(load.block, load.round) for load in side if (told := outcome.contribution(load)) and told.value_ms is None}
        for side in (own, other)
    ]
    neither = without[0] & without[1]
    kept = [[load for load in side if (load.block, load.round) not in neither] for side in (own, other)]
    return kept[0], kept[1]


def are_of_rounds(loads: Sequence[LoadRow]) -> bool:
    """Return True when a page was loaded repeatedly; a block's value is then a mean instead of a load."""
    return len({(load.block, load.condition) for load in loads}) < len(loads)


def drop_both_failed(treatment: Sample, baseline: Sample) -> tuple[Sample, Sample]:
    """Leave out the pairs without a known end of either value."""
    kept = np.flatnonzero(np.isfinite(treatment.high) | np.isfinite(baseline.high))
    return treatment.take(kept.tolist()), baseline.take(kept.tolist())


def sample_by_block(outcome: LoadOutcome, loads: Sequence[LoadRow]) -> tuple[list[int], Sample]:
    """Return the blocks of the contributing loads, with a value for each block.

    Only a sampled page loaded in several rounds has several loads in its block; the value is then their mean.
    """
    told = select_contributing(outcome, loads)
    blocks, sample = [load.block for load in told], make_sample(outcome, told)
    if len(set(blocks)) == len(blocks):
        return blocks, sample
    places: dict[int, list[int]] = {}
    for place, block in enumerate(blocks):
        places.setdefault(block, []).append(place)
    low, high = (np.array([bound[of].mean() for of in places.values()]) for bound in (sample.low, sample.high))
    return list(places), Sample(low, high)


def condition_results(
    plan: Plan, loads: Sequence[LoadRow], oracle: Oracle, outcome: LoadOutcome
) -> list[ConditionResult]:
    """Summarise every condition of the plan, including conditions without loads."""
    grouped = group_by_condition(loads)
    results = []
    for condition in plan.conditions():
        baseline = plan.find_baseline(condition)
        comparison = None
        # A copy is compared with its first and nothing else (`comparisons`).
        if baseline != condition and condition.replicate == 1:
            comparison = _compare(plan, condition, grouped, oracle, outcome)
        results.append(_result(plan, condition, grouped.get(condition.id, []), comparison, outcome))
    return results


def _result(
    plan: Plan, condition: Condition, loads: Sequence[LoadRow], comparison: Comparison | None, outcome: LoadOutcome
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
        median_ms=choose_estimators(plan).median(sample_by_block(outcome, usable)[1]),
        comparison=comparison,
        range_ms=(min(told), max(told)) if told else None,
    )


def _compare(plan: Plan, condition: Condition, grouped: Grouped, oracle: Oracle, outcome: LoadOutcome) -> Comparison:
    reference, estimate = plan.find_baseline(condition), choose_estimators(plan)
    treatment, baseline = pair_samples(
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
