"""Quantiles with intervals between order statistics: no assumption on the distribution, no resampling.

For: the ranks enclosing a quantile, interpolated to the requested level. Not for: comparisons (`medians`, `shift`).

The number of n values below the quantile q_p is binomial (n, p) for every distribution, so P(x_(r) <= q_p) is known
(Thompson 1936). Nyblom (1992) interpolates between two ranks with levels enclosing the requested level. At the median,
this gives the interval of Hettmansperger and Sheather (1986).
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy

from resolab.stats.estimate import Estimate, Method
from resolab.stats.sample import FloatArray, Sample

LEVEL = 0.95
TOLERANCE = 0.02
"""The range of all values serves as the interval when its level is within this distance of the requested level."""


@dataclass(frozen=True, slots=True)
class _End:
    """An end of an interval, between the values of ranks `rank` and `rank + 1`, from 1; rank 0 for no bound."""

    rank: int
    share: float
    """The fraction of the way towards the inner value."""


def median_interval_ranks(n: int, level: float = LEVEL) -> tuple[int, int]:
    """Return the ranks (from 1) of the narrowest symmetric interval holding the median with at least `level`.

    When even the extremes do not reach the level (below six values at 95 %), the ranks are 0 and n + 1: unbounded.
    """
    low = int(scipy.stats.binom.ppf((1 - level) / 2, n, 0.5)) if n else 0
    if n and scipy.stats.binom.cdf(low - 1, n, 0.5) > (1 - level) / 2 + 1e-12:
        low -= 1
    return low, n + 1 - low


def median_end(size: int, level: float = LEVEL) -> tuple[int, float]:
    """Return the rank (from 1; 0: no end) of a median interval's lower end, and the fraction towards the next."""
    end = _end(size, 0.5, (1 - level) / 2)
    if size and end.rank <= 1 and abs(1 - 2 * 0.5**size - level) <= TOLERANCE:
        return 1, 0.0
    return end.rank, end.share


def quantile(sample: Sample, probability: float, *, level: float = LEVEL) -> Estimate:
    """Estimate a quantile; a number while the values around it are known, a bound when they are censored.

    With too few values for an upper (or lower) end, this end is infinite, and the other end gets the whole error
    probability.
    """
    if not 0 < probability < 1:
        raise ValueError("a quantile's probability lies between 0 and 1")
    size = len(sample)
    if size == 0:
        return Estimate(None, None, None, None, 0, 0, level, Method.NONE)
    lows, highs = np.sort(sample.low), np.sort(sample.high)
    low, high = _middle(lows, highs, probability)
    ci_low, ci_high, reached, method = interval(lows, highs, probability, level)
    return Estimate(low, high, ci_low, ci_high, size, sample.censored_count, reached, method)


def interval(
    lows: FloatArray, highs: FloatArray, probability: float, level: float
) -> tuple[float | None, float | None, float, Method]:
    """Return the interval of a quantile between sorted bounds, with the reached level and the method."""
    tail = (1 - level) / 2
    below, above = _end(lows.size, probability, tail), _end(highs.size, 1 - probability, tail)
    reached = 1 - float((1 - probability) ** lows.size + probability**lows.size)
    if below.rank <= 1 and above.rank <= 1 and abs(reached - level) <= TOLERANCE:
        # The range needs no interpolation, which is at its worst between the two outermost values.
        return float(lows[0]), float(highs[-1]), reached, Method.RANGE
    if below.rank and above.rank:
        return _value(lows, below, -np.inf), -_value(-highs[::-1], above, -np.inf), level, Method.ORDER_STATISTIC
    below, above = _end(lows.size, probability, 2 * tail), _end(highs.size, 1 - probability, 2 * tail)
    if bool(below.rank) == bool(above.rank):
        return None, None, level, Method.NONE
    if below.rank:
        return _value(lows, below, -np.inf), np.inf, level, Method.ORDER_STATISTIC
    return -np.inf, -_value(-highs[::-1], above, -np.inf), level, Method.ORDER_STATISTIC


@lru_cache(maxsize=4096)
def _end(size: int, probability: float, tail: float) -> _End:
    """Find the lower end lying above the quantile with probability `tail`, by Nyblom's interpolation."""
    # x_(r) > q_p happens when fewer than r values lie at or below q_p.
    rank = int(scipy.stats.binom.ppf(tail, size, probability))
    above = float(scipy.stats.binom.cdf(rank - 1, size, probability))
    if rank and above > tail:
        rank -= 1
        above = float(scipy.stats.binom.cdf(rank - 1, size, probability))
    if rank == 0 or rank >= size:
        return _End(min(rank, size), 0.0)
    next_above = float(scipy.stats.binom.cdf(rank, size, probability))
    part = (tail - above) / (next_above - above)
    if part <= 0:
        return _End(rank, 0.0)
    return _End(rank, 1 / (1 + rank * (1 - probability) * (1 - part) / ((size - rank) * probability * part)))


def _value(ordered: FloatArray, end: _End, unbounded: float) -> float:
    """Read an end off ordered values; between a number and infinity, take the outer value."""
    if end.rank == 0:
        return unbounded
    outer = float(ordered[end.rank - 1])
    if end.share == 0 or not np.isfinite(outer):
        return outer
    inner = float(ordered[end.rank])
    return outer + end.share * (inner - outer) if np.isfinite(inner) else outer


def _middle(lows: FloatArray, highs: FloatArray, probability: float) -> tuple[float, float]:
    """Return the sample quantile (Hyndman and Fan's type 7); for neighbours with bounds, return the outer bounds."""
    low, high = (float(np.quantile(values, probability, method="lower")) for values in (lows, highs))
    next_low, next_high = (float(np.quantile(values, probability, method="higher")) for values in (lows, highs))
    if low == high and next_low == next_high and np.isfinite([low, next_low]).all():
        number = low if low == next_low else float(np.quantile(lows, probability))
        return number, number
    return low, next_high
