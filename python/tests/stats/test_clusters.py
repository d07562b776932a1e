"""Medians of clustered values: against a test of every number, one by one."""

import numpy as np
import pytest
import scipy

from resolab.stats import (
    CLUSTERS_NEEDED,
    Estimate,
    Method,
    Sample,
    estimate_clustered_median,
    median,
    median_of_clusters,
    quantile,
)
from resolab.stats.coverage.clusters import draw, simulate_coverage, simulate_coverage_over_blocks

RNG = np.random.default_rng(8)


def clusters(pages: int, blocks: int) -> list[int]:
    return [page for page in range(pages) for _ in range(blocks)]


def not_rejected(values: np.ndarray) -> tuple[float, float]:
    ordered = np.unique(values)
    between = np.concatenate(([ordered[0] - 1], (ordered[1:] + ordered[:-1]) / 2, [ordered[-1] + 1]))
    limit, kept = scipy.stats.t.ppf(0.975, values.shape[0] - 1), []
    for number in between:
        counts = np.sign(values - number).sum(axis=1)
        reach = max(0, abs(counts.sum()) - 0.5 * (counts**2).sum() / values.size)
        kept.append(reach <= limit * counts.std(ddof=1) * np.sqrt(counts.size) + 1e-9)
    first, last = np.flatnonzero(kept)[[0, -1]]
    return float(ordered[first - 1]), float(ordered[last])


@pytest.mark.parametrize("effect", [0.0, 0.5, 4.0])
@pytest.mark.parametrize("kind", ["normal", "tied", "waits 20 %"])
def test_the_interval_is_what_the_test_over_clusters_does_not_reject(kind: str, effect: float):
    for pages in range(CLUSTERS_NEEDED, 14):
        values = draw(kind, RNG, pages, 3, effect)
        found = estimate_clustered_median(Sample.exact(values.ravel()), clusters(pages, 3))
        assert (found.ci_low, found.ci_high) == pytest.approx(not_rejected(values))
        assert found.value == pytest.approx(np.median(values))
        assert (found.n, found.method) == (pages * 3, Method.CLUSTER_SIGN)


def test_one_value_a_cluster_is_the_plain_median():
    sample = Sample.exact(RNG.standard_normal(9))
    assert estimate_clustered_median(sample, range(9)) == quantile(sample, 0.5)


def test_copies_within_clusters_tell_nothing_new():
    few = RNG.standard_normal(8)
    copies = estimate_clustered_median(Sample.exact(np.repeat(few, 50)), clusters(8, 50))
    alone = quantile(Sample.exact(np.repeat(few, 50)), 0.5)
    assert copies.ci_width > 2 * alone.ci_width


def test_fewer_clusters_have_no_interval():
    pages = CLUSTERS_NEEDED - 1
    found = estimate_clustered_median(Sample.exact(RNG.standard_normal(pages * 4)), clusters(pages, 4))
    assert (found.ci_low, found.ci_high, found.method) == (None, None, Method.NONE)
    assert found.value is not None


def test_failed_loads_are_bounds():
    values = np.random.default_rng(0).standard_normal((8, 4))
    high = values.copy()
    high[:, 3] = np.inf
    found = estimate_clustered_median(Sample(values.ravel(), high.ravel()), clusters(8, 4))
    assert found.censored_count == 8
    known = estimate_clustered_median(Sample.exact(values.ravel()), clusters(8, 4))
    assert found.ci_low == known.ci_low
    assert found.ci_high > known.ci_high


def test_every_value_needs_its_cluster():
    with pytest.raises(ValueError, match="cluster"):
        estimate_clustered_median(Sample.exact([1.0, 2.0]), [1])


@pytest.mark.parametrize(("kind", "effect"), [("normal", 2.0), ("bimodal", 0.5), ("waits 20 %", 0.0)])
def test_pages_hold_where_independent_pairs_do_not(kind: str, effect: float):
    assert 0.91 <= simulate_coverage("over pages", kind, 8, 3, effect, 250) <= 0.99
    assert simulate_coverage("as if independent", "normal", 8, 6, 2.0, 250) < 0.85


def test_given_pages_hold_over_blocks():
    assert simulate_coverage_over_blocks((-30.0, 0.0, 30.0), 0.7, 12, 250) >= 0.91


def estimates(*medians):
    return [median(Sample.exact(np.array([one - 1, one, one + 1]))) for one in medians]


def test_over_clusters_each_counts_once_and_five_have_their_range():
    found = median_of_clusters([*estimates(1, 2, 3, 10), median(Sample.exact(np.full(400, 50.0)))])
    assert (found.value, found.ci_low, found.ci_high, found.n) == (3, 1, 50, 5)
    assert (found.level, found.method) == (0.9375, Method.RANGE)
    four = median_of_clusters(estimates(1, 2, 3, 4))
    assert (four.value, four.ci_low, four.method) == (2.5, None, Method.NONE)
    nothing = Estimate(None, None, None, None, 0, 0, 0.95, Method.NONE)
    assert median_of_clusters([nothing, *estimates(1, 2, 3)]).n == 3
    bound = Estimate(20.0, np.inf, None, None, 3, 2, 0.95, Method.NONE)
    assert median_of_clusters([bound, *estimates(1, 2, 3, 4)]).ci_high == np.inf


@pytest.mark.parametrize("between", [0.0, 1.0, 5.0])
def test_the_range_of_five_clusters_holds_the_median_as_often_as_it_says(between):
    rng = np.random.default_rng(24)
    held_count = 0
    for _ in range(1000):
        places = between * rng.standard_normal(5)
        medians = [median(Sample.exact(place + rng.standard_normal(8))) for place in places]
        found = median_of_clusters(medians)
        held_count += found.ci_low <= 0 <= found.ci_high
    assert held_count / 1000 == pytest.approx(0.9375, abs=0.02)
