"""The median of values that come in clusters: paired differences of several pages, blocks of one campaign.

For: an interval that takes clusters as what was sampled, however alike the values within one are. Not for: choosing
what the clusters are; values that are independent (`order`).

The interval holds every number that a test on clusters does not reject: of each cluster how many of its values lie
above the number less how many lie below, of these the mean by Student's t. For quantiles of clustered samples that is
the interval of Woodruff (1952) in the form of Francisco and Fuller (1991); nothing is resampled. Where each cluster has
one value only it is that between order statistics.
"""

from collections.abc import Hashable, Sequence

import numpy as np
import scipy
from numpy.typing import NDArray

from resolab.stats.estimate import Estimate, Method
from resolab.stats.order import LEVEL, quantile
from resolab.stats.sample import FloatArray, Sample

Counts = NDArray[np.intp]
CLUSTERS_NEEDED = 6
"""Of five alike within themselves the interval would be their range, whose level is 93.75 % and often less."""


def clustered_median(
    sample: Sample, clusters: Sequence[Hashable], *, needed: int = CLUSTERS_NEEDED, level: float = LEVEL
) -> Estimate:
    """Estimate the median over all values; `clusters` names each value's, and fewer than `needed` have no interval."""
    if len(clusters) != len(sample):
        raise ValueError("every value needs its cluster")
    plain = quantile(sample, 0.5, level=level)
    numbers = {one: number for number, one in enumerate(dict.fromkeys(clusters))}
    if len(numbers) == len(sample):
        return plain
    low, high, method = None, None, Method.NONE
    if len(numbers) >= needed:
        of = np.array([numbers[one] for one in clusters])
        # What failed may lie at either bound; clusters that differ more by the one have the wider interval.
        bounds = (sample.low, sample.high)
        low, high = (min(_lower_end(sign * one, of, level) for one in bounds) * sign for sign in (1, -1))
        method = Method.CLUSTER_SIGN
    return Estimate(plain.low, plain.high, low, high, plain.n, plain.censored_count, level, method)


def median_of_clusters(medians: Sequence[Estimate], *, level: float = LEVEL) -> Estimate:
    """Estimate the median over clusters of which each has been estimated by itself; one without a value has no part.

    Each counts once, however many values it has. Few clusters carry little: of five the interval is their range, whose
    level is 93.75 %, and fewer have none.
    """
    known = [one for one in medians if one.low is not None and one.high is not None]
    low, high = (np.array(ends, dtype=float) for ends in ([one.low for one in known], [one.high for one in known]))
    return quantile(Sample(low, high), 0.5, level=level)


def _lower_end(values: FloatArray, of: Counts, level: float) -> float:
    """Return the value above which the test first does not reject."""
    order = np.argsort(values, kind="stable")
    values, of = values[order], of[order]
    sizes = np.bincount(of)
    # As a number moves up past a value, its cluster's count falls by 2: all sums change by what that cluster does.
    was = sizes[of] - 2 * _earlier_in_cluster(of)
    total = values.size - 2 * np.arange(1, values.size + 1)
    squares = (sizes**2).sum() + np.cumsum((was - 2) ** 2 - was**2)
    rejected = _is_rejected(total, squares, sizes, level)
    if not _is_rejected(sizes.sum(keepdims=True), (sizes**2).sum(keepdims=True), sizes, level)[0]:
        return -np.inf
    between = np.concatenate((values[1:] > values[:-1], [True]))
    accepted = np.flatnonzero(~rejected & between)
    return float(values[accepted[0]] if accepted.size else np.median(values))


def _is_rejected(total: Counts, squares: Counts, sizes: Counts, level: float) -> NDArray[np.bool_]:
    """Test sums of clusters' counts by Student's t, with a correction for steps.

    Clusters alike within themselves move the total by their whole size, independent values by 2: half a step is half
    of what the squares of the counts are to those of as many independent values.
    """
    count, values_count = sizes.size, sizes.sum()
    reach = np.maximum(np.abs(total) - 0.5 * squares / values_count, 0.0)
    errors = np.maximum(squares - total**2 / count, 0.0) * count / (count - 1)
    limit = float(scipy.stats.t.ppf((1 + level) / 2, count - 1))
    return np.asarray(reach**2 > limit**2 * errors + 1e-6)


def _earlier_in_cluster(of: Counts) -> Counts:
    """Return how many values of the same cluster stand before each."""
    order = np.argsort(of, kind="stable")
    starts = np.concatenate(([0], np.cumsum(np.bincount(of))[:-1]))
    earlier = np.empty_like(of)
    earlier[order] = np.arange(of.size) - np.repeat(starts, np.bincount(of))
    return earlier
