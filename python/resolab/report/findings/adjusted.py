"""The comparisons of the page load time, adjusted by a part unaffected by the treatment.

For: the adjusted estimate beside the plain estimate. Its assumption is tested, and a contradicted estimate is refused.
Not for: replacing the plain estimate; its arithmetic (`stats.adjusted`), or words.

A page load time is the time to an instant plus a later part. When the treatment has no effect after this instant, two
loads of a pair differ later only by chance. The adjustment removes this random variation.
"""

from collections.abc import Collection, Sequence

import numpy as np

from resolab.plan import ComparisonKind, Plan, PlannedComparison
from resolab.report.findings.interval_level import find_level
from resolab.report.findings.page_loads import group_by_condition, select_contributing
from resolab.report.findings.parts import PARTS, AdjustedComparison, AdjustmentRefusal, LoadTimePart
from resolab.stats import (
    ADJUSTABLE_FROM,
    MOST_VARIANCE_LEFT,
    Sample,
    compute_paired_p_value,
    estimate_adjusted_difference,
    estimate_paired_difference,
    hodges_lehmann,
    pairs,
    variance_ratio,
)
from resolab.store.outcomes import PLT
from resolab.store.rows import LoadRow

SIGNIFICANCE = 0.05


def adjust_comparisons(
    plan: Plan,
    loads: Sequence[LoadRow],
    settled: Collection[str],
    kinds: Collection[ComparisonKind] = (ComparisonKind.PLANNED, ComparisonKind.ALL),
) -> list[AdjustedComparison]:
    """Adjust every comparison by each known part of its loads; `settled` are conditions without late set-ups.

    A plan stopping by confidence sequences has no adjusted estimates: they need a number of blocks fixed in advance.
    """
    if plan.stop is not None and plan.stop.drops_conditions:
        return []
    grouped = group_by_condition(loads)
    found = (
        _adjust(plan, one, part, grouped.get(one.treatment.id, []), grouped.get(one.baseline.id, []))
        for one in plan.comparisons()
        if one.kind in kinds
        for part in PARTS
        if not part.needs_settled or {one.treatment.id, one.baseline.id} <= set(settled)
    )
    return [one for one in found if one is not None]


def _adjust(
    plan: Plan, one: PlannedComparison, part: LoadTimePart, own: Sequence[LoadRow], other: Sequence[LoadRow]
) -> AdjustedComparison | None:
    own, other = select_contributing(PLT, own), select_contributing(PLT, other)
    if any(len({load.block for load in loads}) < len(loads) for loads in (own, other)):
        return None  # Rounds of a page, whose means have no parts.
    treated, compared = pairs([load.block for load in own], [load.block for load in other])
    told = [(own[place], other[against]) for place, against in zip(treated, compared, strict=True)]
    failed = any(load.failure for pair in told for load in pair)
    known = [pair for pair in told if all(_is_told(part, load) for load in pair)]
    if not known:
        return None
    level = find_level(plan)
    plt, instant = (
        np.array([[outcome.value_of_load(load) for load in pair] for pair in known], dtype=np.float64).T
        for outcome in (PLT, part.after)
    )
    after = Sample.exact(plt[0] - instant[0]), Sample.exact(plt[1] - instant[1])
    p_value = compute_paired_p_value(*after)
    differences, parts = plt[0] - plt[1], after[0].low - after[1].low
    adjusted = estimate_adjusted_difference(differences, parts, level=level)
    left = None if failed else variance_ratio(differences, parts, adjusted.value)
    refused = _find_refusal(len(known), left, p_value, failed=failed)
    return AdjustedComparison(
        comparison=one,
        part=part,
        plain_ms=estimate_paired_difference(Sample.exact(plt[0]), Sample.exact(plt[1]), level=level),
        without_part_ms=estimate_paired_difference(Sample.exact(instant[0]), Sample.exact(instant[1]), level=level),
        moved_ms=hodges_lehmann(*after, paired=True, level=level),
        p_value=p_value,
        adjusted_ms=None if refused else adjusted,
        variance_ratio=left,
        refused=refused,
    )


def _is_told(part: LoadTimePart, load: LoadRow) -> bool:
    return load.failure is None and PLT.value_of_load(load) is not None and part.after.value_of_load(load) is not None


def _find_refusal(
    pairs_count: int, left: float | None, p_value: float | None, *, failed: bool
) -> AdjustmentRefusal | None:
    if failed:
        return AdjustmentRefusal.FAILED
    if p_value is not None and p_value <= SIGNIFICANCE:
        return AdjustmentRefusal.MOVED
    if pairs_count < ADJUSTABLE_FROM:
        return AdjustmentRefusal.TOO_FEW
    return AdjustmentRefusal.LITTLE if left is None or left > MOST_VARIANCE_LEFT else None
