"""The growth of a difference with a quantity varied within each block, mainly the round-trip time.

For: the cost of a treatment in round trips, as a single number over all networks. Not for: the differences at each
level (`medians`).

Each block has the slope of Theil (1950) and Sen (1968) through its differences: the median of the slopes between all
pairs of levels, robust to a single outlying load. The blocks' slopes are independent of each other. So their median and
its interval between order statistics need no further assumptions (`order`).
"""

from collections.abc import Sequence

import numpy as np

from resolab.stats.estimate import Estimate, Method
from resolab.stats.medians import median
from resolab.stats.order import LEVEL
from resolab.stats.sample import Sample

Bounds = tuple[float, float]
Points = Sequence[tuple[float, Bounds]]
"""Levels with the bounds of their values; several points may share a level."""
LEVELS_NEEDED = 3
"""Two points always fit a line exactly."""


def slope_over_blocks(blocks: Sequence[Points], *, level: float = LEVEL) -> Estimate:
    """Estimate the slope; each block has the bounds of a difference by level, and counts with enough levels."""
    slopes = [_slope(one) for one in blocks if _has_enough(one)]
    if not slopes:
        return Estimate(None, None, None, None, 0, 0, level, Method.NONE)
    lows, highs = np.array(slopes, dtype=np.float64).T
    return median(Sample(lows, highs), level=level)


def compute_slope(points: Sequence[tuple[float, float]]) -> float | None:
    """Return the slope through known points."""
    known = [(level, (value, value)) for level, value in points]
    return _slope(known)[0] if _has_enough(known) else None


def _has_enough(points: Points) -> bool:
    return len({level for level, _ in points}) >= LEVELS_NEEDED


def _slope(points: Points) -> Bounds:
    """Return the bounds of the median of all slopes between two levels; they rise with each later value's bounds.

    Two points on the same level have no slope between them (Sen 1968); each has slopes with the points of other levels.
    """
    in_order = sorted(points)
    lows, highs = [], []
    for position, (first, (first_low, first_high)) in enumerate(in_order):
        for second, (second_low, second_high) in in_order[position + 1 :]:
            if run := second - first:
                lows.append(_rise(second_low, first_high, -np.inf) / run)
                highs.append(_rise(second_high, first_low, np.inf) / run)
    low = float(np.quantile(lows, 0.5, method="lower"))
    high = float(np.quantile(highs, 0.5, method="higher"))
    if lows == highs and np.isfinite(lows).all():
        low = high = float(np.median(lows))
    return low, high


def _rise(later: float, earlier: float, unknown: float) -> float:
    """Subtract; the difference of two equal infinities becomes `unknown`."""
    both_infinite = not np.isfinite(later) and later == earlier
    return unknown if both_infinite else later - earlier
