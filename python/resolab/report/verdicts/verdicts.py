"""The verdict of each expectation of a dataset, with the numbers behind it.

For: pure functions from a plan and its trials to verdicts. Not for: the decisions (`checks.decision`), reading datasets
(`dataset_check`) or the forms of verdicts (`forms`).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from resolab.campaign.checks.assumptions import find_doubts
from resolab.campaign.checks.decision import (
    IntervalRule,
    Verdict,
    interval_at_any_look,
    interval_of_fixed_blocks,
    judge_failures,
    judge_share,
    judge_times,
    subtract_scaled,
)
from resolab.plan import ComparisonKind, Plan, PlannedComparison
from resolab.plan.expectation import TIME_KINDS, Expectation, ExpectationKind
from resolab.report.findings.page_loads import group_by_condition, pair_blocks, pair_samples
from resolab.report.verdicts.check_result import CheckResult
from resolab.report.verdicts.evidence import count_tails, estimate_blocks_needed, list_treatment_second
from resolab.report.verdicts.sentences import share_sentence, time_sentence
from resolab.stats import (
    Estimate,
    PowerRule,
    Sample,
    difference_at_any_look,
    estimate_paired_difference,
    measure_spread,
)
from resolab.store.outcomes import find_outcome, is_usable
from resolab.store.rows import LoadRow

TRUE_FOR_COPIES = (ExpectationKind.NOT_SLOWER_THAN, ExpectationKind.EQUIVALENT_WITHIN)
"""The kinds of expectations that hold for equal copies, so that "not met" is a false alarm."""


def is_sequential(plan: Plan) -> bool:
    """Return True when the data decide about the number of blocks."""
    return plan.stop is not None


def check_expectations(plan: Plan, loads: Sequence[LoadRow], *, is_complete: bool) -> list[CheckResult]:
    """Judge every expectation of every comparison; `is_complete` when no trial is left to run."""
    grouped = group_by_condition(loads)
    conditions = plan.conditions()
    checks = [
        (one, pair) for one in plan.expectations for pair in one.list_comparisons(conditions, plan.find_with_levels)
    ]
    times_count = sum(one.kind in TIME_KINDS for one, _ in checks)
    return [_check(plan, one, pair, grouped, times_count, is_complete=is_complete) for one, pair in checks]


def check_copies(plan: Plan, loads: Sequence[LoadRow]) -> Counter[Verdict]:
    """Judge expectations on each pair of equal copies, and count the verdicts; no copy is faster than another."""
    grouped = group_by_condition(loads)
    copies = [pair for pair in plan.comparisons() if pair.kind is ComparisonKind.AA]
    times = [one for one in plan.expectations if one.kind in TRUE_FOR_COPIES]
    interval_of = _choose_intervals(plan)
    return Counter(judge_times(one, *_pair_arms(one, pair, grouped), interval_of) for one in times for pair in copies)


def _check(
    plan: Plan,
    one: Expectation,
    pair: PlannedComparison,
    grouped: Mapping[str, Sequence[LoadRow]],
    times_count: int,
    *,
    is_complete: bool,
) -> CheckResult:
    own, other = (grouped.get(arm.id, []) for arm in (pair.treatment, pair.baseline))
    if one.kind in TIME_KINDS:
        return _check_time(plan, one, pair, (own, other), times_count)
    usable = [load for load in own if is_usable(load)]
    if one.kind is ExpectationKind.FAILURES_AT_MOST:
        return _check_failures(one, pair, usable, is_complete=is_complete)
    return _check_share(one, pair, usable)


def _check_time(
    plan: Plan,
    one: Expectation,
    pair: PlannedComparison,
    arms: tuple[Sequence[LoadRow], Sequence[LoadRow]],
    checks_count: int,
) -> CheckResult:
    own, other = arms
    blocks, treatment, baseline = pair_blocks(find_outcome(one.outcome), own, other)
    interval_of = _choose_intervals(plan)
    rule = PowerRule(at_any_look=is_sequential(plan))
    differences = subtract_scaled(treatment, baseline, 0.0, 1.0)
    interval, verdict = interval_of(differences), judge_times(one, treatment, baseline, interval_of)
    undecided = verdict is Verdict.UNDECIDED and not interval.contradicts_itself
    spread_ms = measure_spread(differences)
    found = CheckResult(
        expectation=one, comparison=pair, verdict=verdict, sentence="", blocks_count=len(treatment),
        estimate_ms=_estimate(plan, treatment, baseline).value, interval_ms=interval, spread_ms=spread_ms,
        tail_counts=count_tails(differences, spread_ms),
        doubts=find_doubts(differences, list_treatment_second(blocks, own, other), checks_count),
        looks_count=1 if plan.stop is None else plan.stop.count_looks(blocks[-1] + 1 if blocks else 0),
        blocks_needed=estimate_blocks_needed(one, treatment, baseline, rule, plan.seed) if undecided else None,
        failures_count=sum(load.failure is not None for load in (*own, *other) if is_usable(load)),
    )  # fmt: skip
    return replace(found, sentence=time_sentence(found))


def _pair_arms(
    one: Expectation, pair: PlannedComparison, grouped: Mapping[str, Sequence[LoadRow]]
) -> tuple[Sample, Sample]:
    arms = (grouped.get(arm.id, []) for arm in (pair.treatment, pair.baseline))
    return pair_samples(find_outcome(one.outcome), *arms)


def _choose_intervals(plan: Plan) -> IntervalRule:
    return interval_at_any_look if is_sequential(plan) else interval_of_fixed_blocks


def _estimate(plan: Plan, treatment: Sample, baseline: Sample) -> Estimate:
    if is_sequential(plan):
        return difference_at_any_look(treatment, baseline)
    return estimate_paired_difference(treatment, baseline)


def _check_failures(
    one: Expectation, pair: PlannedComparison, usable: Sequence[LoadRow], *, is_complete: bool
) -> CheckResult:
    count = sum(load.failure is not None for load in usable)
    verdict = judge_failures(one, count, is_complete=is_complete)
    sentence = f"{count} of {len(usable)} failed, bound {one.failures_count}"
    return CheckResult(one, pair, verdict, sentence, len(usable), failures_count=count)


def _check_share(one: Expectation, pair: PlannedComparison, usable: Sequence[LoadRow]) -> CheckResult:
    contributed = (find_outcome(one.outcome).contribution(load) for load in usable)
    values_ms = [told.value_ms for told in contributed if told is not None]
    found = judge_share(one, values_ms)
    return CheckResult(
        one, pair, found.verdict, share_sentence(one, found, len(values_ms)), len(values_ms),
        share=found.slow_count / len(values_ms) if values_ms else None, share_interval=found.interval,
        failures_count=sum(load.failure is not None for load in usable),
    )  # fmt: skip
