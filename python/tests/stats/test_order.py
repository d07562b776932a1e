import math

import numpy as np
import pytest
from scipy import stats as scipy_stats

from resolab.stats import Method, Sample, median_interval_ranks, quantile


@pytest.mark.parametrize(
    ("n", "ranks"), [(5, (0, 6)), (6, (1, 6)), (8, (1, 8)), (9, (2, 8)), (20, (6, 15)), (60, (22, 39))]
)
def test_ranks_of_the_medians_interval(n: int, ranks: tuple[int, int]) -> None:
    assert median_interval_ranks(n) == ranks


@pytest.mark.parametrize("level", [0.8, 0.9, 0.95, 0.99])
def test_ranks_are_the_narrowest_that_reach_the_level(level: float) -> None:
    for n in range(1, 120):
        low, high = median_interval_ranks(n, level)
        assert low + high == n + 1
        outside = 2 * scipy_stats.binom.cdf(low - 1, n, 0.5)
        assert outside <= 1 - level + 1e-9
        assert 2 * scipy_stats.binom.cdf(low, n, 0.5) > 1 - level


def test_an_interpolated_interval_lies_within_the_one_of_ranks() -> None:
    values = np.sort(np.random.default_rng(1).lognormal(3, 1, 20))
    estimate = quantile(Sample.exact(values), 0.5)
    assert values[5] < estimate.ci_low < values[6]
    assert values[13] < estimate.ci_high < values[14]
    assert (estimate.value, estimate.method, estimate.level) == (np.median(values), Method.ORDER_STATISTIC, 0.95)


def test_the_interpolation_of_hettmansperger_and_sheather() -> None:
    # Their formula for a symmetric interval: n = 10, d = 2, gamma_2 = 0.978515625, gamma_3 = 0.890625.
    part = (0.978515625 - 0.95) / (0.978515625 - 0.890625)
    share = 8 * part / (2 + 6 * part)
    estimate = quantile(Sample.exact(range(1, 11)), 0.5)
    assert estimate.ci_low == pytest.approx(2 + share)
    assert estimate.ci_high == pytest.approx(9 - share)


def test_five_values_have_their_range_and_say_what_it_reaches() -> None:
    estimate = quantile(Sample.exact([5.0, 1.0, 3.0, 2.0, 4.0]), 0.5)
    assert (estimate.ci_low, estimate.ci_high, estimate.method) == (1.0, 5.0, Method.RANGE)
    assert estimate.level == 0.9375


def test_a_high_quantile_of_few_values_has_only_a_lower_end() -> None:
    estimate = quantile(Sample.exact(range(1, 31)), 0.95)
    assert estimate.ci_high == math.inf
    assert estimate.ci_low is not None
    # P(fewer than r of 30 lie below the quantile) <= 5 %, one-sided.
    assert scipy_stats.binom.cdf(math.floor(estimate.ci_low) - 1, 30, 0.95) <= 0.05
    mirrored = quantile(Sample.exact([-value for value in range(1, 31)]), 0.05)
    assert (mirrored.ci_low, mirrored.ci_high) == (-math.inf, pytest.approx(-estimate.ci_low))
    assert quantile(Sample.exact(range(200)), 0.9).ci_high < math.inf


def test_too_few_values_for_any_end_have_no_interval() -> None:
    assert quantile(Sample.exact([1.0, 2.0, 3.0, 4.0]), 0.5).method is Method.NONE
    assert quantile(Sample.exact([]), 0.9).low is None


def test_censored_values_bound_a_quantile_above_them_and_leave_one_below_alone() -> None:
    sample = Sample.from_censored([*range(1, 17), None, None, None, None], [100.0] * 20)
    below = quantile(sample, 0.5)
    assert (below.value, below.censored_count) == (10.5, 4)
    assert below.ci_high < 16
    above = quantile(sample, 0.9)
    assert (above.value, above.low, above.high) == (None, 100.0, math.inf)
    assert above.ci_high == math.inf


def test_between_a_number_and_infinity_the_outer_end_stands() -> None:
    estimate = quantile(Sample.exact([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, math.inf]), 0.5)
    assert estimate.ci_high < 9
    worse = quantile(Sample.exact([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, math.inf, math.inf]), 0.5)
    assert worse.ci_high == math.inf
    assert worse.value == 5.5


def test_a_quantile_needs_a_probability() -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        quantile(Sample.exact([1.0]), 1.0)
