"""Alike is only what two one-sided tests show to be."""

import math

import numpy as np
import pytest

from resolab.stats import EquivalenceTest, Sample, equivalence

SIGN, RANK = EquivalenceTest.SIGN, EquivalenceTest.SIGNED_RANK


def test_all_differences_within_the_margin_are_as_sure_as_coins_can_be() -> None:
    found = equivalence(Sample.exact([1.0, -2.0, 3.0, -4.0, 2.0, -1.0]), 5.0, test=SIGN)
    assert found.p_value == pytest.approx(0.5**6)
    assert found.is_alike
    assert not equivalence(Sample.exact([1.0, -2.0, 3.0, -4.0]), 5.0, test=SIGN).is_alike


@pytest.mark.parametrize("test", list(EquivalenceTest))
@pytest.mark.parametrize("sign", [1, -1])
def test_a_difference_on_either_side_is_not_alike(test: EquivalenceTest, sign: int) -> None:
    far = Sample.exact(sign * np.array([6.0, 7.0, 8.0, 6.5, 7.5, 9.0]))
    found = equivalence(far, 5.0, test=test)
    assert found.p_value == pytest.approx(1.0)
    assert not found.is_alike
    assert equivalence(far, 20.0, test=test).is_alike


@pytest.mark.parametrize("test", list(EquivalenceTest))
def test_a_value_known_within_bounds_counts_as_far_out_as_it_may_lie(test: EquivalenceTest) -> None:
    near = [0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 1.5]
    assert equivalence(Sample.exact(near), 5.0, test=test).is_alike
    censored = Sample(np.array(near), np.array([*near[:4], *[math.inf] * 4]))
    assert not equivalence(censored, 5.0, test=test).is_alike


def test_without_differences_there_is_no_p_and_without_a_margin_no_test() -> None:
    assert equivalence(Sample.exact([]), 5.0, test=SIGN).p_value is None
    with pytest.raises(ValueError, match="margin"):
        equivalence(Sample.exact([1.0]), 0.0, test=SIGN)


@pytest.mark.parametrize("test", list(EquivalenceTest))
@pytest.mark.parametrize("n", [6, 12, 20])
def test_a_difference_as_large_as_the_margin_is_called_alike_in_one_case_of_twenty_at_most(
    test: EquivalenceTest, n: int
) -> None:
    rng, rounds = np.random.default_rng(1), 1_000
    wrong = sum(equivalence(Sample.exact(rng.normal(20, 10, n)), 20.0, test=test).is_alike for _ in range(rounds))
    assert wrong / rounds <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / rounds)
