"""The level of a report's intervals.

For: one answer for every table, figure and caption of a dataset. Not for: making intervals (`stats`).
"""

from resolab.plan import Plan
from resolab.stats import LEVEL, STOPPING_LEVEL


def level_of(plan: Plan) -> float:
    """Return the level asked of all intervals: a plan that may stop by them has wider ones, as each look may err."""
    return LEVEL if plan.stop is None else STOPPING_LEVEL


def level_of_loads(plan: Plan) -> float:
    """Return the level of page loads' medians, differences and changes: a confidence sequence keeps the usual one."""
    return LEVEL if plan.stop is not None and plan.stop.drops_conditions else level_of(plan)


def significance_of(plan: Plan) -> float:
    """Return at which p of a test something counts as told: as often wrong as the plan's intervals, stopped or not."""
    return round(1 - level_of(plan), 6)


def level_text(level: float) -> str:
    """Print a level, e.g. `95 %`."""
    return f"{level * 100:.3g} %"
