"""Medians, intervals and tests as textbooks have them, in plain Python: no arrays, nothing of `resolab.stats`.

For: samples whose values are known within bounds. Not for: what is resampled (relative changes have no interval here).
"""

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist, median

Bounds = tuple[float, float]
INFINITY = math.inf


@dataclass(frozen=True)
class Found:
    """A number within bounds, its interval, and how many values it is of."""

    low: float | None
    high: float | None
    ci_low: float | None
    ci_high: float | None
    n: int
    bounds_count: int

    @property
    def value(self) -> float | None:
        """The number, where it is one."""
        return self.low if self.low is not None and self.low == self.high and math.isfinite(self.low) else None


def minus(one: Bounds, other: Bounds) -> Bounds:
    """Subtract; of two infinities nothing is known."""
    low, high = one[0] - other[1], one[1] - other[0]
    return (-INFINITY if math.isnan(low) else low), (INFINITY if math.isnan(high) else high)


def mean(values: Sequence[Bounds]) -> Bounds:
    """Average the bounds."""
    return sum(low for low, _ in values) / len(values), sum(high for _, high in values) / len(values)


def middle(values: Sequence[Bounds]) -> Bounds:
    """Return the median of values within bounds: a number, where the values in the middle are known."""
    lows, highs = sorted(low for low, _ in values), sorted(high for _, high in values)
    left, right = (len(values) - 1) // 2, len(values) // 2
    known = (lows[left], lows[right]) == (highs[left], highs[right]) and math.isfinite(lows[left] + lows[right])
    if known:
        return median(lows), median(lows)
    return lows[left], highs[right]


def median_of(values: Sequence[Bounds], level: float) -> Found:
    """Estimate a median with the interval of Hettmansperger and Sheather (1986)."""
    count = sum(low != high or not math.isfinite(low) for low, high in values)
    if not values:
        return Found(None, None, None, None, 0, 0)
    lows, highs = sorted(low for low, _ in values), sorted(high for _, high in values)
    downwards = [-one for one in reversed(highs)]
    low, high = middle(values)
    tail = (1 - level) / 2
    end = _median_end(len(values), tail)
    if end[0] <= 1 and abs(1 - 2 * 0.5 ** len(values) - level) <= 0.02:
        return Found(low, high, lows[0], highs[-1], len(values), count)
    if end[0]:
        return Found(low, high, _at(lows, end), -_at(downwards, end), len(values), count)
    # One end alone, which then has the whole of the error, cannot be of a median: both sides are alike.
    return Found(low, high, None, None, len(values), count)


def _median_end(size: int, tail: float) -> tuple[int, float]:
    """Return between which two ranks the lower end lies, and how far it goes towards the second."""
    below = [sum(math.comb(size, heads) for heads in range(rank)) / 2**size for rank in range(size + 1)]
    rank = max(rank for rank in range(size + 1) if below[rank] <= tail)
    if rank == 0 or rank >= size:
        return min(rank, size), 0.0
    part = (tail - below[rank]) / (below[rank + 1] - below[rank])
    return rank, 0.0 if part <= 0 else 1 / (1 + rank * (1 - part) / ((size - rank) * part))


def _at(ordered: Sequence[float], end: tuple[int, float]) -> float:
    rank, share = end
    outer = ordered[rank - 1]
    if not share or not math.isfinite(outer) or not math.isfinite(ordered[rank]):
        return outer
    return outer + share * (ordered[rank] - outer)


def shift_of(values: Sequence[Bounds], level: float) -> Found:
    """Estimate the shift of Hodges and Lehmann with the interval of Tukey (1949): between Walsh averages."""
    if not values:
        return Found(None, None, None, None, 0, 0)
    count = sum(low != high or not math.isfinite(low) for low, high in values)
    both = list(itertools.combinations_with_replacement(values, 2))
    lows = sorted(_average(one[0], other[0], -INFINITY) for one, other in both)
    highs = sorted(_average(one[1], other[1], INFINITY) for one, other in both)
    low, high = middle_of_sorted(lows, highs)
    sums = signed_rank_sums(len(values))
    tail = (1 - level) / 2
    ends = (_signed_rank_end(lows, sums, tail), _signed_rank_end([-one for one in reversed(highs)], sums, tail))
    if ends[0] is None or ends[1] is None:
        return Found(low, high, None, None, len(values), count)
    return Found(low, high, ends[0], -ends[1], len(values), count)


def _average(one: float, other: float, unknown: float) -> float:
    found = one / 2 + other / 2
    return unknown if math.isnan(found) else found


def middle_of_sorted(lows: Sequence[float], highs: Sequence[float]) -> Bounds:
    """Return the median of bounds that were sorted apart."""
    left, right = (len(lows) - 1) // 2, len(lows) // 2
    if list(lows) == list(highs) and math.isfinite(lows[left] + lows[right]):
        return median(lows), median(lows)
    return lows[left], highs[right]


