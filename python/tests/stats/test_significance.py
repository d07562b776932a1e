import math

import numpy as np
import pytest
from scipy import stats as scipy_stats

from resolab.stats import (
    Sample,
    cliffs_delta,
    clopper_pearson,
    compute_paired_p_value,
    holm,
    median,
    significant_share,
    two_sample_p_value,
    width_reached,
)
from resolab.stats.sample import FloatArray


def normal(seed: int, n: int, shift: float = 0.0) -> FloatArray:
    return np.random.default_rng(seed).normal(shift, 1, n)


@pytest.mark.parametrize("n", [6, 13, 30])
def test_paired_p_is_the_exact_signed_rank_one(n: int) -> None:
    treatment, baseline = normal(n, n, 0.3), normal(n + 1, n)
    expected = scipy_stats.wilcoxon(treatment, baseline, method="exact").pvalue
    assert compute_paired_p_value(Sample.exact(treatment), Sample.exact(baseline)) == pytest.approx(expected)


def test_paired_p_with_ties_and_zeros_by_turning_every_sign() -> None:
    differences = np.array([0.0, 1.0, 1.0, -1.0, 2.0, 3.0, 3.0])
    ranks = scipy_stats.rankdata(np.abs(differences))
    sums = [sum(rank for bit, rank in enumerate(ranks[1:]) if signs >> bit & 1) for signs in range(2**6)]
    tail = np.mean([one >= ranks[differences > 0].sum() for one in sums])
    p = compute_paired_p_value(Sample.exact(differences), Sample.exact(np.zeros(7)))
    assert p == pytest.approx(2 * tail)


def test_no_difference_at_all_is_no_evidence() -> None:
    same = Sample.exact([1.0] * 8)
    assert compute_paired_p_value(same, same) == 1
    assert two_sample_p_value(same, same) == 1
    assert compute_paired_p_value(Sample.exact([]), Sample.exact([])) is None
    assert two_sample_p_value(Sample.exact([]), same) is None


def test_large_samples_keep_to_the_exact_p() -> None:
    treatment, baseline = normal(3, 61, 0.3), normal(4, 61)
    expected = scipy_stats.wilcoxon(treatment, baseline, method="exact").pvalue
    assert compute_paired_p_value(Sample.exact(treatment), Sample.exact(baseline)) == pytest.approx(expected, abs=0.003)


def test_censored_p_is_at_least_that_of_any_possible_values() -> None:
    treatment = [float(value) for value in range(11, 18)]
    censored = Sample.from_censored([*treatment, None], [16.0] * 8)
    baseline = Sample.exact([10.0 + 0.1 * value for value in range(8)])
    for truth in (16.0, 17.5, 200.0):
        full = Sample.exact([*treatment, truth])
        assert compute_paired_p_value(censored, baseline) >= compute_paired_p_value(full, baseline)
        assert two_sample_p_value(censored, baseline) >= two_sample_p_value(full, baseline)
    lost = Sample.from_censored([None] * 8, [16.0] * 8)
    assert compute_paired_p_value(lost, lost) == two_sample_p_value(lost, lost) == 1
    assert two_sample_p_value(lost, baseline) < 0.001


def test_two_sample_p_is_the_rank_sum_one() -> None:
    treatment, baseline = normal(5, 9, 0.8), normal(6, 11)
    expected = scipy_stats.mannwhitneyu(treatment, baseline, method="exact").pvalue
    assert two_sample_p_value(Sample.exact(treatment), Sample.exact(baseline)) == pytest.approx(expected)


def test_holm() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.6, 0.7]) == [1.0, 1.0]
    assert holm([]) == []


def test_cliffs_delta_counts_pairs() -> None:
    # All 12 pairs: 8 greater, 3 smaller, 1 equal.
    estimate = cliffs_delta(Sample.exact([1.0, 4.0, 5.0, 6.0]), Sample.exact([0.0, 4.0, 4.5]))
    greater = sum(t > b for t in (1, 4, 5, 6) for b in (0, 4, 4.5))
    smaller = sum(t < b for t in (1, 4, 5, 6) for b in (0, 4, 4.5))
    assert estimate.value == pytest.approx((greater - smaller) / 12)
    assert -1 <= estimate.ci_low < estimate.value < estimate.ci_high <= 1


def test_cliffs_delta_turns_with_its_arguments_and_ends_at_one() -> None:
    a, b = Sample.exact(normal(7, 12, 0.5)), Sample.exact(normal(8, 15))
    there, back = cliffs_delta(a, b), cliffs_delta(b, a)
    assert there.value == -back.value
    assert there.ci_low == pytest.approx(-back.ci_high)
    apart = cliffs_delta(Sample.exact(normal(7, 12, 50)), b)
    assert (apart.value, apart.ci_high) == (1.0, 1.0)
    assert 0.4 < apart.ci_low < 1


def test_cliffs_delta_of_censored_values_is_a_bound_only_where_order_is_open() -> None:
    limit = [100.0] * 4
    known = cliffs_delta(Sample.from_censored([1.0, 2.0, None, None], limit), Sample.exact([5.0, 6.0, 7.0]))
    assert known.value == 0.0
    open_order = cliffs_delta(Sample.from_censored([None] * 4, limit), Sample.from_censored([None] * 4, limit))
    assert (open_order.low, open_order.high, open_order.ci_contains_zero) == (-1.0, 1.0, True)


def test_share_of_significant_comparisons() -> None:
    found = significant_share([0.01, 0.2, 0.05, 0.9], [-3.0, 1.0, -2.0, 0.0])
    assert (found.n, found.significant_count, found.share) == (4, 2, 0.5)
    assert (found.ci_low, found.ci_high) == clopper_pearson(2, 4)
    assert (found.median_absolute_difference, found.p95_absolute_difference) == (1.5, 3.0)
    nothing = significant_share([])
    assert (nothing.share, nothing.ci_low, nothing.ci_high, nothing.median_absolute_difference) == (None, 0, 1, None)


def test_a_width_is_reached_only_by_an_interval() -> None:
    narrow = median(Sample.exact([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]), seed=1)
    assert width_reached(narrow, narrow.ci_width)
    assert not width_reached(narrow, narrow.ci_width * 0.99)
    assert not width_reached(median(Sample.exact([1.0]), seed=1), 1e9)
    assert not width_reached(median(Sample.from_censored([1.0, None, None], [9.0] * 3), seed=1), 1e9)
    infinite = median(Sample.exact([math.inf] * 8), seed=1)
    assert not width_reached(infinite, 1e9)
    with pytest.raises(ValueError, match="greater than 0"):
        width_reached(narrow, 0)
