"""Check a plan for enough blocks for an answer, before the run. Not for: the number of needed blocks (`power`)."""

import itertools
import math
from collections.abc import Callable

from resolab.basics.wording import format_count
from resolab.plan import Plan, pool_pages
from resolab.stats import (
    ADJUSTABLE_FROM,
    LEVEL,
    PAIRS_FOR_CHANGE,
    STOPPING_LEVEL,
    Estimate,
    Sample,
    change_at_any_look,
    difference_at_any_look,
    pairs_for_interval,
    pairs_for_quantile,
)


def too_few_blocks(plan: Plan) -> str | None:
    """Return the results not possible with the plan's blocks or pages; `None` when all are possible.

    Each block or page is a pair of every comparison. Only deciding results count; results needing more pairs are named
    beside.
    """
    # A page that is loaded again is no further pair.
    count = min(plan.blocks, len(plan.factors.page)) if plan.samples_pages else plan.blocks
    difference, change = _pairs_needed(plan)
    if count >= change or not pool_pages(plan).comparisons():
        return None
    unit = plan.design.unit
    units = format_count(count, unit)
    if count < difference:
        return (
            f"{units}: too few to tell anything; a difference has an interval from {difference} {unit}s on, "
            f"a relative change from {change}{_further(plan)}"
        )
    return (
        f"{units}: differences have intervals, relative changes have none; those take {change} {unit}s{_further(plan)}"
    )


def _pairs_needed(plan: Plan) -> tuple[int, int]:
    """Return the fewest pairs for an interval of a difference and of a relative change by the plan's rule."""
    if plan.stop is not None and plan.stop.drops_conditions:
        return _first_pairs(difference_at_any_look), _first_pairs(change_at_any_look)
    return pairs_for_interval(LEVEL if plan.stop is None else STOPPING_LEVEL), PAIRS_FOR_CHANGE


def _first_pairs(estimate: Callable[[Sample, Sample], Estimate]) -> int:
    def has_interval(size: int) -> bool:
        # Pairs that all differ, for ties need more.
        treatment, baseline = Sample.exact([100.0 + value for value in range(size)]), Sample.exact([90.0] * size)
        width = estimate(treatment, baseline).ci_width
        return width is not None and math.isfinite(width)

    return next(size for size in itertools.count(1) if has_interval(size))


def _further(plan: Plan) -> str:
    """Return the results needing more pairs without deciding anything; empty for a confidence sequence."""
    if plan.stop is not None and plan.stop.drops_conditions:
        return ""
    median, tenth, last = (pairs_for_quantile(one) for one in (0.5, 0.1, 0.95))
    return f" (an adjusted difference {ADJUSTABLE_FROM}, quantiles {median}, P10 and P90 {tenth}, P95 {last})"
