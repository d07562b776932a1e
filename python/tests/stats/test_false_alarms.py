"""Shares of false alarms: exact where comparisons are independent, wider where they share copies."""

import numpy as np
import pytest

from resolab.stats import clopper_pearson, false_alarms

COPIES = 3
PAIRS = ((0, 1), (0, 2), (1, 2))


def test_clopper_pearson() -> None:
    assert clopper_pearson(0, 10) == (0.0, pytest.approx(0.30850, abs=1e-5))
    assert clopper_pearson(10, 200) == (pytest.approx(0.02422, abs=1e-4), pytest.approx(0.09003, abs=1e-4))
    assert clopper_pearson(10, 10)[1] == 1
    assert clopper_pearson(0, 0) == (0.0, 1.0)


def test_independent_comparisons_have_the_exact_interval() -> None:
    alarms = [True] * 10 + [False] * 190
    alone = false_alarms(alarms)
    assert (alone.n, alone.count, alone.share, alone.effective_n) == (200, 10, 0.05, 200)
    assert (alone.ci_low, alone.ci_high) == clopper_pearson(10, 200)
    assert false_alarms(alarms, [str(number) for number in range(200)]) == alone
    nothing = false_alarms([])
    assert (nothing.n, nothing.share, nothing.ci_low, nothing.ci_high) == (0, None, 0, 1)


def test_conditions_that_alarm_as_one_count_as_one() -> None:
    alarms = ([True] * 3 + [False] * 57) * 3
    together = false_alarms(alarms, [str(number % 60) for number in range(180)])
    assert together.effective_n == pytest.approx(60, rel=0.1)
    assert together.share == 0.05
    low, high = clopper_pearson(9, 180)
    assert together.ci_low < low < high < together.ci_high


def test_without_any_alarm_each_condition_counts_once() -> None:
    assert false_alarms([False] * 12, ["a"] * 6 + ["b"] * 6).ci_high == clopper_pearson(0, 2)[1]


def test_conditions_that_alarm_equally_often_are_no_fewer_comparisons() -> None:
    found = false_alarms([True, False, True, False], ["a", "a", "b", "b"])
    assert (found.effective_n, found.ci_low, found.ci_high) == (4, *clopper_pearson(2, 4))


def alarms_of_copies(rng: np.random.Generator, conditions: int) -> list[bool]:
    """Draw what a test of nothing at 5 % says of each two of three copies: their differences share a copy's noise."""
    copies = rng.standard_normal((conditions, COPIES))
    return [abs(one[a] - one[b]) > 1.959964 * 2**0.5 for one in copies for a, b in PAIRS]


def test_the_interval_holds_the_share_where_comparisons_share_copies() -> None:
    rng, rounds, conditions = np.random.default_rng(11), 1_000, 102
    names = [str(number) for number in range(conditions) for _ in PAIRS]
    found = [false_alarms(alarms_of_copies(rng, conditions), names) for _ in range(rounds)]
    # Of so many rounds three standard errors are 2 %.
    assert np.mean([one.ci_low <= 0.05 <= one.ci_high for one in found]) >= 0.93
    # Those that take them for independent are narrower; how much is what sharing costs.
    assert 200 < np.median([one.effective_n for one in found]) < 270
