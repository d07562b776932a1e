"""Distributions of query response times by any combination of factors, for datasets of any size.

For: quantiles and medians with intervals from counted response times. Not for: the counting (`histograms`).

A failed query counts as infinitely long. A quantile is the smallest response time not exceeded by at least the given
share of all queries (type 1 of Hyndman and Fan 1996). So a quantile is a measured time. A median of an even number is
the mean of the two middle times. The median's interval is by order statistics, free of any assumption on the
distribution: its ranks are the sign test's (David and Nagaraja 2003, section 7.1).
"""

import itertools
import math
from collections.abc import Mapping, Sequence

import duckdb
import msgspec
import numpy as np
import scipy
from numpy.typing import NDArray

from resolab.plan.factors import QUERY_FACTORS
from resolab.store.query_times.histograms import Histogram, IntegerArray, check_keys, count_queries

DISTRIBUTION_PROBABILITIES: tuple[float, ...] = tuple(round(0.001 + 0.00499 * step, 5) for step in range(201))
"""Probabilities of `quantiles_ms`: 0.001 to 0.999, the median in the middle."""
LEVEL = 0.95
_USUAL_KEYS = frozenset(
    (
        *QUERY_FACTORS,
        "dns_transport",
        "requested_handshake_mode",
        "handshake_mode",
        "connection",
    )
)
"""Keys counted in any case, so one pass answers most questions."""


class QueryDistribution(msgspec.Struct, kw_only=True, frozen=True):
    """Response times of all measured queries with the levels in `key`."""

    key: dict[str, str]
    n: int
    failed_count: int
    quantiles_ms: tuple[float, ...]
    """Quantiles at `DISTRIBUTION_PROBABILITIES`; infinite at quantiles within the failed share."""
    median_ms: float
    median_ci_low_ms: float | None
    """`None` for too few queries for the level: below 6 at 95 %."""
    median_ci_high_ms: float | None
    level: float
    """The level of the median's interval."""
    relative_error: float
    """Largest relative error of a time here against the measured time; 0 for exact times."""


class DistributionSource:
    """A cache of counts: a question with keys counted before costs no further pass."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection
        self._histograms: list[Histogram] = []

    def distributions(
        self, by: Sequence[str], where: Mapping[str, Sequence[str]] | None, level: float = LEVEL
    ) -> list[QueryDistribution]:
        """Return one distribution for each existing combination of levels of `by`, sorted by these levels."""
        selection = where or {}
        check_keys([*by, *selection])
        histogram = self._histogram(frozenset(by) | selection.keys())
        groups: dict[tuple[str, ...], list[int]] = {}
        for position, cell in enumerate(histogram.cells):
            if all(cell[key] in words for key, words in selection.items()):
                groups.setdefault(tuple(cell[key] for key in by), []).append(position)
        numbered = sorted(groups)
        group_of_cell = np.full(len(histogram.cells), -1, dtype=np.int64)
        for number, levels in enumerate(numbered):
            group_of_cell[groups[levels]] = number
        return [
            _distribution(dict(zip(by, levels, strict=True)), histogram, bucket, count, level)
            for levels, (bucket, count) in zip(
                numbered, _group_buckets(histogram, group_of_cell, len(numbered)), strict=True
            )
        ]

    def _histogram(self, keys: frozenset[str]) -> Histogram:
        for one in self._histograms:
            if keys <= one.keys:
                return one
        made = count_queries(self._connection, keys | _USUAL_KEYS)
        self._histograms.append(made)
        return made


def _group_buckets(
    histogram: Histogram, group_of_cell: IntegerArray, groups_count: int
) -> list[tuple[IntegerArray, IntegerArray]]:
    """Buckets and counts of each group, fastest first, the failed last."""
    group = group_of_cell[histogram.cell_index]
    bucket = np.where(histogram.bucket < 0, np.iinfo(np.int64).max, histogram.bucket)
    order = np.lexsort((bucket, group))
    ends = np.searchsorted(group[order], np.arange(groups_count + 1))
    parts = (order[start:end] for start, end in itertools.pairwise(ends))
    return [(histogram.bucket[part], histogram.count[part]) for part in parts]


def _distribution(
    key: dict[str, str], histogram: Histogram, bucket: IntegerArray, count: IntegerArray, level: float
) -> QueryDistribution:
    reached = np.cumsum(count)
    n = int(reached[-1])
    failed = int(count[bucket < 0].sum())

    def at(ranks: NDArray[np.int64]) -> list[float]:
        """Response times by rank, 1 for the fastest."""
        return [histogram.time_ms(int(one)) for one in bucket[np.searchsorted(reached, ranks)]]

    # A probability is written in decimals: 0.1 of 30 is rank 3, although 30 times its float is a hair above.
    ranks = np.ceil(np.asarray(DISTRIBUTION_PROBABILITIES) * n - 1e-9 * n).astype(np.int64)
    lower, upper = at(np.asarray([(n + 1) // 2, n // 2 + 1]))
    low_rank = int(scipy.stats.binom.ppf((1 - level) / 2, n, 0.5))
    low, high = at(np.asarray([low_rank, n + 1 - low_rank])) if low_rank else (None, None)
    return QueryDistribution(
        key=key,
        n=n,
        failed_count=failed,
        quantiles_ms=tuple(at(np.maximum(ranks, 1))),
        median_ms=math.inf if math.isinf(upper) else (lower + upper) / 2,
        median_ci_low_ms=low,
        median_ci_high_ms=high,
        level=level,
        relative_error=histogram.relative_error,
    )
