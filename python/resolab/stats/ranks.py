"""Null distributions of the two rank statistics, exact for small samples, and their quantiles among ordered values.

For: tests and intervals by signed ranks and by rank sums. Not for: the statistics of any sample.
"""

from functools import lru_cache

import numpy as np
import scipy

from resolab.stats.sample import FloatArray

EXACT_UP_TO = 60
"""Largest sample with a counted distribution; beyond, the normal distribution differs by at most 0.0002."""


@lru_cache(maxsize=256)
def compute_signed_rank_cdf(n: int) -> FloatArray:
    """Return P(W <= w) for w = 0 .. n(n+1)/2; W sums the ranks 1..n, each included with probability 1/2."""
    total = n * (n + 1) // 2
    if n > EXACT_UP_TO:
        spread = np.sqrt(n * (n + 1) * (2 * n + 1) / 24)
        return np.asarray(scipy.stats.norm.cdf((np.arange(total + 1) + 0.5 - total / 2) / spread))
    chance = np.zeros(total + 1)
    chance[0] = 1.0
    for rank in range(1, n + 1):
        moved = chance / 2
        chance = moved.copy()
        chance[rank:] += moved[: total + 1 - rank]
    return np.cumsum(chance)


@lru_cache(maxsize=256)
def rank_sum_cdf(m: int, n: int) -> FloatArray:
    """Return P(U <= u) for u = 0 .. m n; U counts the pairs with the greater value in the first sample."""
    total = m * n
    if max(m, n) > EXACT_UP_TO:
        spread = np.sqrt(m * n * (m + n + 1) / 12)
        return np.asarray(scipy.stats.norm.cdf((np.arange(total + 1) + 0.5 - total / 2) / spread))
    # The Gaussian binomial coefficient: multiply by (1 - x^(n+i)) and divide by (1 - x^i), i = 1..m.
    ways = [0] * (total + 1)
    ways[0] = 1
    for i in range(1, m + 1):
        for u in range(total, n + i - 1, -1):
            ways[u] -= ways[u - n - i]
        for u in range(i, total + 1):
            ways[u] += ways[u - i]
    cumulated = np.cumsum(np.asarray(ways, dtype=object))
    return np.asarray(cumulated / cumulated[-1], dtype=np.float64)


def lower_end(ordered: FloatArray, cdf: FloatArray, tail: float) -> float | None:
    """Return an interval's lower end at probability `tail`, between two ordered values; `None` for too few values."""
    # The k-th smallest exceeds the truth when the statistic is below k.
    k = int(np.searchsorted(cdf, tail, side="right"))
    if k == 0:
        return None
    outer = float(ordered[k - 1])
    if k >= ordered.size or not np.isfinite(outer):
        return outer
    inner = float(ordered[k])
    share = (tail - float(cdf[k - 1])) / float(cdf[k] - cdf[k - 1])
    return outer + share * (inner - outer) if np.isfinite(inner) else outer


def compute_signed_rank_tail(differences: FloatArray) -> float:
    """Return P(a signed-rank sum at least as great as observed) for signs by fair coins.

    Ties have their mean rank; zeros are ranked, then dropped (Pratt 1959). Exact given the absolute values.
    """
    ranks = scipy.stats.rankdata(np.abs(differences))
    weights = np.rint(2 * ranks[differences != 0]).astype(int)
    observed = int(np.rint(2 * ranks[differences > 0].sum()))
    if weights.size > EXACT_UP_TO:
        spread = np.sqrt((weights.astype(float) ** 2).sum()) / 2
        return float(scipy.stats.norm.sf((observed - 1 - weights.sum() / 2) / spread))
    chance = np.zeros(int(weights.sum()) + 1)
    chance[0] = 1.0
    for weight in weights:
        moved = chance / 2
        chance = moved.copy()
        chance[weight:] += moved[: chance.size - weight]
    return float(min(1.0, chance[observed:].sum()))
