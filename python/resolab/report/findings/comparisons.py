"""The plan's comparisons into estimates, tests corrected for their number, and the noise that A/A copies show.

For: `Plan.comparisons()`, paired by block. Not for: every condition against the baseline (`page_loads`), or words.
"""

from collections.abc import Mapping, Sequence

from resolab.plan import ComparisonKind, Plan, PlannedComparison, stream_seed
from resolab.report.findings.findings import Noise, PairResult
from resolab.report.findings.interval_level import level_of
from resolab.report.findings.page_loads import plt_sample, usable_loads
from resolab.stats import (
    Sample,
    cliffs_delta,
    hodges_lehmann,
    holm,
    paired_difference,
    paired_p_value,
    pairs,
    relative_change,
    significant_share,
)
from resolab.store.rows import LoadRow


def comparison_results(plan: Plan, loads: Sequence[LoadRow]) -> list[PairResult]:
    """Estimate the comparisons the plan names or, without any, all with the baseline."""
    return _results(plan, loads, [one for one in plan.comparisons() if one.kind is not ComparisonKind.AA])


def aa_results(plan: Plan, loads: Sequence[LoadRow]) -> list[PairResult]:
    """Estimate the comparisons of copies."""
    return _results(plan, loads, [one for one in plan.comparisons() if one.kind is ComparisonKind.AA])


def noise_of(copies: Sequence[PairResult]) -> Noise | None:
    """Sum up what copies say: how often nothing looks like something, and how large it then is."""
    if not copies:
        return None
    p_values = [one.p_value for one in copies if one.p_value is not None]
    differences = [one.difference_ms.value for one in copies if one.difference_ms.value is not None]
    changes = [one.change.value for one in copies if one.change.value is not None]
    return Noise(
        comparisons_count=len(copies),
        difference_ms=significant_share(p_values, differences),
        change=significant_share(p_values, changes),
    )


def _results(plan: Plan, loads: Sequence[LoadRow], comparisons: Sequence[PlannedComparison]) -> list[PairResult]:
    by_condition: dict[str, list[LoadRow]] = {}
    for load in usable_loads(loads):
        by_condition.setdefault(load.condition, []).append(load)
    samples = [_pair(one, by_condition) for one in comparisons]
    p_values = [paired_p_value(*pair) for pair in samples]
    adjusted = iter(holm([p for p in p_values if p is not None]))
    return [
        _result(plan, one, pair, p, None if p is None else next(adjusted))
        for one, pair, p in zip(comparisons, samples, p_values, strict=True)
    ]


def _pair(one: PlannedComparison, by_condition: Mapping[str, Sequence[LoadRow]]) -> tuple[Sample, Sample]:
    own, other = by_condition.get(one.treatment.id, []), by_condition.get(one.baseline.id, [])
    treated, compared = pairs([load.block for load in own], [load.block for load in other])
    return plt_sample(own).take(treated), plt_sample(other).take(compared)


def _result(
    plan: Plan, one: PlannedComparison, pair: tuple[Sample, Sample], p: float | None, adjusted: float | None
) -> PairResult:
    treatment, baseline = pair
    level = level_of(plan)
    return PairResult(
        comparison=one,
        difference_ms=paired_difference(treatment, baseline, level=level),
        change=relative_change(treatment, baseline, seed=stream_seed(plan.seed, "change", one.id), level=level),
        shift_ms=hodges_lehmann(treatment, baseline, paired=True, level=level),
        delta=cliffs_delta(treatment, baseline, level=level),
        p_value=p,
        adjusted_p_value=adjusted,
    )