def signed_rank_sums(size: int) -> list[float]:
    """Return the chance of at most each sum of those of the ranks 1 to n whose coin shows heads."""
    ways = Counter({0: 1})
    for rank in range(1, size + 1):
        ways += Counter({total + rank: count for total, count in ways.items()})
    reached = itertools.accumulate(ways[total] for total in range(size * (size + 1) // 2 + 1))
    return [one / 2**size for one in reached]


def _signed_rank_end(ordered: Sequence[float], sums: Sequence[float], tail: float) -> float | None:
    k = sum(one <= tail for one in sums)
    if k == 0:
        return None
    outer = ordered[k - 1]
    if k >= len(ordered) or not math.isfinite(outer) or not math.isfinite(ordered[k]):
        return outer
    return outer + (tail - sums[k - 1]) / (sums[k] - sums[k - 1]) * (ordered[k] - outer)


def signed_rank_tail(values: Sequence[float]) -> float:
    """Return the chance of a sum of positive ranks at least as great; ties share their rank, zeros go (Pratt 1959)."""
    sizes = sorted(abs(one) for one in values)
    twice = {size: 2 * sizes.index(size) + sizes.count(size) + 1 for size in set(sizes)}
    weights = [twice[abs(one)] for one in values if one]
    observed = sum(twice[abs(one)] for one in values if one > 0)
    ways = Counter({0: 1})
    for weight in weights:
        ways += Counter({total + weight: count for total, count in ways.items()})
    return sum(count for total, count in ways.items() if total >= observed) / 2 ** len(weights)


def p_of(values: Sequence[Bounds]) -> float | None:
    """Test pairs by signed ranks, two-sided; of bounds the greatest p they leave open."""
    if not values:
        return None
    tails = (signed_rank_tail([low for low, _ in values]), signed_rank_tail([-high for _, high in values]))
    return min(1.0, 2 * min(tails))


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust for their number."""
    order = sorted(range(len(p_values)), key=lambda one: p_values[one])
    found, most = [0.0] * len(p_values), 0.0
    for place, one in enumerate(order):
        most = max(most, min(1.0, (len(p_values) - place) * p_values[one]))
        found[one] = most
    return found


def sign_tail(values: Sequence[float]) -> float:
    """Return the chance of as many values above 0 or more, were their median 0."""
    size, above = len(values), sum(one > 0 for one in values)
    return sum(math.comb(size, one) for one in range(above, size + 1)) / 2**size


def change_of(treatment: Sequence[Bounds], baseline: Sequence[Bounds]) -> Found:
    """Estimate how the median changes, as a share of the baseline's."""
    if not treatment:
        return Found(None, None, None, None, 0, 0)
    both = zip(treatment, baseline, strict=True)
    count = sum(own[0] != own[1] or other[0] != other[1] for own, other in both)
    own, other = ([[one[side] for one in arm] for side in (0, 1)] for arm in (treatment, baseline))
    low, high = median(own[0]) / median(other[1]) - 1, median(own[1]) / median(other[0]) - 1
    if low != high:
        low = sorted(own[0])[(len(treatment) - 1) // 2] / sorted(other[1])[len(treatment) // 2] - 1
        high = sorted(own[1])[len(treatment) // 2] / sorted(other[0])[(len(treatment) - 1) // 2] - 1
    return Found(low, high, None, None, len(treatment), count)


def delta_of(treatment: Sequence[Bounds], baseline: Sequence[Bounds]) -> Bounds:
    """Count how much more often a load of one takes longer than one of the other."""

    def of(own: int, other: int) -> float:
        signs = [(one[own] > two[other]) - (one[own] < two[other]) for one in treatment for two in baseline]
        return sum(signs) / len(signs)

    return of(0, 1), of(1, 0)


def slope_of(points: Sequence[tuple[float, Bounds]]) -> Bounds:
    """Return the median of the slopes between all points at different places (Theil 1950, Sen 1968)."""
    lows, highs = [], []
    for (first, earlier), (second, later) in itertools.combinations(sorted(points), 2):
        if first != second:
            low, high = minus(later, earlier)
            lows.append(low / (second - first))
            highs.append(high / (second - first))
    known = lows == highs and all(map(math.isfinite, lows))
    lows.sort()
    highs.sort()
    return (median(lows), median(lows)) if known else (lows[(len(lows) - 1) // 2], highs[len(highs) // 2])


def wilson(count: int, total: int, level: float) -> tuple[float, float]:
    """Return the ends of a share's score interval (Wilson 1927), as the roots of its equation."""
    z2 = NormalDist().inv_cdf((1 + level) / 2) ** 2
    root = math.sqrt(z2 * z2 + 4 * count * z2 * (1 - count / total))
    low, high = ((2 * count + z2 + sign * root) / (2 * (total + z2)) for sign in (-1, 1))
    return (0.0 if count == 0 else low), (1.0 if count == total else high)


def mcnemar(own_only: int, other_only: int) -> float:
    """Return the two-sided exact p of pairs of which one alone is beyond."""
    odd = own_only + other_only
    tail = sum(math.comb(odd, one) for one in range(min(own_only, other_only) + 1)) / 2**odd
    return min(1.0, 2 * tail)
