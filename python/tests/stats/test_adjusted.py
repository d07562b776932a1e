"""Adjusted differences: what they do to data whose truth is known."""

import numpy as np
import pytest

from resolab.stats import ADJUSTABLE_FROM, Method, Sample, estimate_adjusted_difference, median, variance_ratio
from resolab.stats.adjusted import coefficients
from resolab.stats.coverage.adjusted import simulate_adjusting

RNG = np.random.default_rng(4)
INSTANT, PART = 2 * RNG.standard_normal(24) + 50, 20 * RNG.standard_normal(24)


def test_the_part_is_taken_out():
    found, plain = estimate_adjusted_difference(INSTANT + PART, PART), median(Sample.exact(INSTANT + PART))
    assert found.method is Method.ADJUSTED_SIGN
    assert (found.n, found.level) == (24, 0.95)
    assert found.value == pytest.approx(50, abs=2)
    assert found.ci_low < 50 < found.ci_high
    assert found.ci_width < plain.ci_width / 4
    assert variance_ratio(INSTANT + PART, PART) == pytest.approx(0.01, abs=0.01)


def test_a_shift_shifts_and_swapped_loads_turn_the_sign():
    found = estimate_adjusted_difference(INSTANT + PART, PART)
    shifted = estimate_adjusted_difference(INSTANT + PART + 30, PART)
    swapped = estimate_adjusted_difference(-(INSTANT + PART), -PART)
    assert (shifted.value, shifted.ci_low) == pytest.approx((found.value + 30, found.ci_low + 30))
    assert (swapped.ci_low, swapped.ci_high) == pytest.approx((-found.ci_high, -found.ci_low))


def test_the_interval_is_what_the_sign_test_of_residuals_does_not_reject():
    outcome, part = INSTANT[:9] + PART[:9], PART[:9]
    found = estimate_adjusted_difference(outcome, part, level=0.93)
    for shift, inside in ((found.ci_low - 0.5, False), (found.value, True), (found.ci_high + 0.5, False)):
        residuals = outcome - shift - coefficients(outcome, part, np.array([shift]))[0] * part
        kept = np.delete(residuals, np.abs(residuals).argmin())
        # Of eight fair coins one or none on one side: 7 %.
        assert (min((kept > 0).sum(), (kept < 0).sum()) > 1) == inside


def test_the_coefficient_lies_between_none_and_all_of_the_part():
    shifts = np.array([0.0])
    assert coefficients(3 * PART, PART, shifts) == pytest.approx(1)
    assert coefficients(-PART, PART, shifts) == pytest.approx(0)
    assert coefficients(0.4 * PART, PART, shifts) == pytest.approx(0.4)
    assert coefficients(PART, np.zeros(24), shifts) == pytest.approx(0)


def test_a_wait_does_not_carry_the_coefficient_away():
    outcome = INSTANT + PART
    outcome[3] += 5_000
    assert coefficients(outcome, PART, np.array([50.0]))[0] > 0.9


def test_a_part_that_never_differs_changes_next_to_nothing():
    plain, found = median(Sample.exact(INSTANT)), estimate_adjusted_difference(INSTANT, np.zeros(24))
    assert found.value == pytest.approx(plain.value, abs=0.5)
    assert found.ci_width == pytest.approx(plain.ci_width, rel=0.3)


def test_too_few_pairs_have_no_interval_and_unknown_ones_are_refused():
    few = ADJUSTABLE_FROM - 1
    found = estimate_adjusted_difference(INSTANT[:few], PART[:few])
    assert (found.value, found.ci_low, found.method) == (None, None, Method.NONE)
    assert estimate_adjusted_difference(INSTANT[: few + 1], PART[: few + 1]).ci_low is not None
    with pytest.raises(ValueError, match="known"):
        estimate_adjusted_difference(INSTANT, np.full(24, np.nan))
    assert variance_ratio(np.ones(8), PART[:8]) is None


def test_many_pairs_take_no_more_shifts():
    rng = np.random.default_rng(5)
    part = rng.standard_normal(150)
    found = estimate_adjusted_difference(part + 0.1 * rng.standard_normal(150) + 7, part)
    assert found.ci_low < 7 < found.ci_high
    assert found.ci_width < 0.1


@pytest.mark.parametrize(
    ("instant", "part"), [("normal", "normal"), ("heavy tails", "frames"), ("waits 5 %", "heavy tails")]
)
def test_intervals_hold_and_save(instant: str, part: str):
    found = simulate_adjusting(instant, part, 12, 250)
    assert 0.91 <= found.held_ratio <= 0.99
    assert found.loads_ratio < 0.4
    assert found.offered_ratio > 0.4


def test_waits_in_many_blocks_are_not_adjusted():
    assert simulate_adjusting("waits 40 %", "normal", 12, 60).offered_ratio < 0.1


def test_a_part_that_moves_is_found_out_or_misleads():
    found = simulate_adjusting("normal", "normal", 24, 60, moved=30.0)
    assert found.offered_ratio < 0.1
    less = simulate_adjusting("normal", "normal", 24, 60, moved=10.0)
    assert less.held_ratio < 0.5
