import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resolab.stats import (
    Method,
    Sample,
    ecdf,
    estimate_paired_difference,
    median,
    pairs,
    pairs_for_interval,
    relative_change,
)

FINITE = st.floats(1, 1e4, allow_nan=False)


def test_a_median_with_its_interval() -> None:
    values = np.random.default_rng(1).normal(100, 5, 40)
    estimate = median(Sample.exact(values), seed=1)
    assert estimate.value == np.median(values)
    assert estimate.ci_low is not None
    assert estimate.ci_high is not None
    assert estimate.ci_low < estimate.value < estimate.ci_high
    assert (estimate.n, estimate.level, estimate.method) == (40, 0.95, Method.ORDER_STATISTIC)


def test_the_same_seed_gives_the_same_interval() -> None:
    rng = np.random.default_rng(2)
    treatment, baseline = Sample.exact(rng.lognormal(5, 1, 11)), Sample.exact(rng.lognormal(5, 1, 11))
    assert relative_change(treatment, baseline, seed=3) == relative_change(treatment, baseline, seed=3)
    assert relative_change(treatment, baseline, seed=3).value == relative_change(treatment, baseline, seed=4).value
    assert relative_change(treatment, baseline, seed=3).method is Method.PERCENTILE
    assert relative_change(treatment.take(range(5)), baseline.take(range(5)), seed=3).method is Method.NONE


def test_values_all_alike_have_an_interval_of_no_width() -> None:
    estimate = median(Sample.exact([5.0] * 8))
    assert (estimate.value, estimate.ci_low, estimate.ci_high) == (5.0, 5.0, 5.0)


@pytest.mark.parametrize("values", [[], [3.0]])
def test_too_few_values_have_no_interval(values: list[float]) -> None:
    estimate = median(Sample.exact(values), seed=1)
    assert estimate.method is Method.NONE
    assert estimate.ci_low is None
    assert estimate.ci_contains_zero is None
    assert estimate.value == (values[0] if values else None)


def test_the_fewest_pairs_with_an_interval_are_five_and_more_at_a_higher_level() -> None:
    # The range of n values holds the median with 1 - 2 * 0.5^n: 93.75 % of five, 96.9 % of six, 98.4 % of seven; what is
    # within two percent of the level counts, and says the level it reached.
    assert [pairs_for_interval(level) for level in (0.95, 0.97, 0.98, 0.99)] == [5, 6, 6, 7]
    assert median(Sample.exact([1.0, 2, 3, 4, 5])).level == 0.9375


def test_a_median_is_a_number_only_below_half_censored() -> None:
    limit = 30_000.0
    below = median(Sample.from_censored([1.0, 2.0, 3.0, None, None], [limit] * 5), seed=1)
    assert (below.value, below.censored_count) == (3.0, 2)
    assert below.ci_high == math.inf
    half = median(Sample.from_censored([1.0, 2.0, None, None], [limit] * 4), seed=1)
    assert half.value is None
    # Whatever the lost loads would have taken, the median is at least the greater known value.
    assert (half.low, half.high) == (2.0, math.inf)
    most = median(Sample.from_censored([1.0, None, None], [limit] * 3), seed=1)
    assert (most.value, most.low) == (None, limit)


def test_a_censored_load_is_not_the_same_as_one_left_out() -> None:
    kept = median(Sample.from_censored([1.0, 2.0, 3.0, 4.0, None], [9.0] * 5), seed=1)
    assert kept.value == 3.0
    assert median(Sample.exact([1.0, 2.0, 3.0, 4.0]), seed=1).value == 2.5


def test_paired_differences_use_the_pairs() -> None:
    drift = np.arange(12) * 1_000.0
    estimate = estimate_paired_difference(Sample.exact(drift + 7 + np.arange(12) % 3), Sample.exact(drift), seed=1)
    assert estimate.value == 8
    assert estimate.ci_low is not None
    assert estimate.ci_low > 6
    assert estimate.ci_contains_zero is False


def test_differences_with_censored_sides_are_bounded() -> None:
    limit = [100.0] * 3
    slow = estimate_paired_difference(Sample.from_censored([None] * 3, limit), Sample.exact([10.0, 20.0, 30.0]), seed=1)
    assert (slow.value, slow.low, slow.high) == (None, 80.0, math.inf)
    both = estimate_paired_difference(
        Sample.from_censored([None] * 3, limit), Sample.from_censored([None] * 3, limit), seed=1
    )
    assert (both.low, both.high) == (-math.inf, math.inf)
    both = estimate_paired_difference(
        Sample.from_censored([None] * 6, limit * 2), Sample.from_censored([None] * 6, limit * 2), seed=1
    )
    assert both.ci_contains_zero is True
    minority = estimate_paired_difference(
        Sample.from_censored([None, 25.0, 36.0], limit), Sample.exact([10.0, 20.0, 30.0]), seed=1
    )
    assert minority.value == 6.0


def test_relative_change_of_medians() -> None:
    base = np.random.default_rng(4).normal(100, 2, 30)
    estimate = relative_change(Sample.exact(base * 1.2), Sample.exact(base), seed=1)
    assert estimate.value == pytest.approx(0.2)
    assert estimate.ci_low == pytest.approx(0.2)
    lost = relative_change(Sample.from_censored([None] * 3, [50.0] * 3), Sample.exact([10.0] * 3), seed=1)
    assert (lost.value, lost.low, lost.high) == (None, 4.0, math.inf)


def test_infinite_values_are_possible_and_order_last() -> None:
    assert median(Sample.exact([1.0, 2.0, math.inf]), seed=1).value == 2.0
    assert median(Sample.exact([math.inf, math.inf, 1.0]), seed=1).value is None


def test_pairs_are_found_by_block() -> None:
    assert pairs([2, 0, 5], [5, 1, 2]) == ([0, 2], [2, 0])
    assert pairs([], [1]) == ([], [])
    with pytest.raises(ValueError, match="twice"):
        pairs([1, 1], [1])


def test_samples_must_make_sense() -> None:
    with pytest.raises(ValueError, match="NaN"):
        Sample.exact([math.nan])
    with pytest.raises(ValueError, match="one length"):
        estimate_paired_difference(Sample.exact([1.0]), Sample.exact([1.0, 2.0]), seed=1)
    with pytest.raises(ValueError, match="one length"):
        relative_change(Sample.exact([1.0]), Sample.exact([1.0, 2.0]), seed=1)


def test_ecdf() -> None:
    values, shares = ecdf([3.0, 1.0, 2.0, 2.0])
    assert values.tolist() == [1, 2, 2, 3]
    assert shares.tolist() == [0.25, 0.5, 0.75, 1]
    assert ecdf([])[0].size == 0


@settings(max_examples=25, deadline=None)
@given(st.lists(FINITE, min_size=2, max_size=9), st.data())
def test_censoring_never_moves_bounds_past_the_truth(values: list[float], data: st.DataObject) -> None:
    """Hiding any values behind limits they exceed must leave the true median within the bounds."""
    hidden = data.draw(st.lists(st.booleans(), min_size=len(values), max_size=len(values)))
    seen = [None if hide else value for value, hide in zip(values, hidden, strict=True)]
    limits = [value * 0.5 for value in values]
    estimate = median(Sample.from_censored(seen, limits), seed=1)
    assert estimate.low is not None
    assert estimate.high is not None
    # As the estimate is made: the mean of the two in the middle may differ from it in the last digit.
    truth = float(np.quantile(values, 0.5))
    assert estimate.low <= truth <= estimate.high
