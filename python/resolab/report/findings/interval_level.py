"""The level of a report's intervals.

For: a common level for every table, figure and caption of a dataset. Not for: making intervals (`stats`).
"""

from resolab.plan import Plan
from resolab.stats import LEVEL, STOPPING_LEVEL


def find_level(plan: Plan) -> float:
    """Return the level of all intervals; a plan able to stop by its intervals has wider ones, as each look may err."""
    return LEVEL if plan.stop is None else STOPPING_LEVEL


def level_of_loads(plan: Plan) -> float:
    """Return the level of page loads' medians, differences and changes; a confidence sequence keeps the usual level."""
    return LEVEL if plan.stop is not None and plan.stop.drops_conditions else find_level(plan)


def find_significance(plan: Plan) -> float:
    """Return the significance level of tests, with the error rate of the plan's intervals, stopped or not."""
    return round(1 - find_level(plan), 6)


def level_text(level: float) -> str:
    """Format a level, e.g. `95 %`."""
    return f"{level * 100:.3g} %"
