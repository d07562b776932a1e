"""The median of paired differences, without the random variation of a part unaffected by the treatment.

For: a narrower interval beside the plain interval (`medians`). Not for: testing for an effect of the treatment on the
part. The adjustment depends on the absence of an effect; callers test for an effect first.

Covariance adjustment of randomised pairs (Rosenbaum 2002; CUPED: Deng, Xu, Kohavi and Walker 2013). Assume a treatment
shifting the outcome and leaving the part alone. Swapping the two loads of a pair then changes only two signs together:
the sign of the outcome's difference minus the shift, and the sign of the part's difference. With a coefficient
unaffected by swaps, the signs of the residuals are fair coins. So the sign test of residuals is exact, although the
coefficient is estimated, and the interval holds every shift not rejected by the test.

The coefficient is the slope of least absolute deviations through the origin (Bloomfield and Steiger 1983), since loads
waiting for seconds would distort other estimates. The coefficient lies between 0 and 1: none of the part, or all of the
part. Estimating the coefficient costs the residual next to 0: n pairs count as n - 1.
"""

import numpy as np

from resolab.stats.estimate import Estimate, Method
from resolab.stats.order import LEVEL, quantile
from resolab.stats.sample import FloatArray, Sample

ADJUSTABLE_FROM = 7
"""Smallest number of pairs: with six, the interval would be a range as for five, with a level of 93.75 %."""
MOST_VARIANCE_LEFT = 0.5
"""Above this remaining share of the variance, the coefficient is a guess, as with 5 s waits or distant modes."""
SHIFTS_COUNT = 1_000
"""Largest number of shifts tried, evenly thinned; up to 25 pairs have at most this number of sign changes."""


def estimate_adjusted_difference(outcome: FloatArray, part: FloatArray, *, level: float = LEVEL) -> Estimate:
    """Estimate the median of the outcome's differences, adjusted by a part's; position i of both is one pair."""
    if outcome.size != part.size or not (np.isfinite(outcome).all() and np.isfinite(part).all()):
        raise ValueError("an adjusted difference needs a known outcome and a known part of each pair")
    size = int(outcome.size)
    if size < ADJUSTABLE_FROM:
        return Estimate(None, None, None, None, size, 0, level, Method.NONE)
    found = quantile(_sort_shifts(outcome, part), 0.5, level=level)
    middle = _middle(found)
    return Estimate(middle, middle, found.ci_low, found.ci_high, size, 0, found.level, Method.ADJUSTED_SIGN)


def variance_ratio(outcome: FloatArray, part: FloatArray, shift: float | None = None) -> float | None:
    """Return the variance of the adjusted differences divided by the variance of the plain differences.

    The coefficient costs one pair (degree of freedom). `shift` is the adjusted difference, if already known.
    """
    if outcome.size < 3 or float(np.ptp(outcome)) == 0:
        return None
    if shift is None:
        shift = _middle(quantile(_sort_shifts(outcome, part), 0.5))
    rest = outcome - coefficients(outcome, part, np.array([shift]))[0] * part
    return float(rest.var(ddof=1)) * (outcome.size - 1) / (outcome.size - 2) / float(outcome.var(ddof=1))


def coefficients(outcome: FloatArray, part: FloatArray, shifts: FloatArray) -> FloatArray:
    """Return the slope of least absolute deviations for each shift, through the origin, from 0 to 1.

    The slope is the median of the pairs' slopes, weighted by the absolute differences of their parts.
    """
    told = part != 0
    if not told.any():
        return np.zeros(shifts.size)
    slopes = (outcome[told] - shifts[:, None]) / part[told]
    order = np.argsort(slopes, axis=1, kind="stable")
    weights = np.cumsum(np.abs(part[told])[order], axis=1)
    middle = np.argmax(weights >= weights[:, -1:] / 2, axis=1)
    rows = np.arange(shifts.size)
    return np.asarray(np.clip(slopes[rows, order[rows, middle]], 0.0, 1.0))


def _middle(found: Estimate) -> float:
    """Return the estimate; when signs alternate, return the middle of the shifts with alternating signs."""
    assert found.low is not None
    assert found.high is not None
    return (found.low + found.high) / 2


def _sort_shifts(outcome: FloatArray, part: FloatArray) -> Sample:
    """Return n - 1 shifts in ascending order, for use as the values of a plain sample.

    At each shift the number of negative residuals grows by one. Each shift has bounds: the first shift with at least
    this number of negative residuals, and the last shift with fewer.
    """
    edges = _edges(outcome, part)
    between = np.concatenate(([edges[0] - 1], (edges[1:] + edges[:-1]) / 2, [edges[-1] + 1]))
    residuals = outcome - between[:, None] - coefficients(outcome, part, between)[:, None] * part
    residuals[np.arange(between.size), np.abs(residuals).argmin(axis=1)] = 0.0
    scale = np.abs(outcome).max() + np.abs(between).max() + 1
    signs = np.where(np.abs(residuals) <= 1e-9 * scale, 0.0, np.sign(residuals)).sum(axis=1)
    count = outcome.size - 1
    negative = (count - signs) / 2
    steps = np.arange(1, count + 1) - 0.5
    first = np.searchsorted(np.maximum.accumulate(negative), steps)
    last = np.searchsorted(np.minimum.accumulate(negative[::-1])[::-1], steps)
    inner = np.clip((first, last), 1, edges.size) - 1
    return Sample(edges[inner].min(axis=0), edges[inner].max(axis=0))


def _edges(outcome: FloatArray, part: FloatArray) -> FloatArray:
    """Return the shifts at possible sign changes.

    With a coefficient of 0 or 1, two residuals are equally far from 0 at a sign change, on opposite sides. With other
    coefficients, the shift is the intercept of a line through two pairs.
    """
    one, other = np.triu_indices(outcome.size)
    run = part[other] - part[one]
    apart = run != 0
    rise = (outcome[other] - outcome[one])[apart] / run[apart]
    rest = outcome - part
    found = (
        (outcome[one] + outcome[other]) / 2,
        (rest[one] + rest[other]) / 2,
        outcome[one][apart] - rise * part[one][apart],
    )
    edges = np.unique(np.concatenate(found))
    if edges.size <= SHIFTS_COUNT:
        return edges
    return np.asarray(edges[np.round(np.linspace(0, edges.size - 1, SHIFTS_COUNT)).astype(int)])
