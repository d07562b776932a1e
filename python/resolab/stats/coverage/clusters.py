"""The coverage of the interval of a clustered median, beside other methods, by simulation.

For: the test of the interval and its tables in docs/method/statistics.md (`scripts/coverage_simulations/clusters.py`).
Not for: the interval (`clusters`).

Pages are drawn with an effect each, and so are the blocks of every page. Alternatively, a few pages are given, and only
blocks are drawn.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

import numpy as np
import scipy

from resolab.stats.clusters import estimate_clustered_median
from resolab.stats.coverage.sequence import KINDS
from resolab.stats.order import LEVEL, quantile
from resolab.stats.sample import FloatArray, Sample

RESAMPLES_COUNT = 499
TRUTH_SIZE = 1_000_001
KINDS_OF_PAGES = tuple(name for name in KINDS if not name.startswith("fails"))
Ends = tuple[float, float]


def draw(kind: str, rng: np.random.Generator, pages: int, blocks: int, effect: float) -> FloatArray:
    """Draw differences, one row per page.

    `effect` is the standard deviation between pages divided by the standard deviation within pages.
    """
    page = KINDS[kind](rng, pages).low
    return np.asarray(effect * page[:, None] + KINDS[kind](rng, pages * blocks).low.reshape(pages, blocks))


@lru_cache
def compute_truth(kind: str, effect: float) -> float:
    """Return the median over all possible pages and blocks."""
    return float(np.median(draw(kind, np.random.default_rng(1), TRUTH_SIZE, 1, effect)))


def compute_clustered_interval(values: FloatArray, _: np.random.Generator) -> Ends:
    """Return the interval in use."""
    pages, blocks = values.shape
    found = estimate_clustered_median(Sample.exact(values.ravel()), np.repeat(np.arange(pages), blocks).tolist())
    return _ends(found.ci_low, found.ci_high)


def independent(values: FloatArray, _: np.random.Generator) -> Ends:
    """Return the interval for pairs regarded as independent."""
    found = quantile(Sample.exact(values.ravel()), 0.5)
    return _ends(found.ci_low, found.ci_high)


def resample_pages_and_blocks(values: FloatArray, rng: np.random.Generator) -> Ends:
    """Resample pages and, within each, blocks (Davison and Hinkley 1997, section 3.8); return percentiles."""
    pages, blocks = values.shape
    chosen = rng.integers(0, pages, (RESAMPLES_COUNT, pages))
    within = rng.integers(0, blocks, (RESAMPLES_COUNT, pages, blocks))
    return _percentiles(values[chosen[:, :, None], within])


def resample_pages(values: FloatArray, rng: np.random.Generator) -> Ends:
    """Resample pages with all their blocks; return percentiles."""
    return _percentiles(values[rng.integers(0, values.shape[0], (RESAMPLES_COUNT, values.shape[0]))])


def page_medians(values: FloatArray, _: np.random.Generator) -> Ends:
    """Return the interval with the pages' medians as the sample."""
    found = quantile(Sample.exact(np.median(values, axis=1)), 0.5)
    return _ends(found.ci_low, found.ci_high)


def page_means(values: FloatArray, _: np.random.Generator) -> Ends:
    """Return Student's t interval of the pages' means, as from a mixed model with equal numbers of blocks."""
    means = values.mean(axis=1)
    reach = float(scipy.stats.t.ppf((1 + LEVEL) / 2, means.size - 1)) * float(scipy.stats.sem(means))
    return float(means.mean()) - reach, float(means.mean()) + reach


WAYS: Mapping[str, Callable[[FloatArray, np.random.Generator], Ends]] = {
    "over pages": compute_clustered_interval,
    "as if independent": independent,
    "pages, then blocks resampled": resample_pages_and_blocks,
    "pages resampled": resample_pages,
    "pages' medians": page_medians,
    "pages' means, t": page_means,
}
"""The methods by name; the first method is in use."""


def simulate_coverage(way: str, kind: str, pages: int, blocks: int, effect: float, rounds: int, seed: int = 1) -> float:
    """Return the share of rounds with the median inside the interval."""
    rng, truth = np.random.default_rng(seed), compute_truth(kind, effect)
    count = 0
    for _ in range(rounds):
        low, high = WAYS[way](draw(kind, rng, pages, blocks, effect), rng)
        count += low - 1e-9 <= truth <= high + 1e-9
    return count / rounds


def simulate_coverage_over_blocks(
    levels: Sequence[float], alike: float, blocks: int, rounds: int, seed: int = 1
) -> float:
    """Return the same share for given pages at these levels; `alike` is the correlation of pages within a block."""
    rng, pages = np.random.default_rng(seed), np.asarray(levels)
    truth = float(np.median(pages + 10 * np.random.default_rng(2).standard_normal((TRUTH_SIZE // 5, pages.size))))
    count = 0
    for _ in range(rounds):
        common = np.sqrt(alike) * rng.standard_normal((blocks, 1))
        own = np.sqrt(1 - alike) * rng.standard_normal((blocks, pages.size))
        low, high = compute_clustered_interval(pages + 10 * (common + own), rng)
        count += low <= truth <= high
    return count / rounds


def _percentiles(resamples: FloatArray) -> Ends:
    medians = np.median(resamples.reshape(RESAMPLES_COUNT, -1), axis=1)
    low, high = np.quantile(medians, ((1 - LEVEL) / 2, (1 + LEVEL) / 2))
    return float(low), float(high)


def _ends(low: float | None, high: float | None) -> Ends:
    if low is None or high is None:
        raise ValueError("too few clusters for an interval")
    return low, high
