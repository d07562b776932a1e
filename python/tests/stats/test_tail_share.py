"""Shares of slow loads, paired."""

import math

import pytest

from resolab.stats import Sample, compare_shares_beyond


def of_counts(both: int, own_only: int, other_only: int, neither: int):
    own = [9.0] * (both + own_only) + [1.0] * (other_only + neither)
    other = [9.0] * both + [1.0] * own_only + [9.0] * other_only + [1.0] * neither
    return compare_shares_beyond(Sample.exact(own), Sample.exact(other), 5.0)


def test_a_known_paired_difference_of_shares() -> None:
    # Newcombe (1998), table II, method 10, of 36, 12, 2 and 0.
    found = of_counts(36, 12, 2, 0)
    assert found.difference.value == pytest.approx(0.2)
    assert (found.difference.ci_low, found.difference.ci_high) == pytest.approx((0.0569, 0.3404), abs=5e-5)
    # Two-sided binomial of 2 in 14.
    assert found.p_value == pytest.approx(2 * (1 + 14 + 91) / 2**14)


def test_the_sign_says_whose_loads_are_slow() -> None:
    more, fewer = of_counts(1, 8, 0, 11), of_counts(1, 0, 8, 11)
    assert more.difference.value == pytest.approx(0.4)
    assert fewer.difference.value == pytest.approx(-0.4)
    assert (more.difference.ci_low, more.difference.ci_high) == pytest.approx(
        (-(fewer.difference.ci_high or 0), -(fewer.difference.ci_low or 0))
    )
    assert more.p_value == fewer.p_value == pytest.approx(2 / 2**8)


def test_a_failed_load_is_slow_and_none_slow_differ_by_nothing() -> None:
    failed = Sample.from_censored([None, 1.0], [30.0, 30.0])
    assert compare_shares_beyond(failed, Sample.exact([1.0, 1.0]), 5.0).treatment.value == 0.5
    assert of_counts(0, 0, 0, 10).p_value == 1.0
    with pytest.raises(ValueError, match="both sides"):
        compare_shares_beyond(failed, Sample.exact([1.0, 1.0]), 40.0)
    with pytest.raises(ValueError, match="one length"):
        compare_shares_beyond(failed, Sample.exact([1.0]), 5.0)


def test_of_nothing_there_is_no_share() -> None:
    empty = Sample.exact([])
    found = compare_shares_beyond(empty, empty, 5.0)
    assert (found.difference.value, found.p_value) == (None, None)
    assert not math.isnan(found.limit)
