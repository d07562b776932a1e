"""The fixed-width stopping rule: measure until an interval is as narrow as asked.

For: one decision about one estimate. Not for: carrying a campaign on.

Chow and Robbins 1965: stopping when the interval of width d is reached has, as d becomes small, the interval's level.
"""

from resolab.stats.estimate import Estimate


def width_reached(estimate: Estimate, width: float) -> bool:
    """Whether the estimate has an interval at most `width` wide, in the estimate's own unit."""
    if width <= 0:
        raise ValueError("a width to be reached is greater than 0")
    return estimate.ci_width is not None and estimate.ci_width <= width
