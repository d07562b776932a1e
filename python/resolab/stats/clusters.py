"""The median of clustered values: paired differences of several pages, blocks of one campaign.

For: an interval with clusters as the sampling unit, for any correlation within clusters. Not for: choosing the
clusters; independent values (`order`).

The interval holds every number not rejected by a test on clusters. The test takes, for each cluster, the number of
values above the tested number minus the number of values below. The mean of these counts is tested by Student's t. For
quantiles of clustered samples, this is the interval of Woodruff (1952) in the form of Francisco and Fuller (1991). No
values are resampled. With a single value in each cluster, the interval is the interval between order statistics.
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
"""With five clusters of equal values, the interval would be the range, with a level of 93.75 % and often less."""


def estimate_clustered_median(
    sample: Sample, clusters: Sequence[Hashable], *, needed: int = CLUSTERS_NEEDED, level: float = LEVEL
) -> Estimate:
    """Estimate the median over all values; `clusters` names each value's cluster.

    With fewer than `needed` clusters, the estimate has no interval.
    """
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
    """Estimate the median over clusters from the medians within clusters; a cluster without a value is left out.

    Each cluster counts once, for any number of values. Few clusters give little information: with five, the interval is
    their range, with a level of 93.75 %, and fewer have no interval.
    """
    known = [one for one in medians if one.low is not None and one.high is not None]
    low, high = (np.array(ends, dtype=float) for ends in ([one.low for one in known], [one.high for one in known]))
    return quantile(Sample(low, high), 0.5, level=level)


def _lower_end(values: FloatArray, of: Counts, level: float) -> float:
    """Return the smallest value just above which the test does not reject."""
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

    Equal values within a cluster move the total by the cluster's size, independent values by 2. Half a step is half the
    ratio of the counts' squares to the squares for the same number of independent values.
    """
    count, values_count = sizes.size, sizes.sum()
    reach = np.maximum(np.abs(total) - 0.5 * squares / values_count, 0.0)
    errors = np.maximum(squares - total**2 / count, 0.0) * count / (count - 1)
    limit = float(scipy.stats.t.ppf((1 + level) / 2, count - 1))
    return np.asarray(reach**2 > limit**2 * errors + 1e-6)


def _earlier_in_cluster(of: Counts) -> Counts:
    """Return the number of earlier values in the same cluster, for each value."""
    order = np.argsort(of, kind="stable")
    starts = np.concatenate(([0], np.cumsum(np.bincount(of))[:-1]))
    earlier = np.empty_like(of)
    earlier[order] = np.arange(of.size) - np.repeat(starts, np.bincount(of))
    return earlier
