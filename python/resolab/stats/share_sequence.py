"""Confidence sequence of a share: an interval holding the share simultaneously after every trial.

For: shares of slow or failed trials, looked at after every block. Not for: a number of trials fixed in advance
(`proportion` gives narrower intervals).

For a share p, the likelihood ratio of a mixture of all shares against p is a martingale with mean 1 (Robbins 1970; here
the mixture is Jeffreys' Beta(1/2, 1/2)). Ville's inequality bounds the chance of its ever reaching 1 / (1 - level). The
interval has the shares below this bound. The method needs no approximation and no greatest number of trials.
"""

import math

import scipy

from resolab.stats.order import LEVEL

_STEPS = 60
"""Halvings of the search for an end: below 1e-17 of the range."""


def share_at_any_look(count: int, total: int, *, level: float = LEVEL) -> tuple[float, float]:
    """Return the ends of the interval after `count` of `total` trials; 0 and 1 before the first trial."""
    if not 0 <= count <= total:
        raise ValueError("a share needs a count between 0 and the total")
    if total == 0:
        return 0.0, 1.0
    limit, share = math.log(1 / (1 - level)), count / total
    low = 0.0 if count == 0 else _find_end(count, total, limit, outside=0.0, inside=share)
    high = 1.0 if count == total else _find_end(count, total, limit, outside=1.0, inside=share)
    return low, high


def _find_end(count: int, total: int, limit: float, *, outside: float, inside: float) -> float:
    for _ in range(_STEPS):
        middle = (outside + inside) / 2
        if _log_ratio(count, total, middle) > limit:
            outside = middle
        else:
            inside = middle
    return outside


def _log_ratio(count: int, total: int, share: float) -> float:
    """Return the logarithm of the mixture's likelihood over the share's."""
    others = total - count
    mixture = scipy.special.betaln(count + 0.5, others + 0.5) - scipy.special.betaln(0.5, 0.5)
    own = scipy.special.xlogy(count, share) + scipy.special.xlog1py(others, -share)
    return float(mixture - own)
