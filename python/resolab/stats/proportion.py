"""A share of counts, with Wilson's interval.

For: success rates and error classes. Not for: times.
"""

import math

import scipy

from resolab.stats.estimate import Estimate, Method
from resolab.stats.order import LEVEL


def proportion(count: int, total: int, *, level: float = LEVEL) -> Estimate:
    """Estimate a share by Wilson's score interval (1927); without counts there is no share."""
    if not 0 <= count <= total:
        raise ValueError("a share needs a count between 0 and the total")
    if total == 0:
        return Estimate(None, None, None, None, 0, 0, level, Method.NONE)
    share = count / total
    z = float(scipy.stats.norm.ppf((1 + level) / 2))
    scale = 1 + z * z / total
    centre = (share + z * z / (2 * total)) / scale
    half = z * math.sqrt(share * (1 - share) / total + z * z / (4 * total * total)) / scale
    # At 0 and at the total the formula's end is the share itself but for rounding.
    low = 0.0 if count == 0 else centre - half
    high = 1.0 if count == total else centre + half
    return Estimate(share, share, low, high, total, 0, level, Method.WILSON)
