"""Replication: what lies within a prediction, and how often it does when both studies are right.

For: `stats.replication`. Not for: the table of it (`studies.s24.replication`).
"""

import math

import numpy as np
import pytest

from resolab.stats import Sample, median
from resolab.stats.estimate import Estimate, Method
from resolab.stats.replication import PrintedChange, make_printed_change, replication


def _ours(value: float, low: float, high: float) -> Estimate:
    return Estimate(value, value, low, high, 20, 0, 0.95, Method.PERCENTILE)


def test_the_interval_of_a_printed_median_is_mcgills_for_two_of_them() -> None:
    one = make_printed_change(0.2, (0.1, 0.3), 100)
    assert one.ci_high - one.value == pytest.approx(1.959964 * 1.25 / 1.35 * math.sqrt(2) * 0.2 / 10)
    assert one.value - one.ci_low == pytest.approx(one.ci_high - one.value)


def test_sign_overlap_and_prediction_are_three_questions() -> None:
    found = replication(_ours(0.10, 0.05, 0.20), PrintedChange(0.22, 0.20, 0.24))
    assert found is not None
    assert found.same_sign
    assert found.overlaps
    assert not found.is_predicted  # 0.10 + hypot(0.10, 0.02) = 0.202
    other = replication(_ours(0.10, 0.05, 0.20), PrintedChange(-0.01, -0.02, 0.0))
    assert other is not None
    assert other.same_sign is False
    assert not other.overlaps
    assert not other.is_predicted


def test_an_interval_around_0_has_no_sign_and_none_gives_nothing() -> None:
    found = replication(_ours(0.01, -0.05, 0.20), PrintedChange(0.1, 0.1, 0.1))
    assert found is not None
    assert found.same_sign is None
    assert found.is_predicted
    without = Estimate(0.1, 0.1, None, None, 3, 0, 0.95, Method.NONE)
    assert replication(without, PrintedChange(0.1, 0.1, 0.1)) is None


def test_two_right_studies_predict_each_other_in_about_95_of_100() -> None:
    rng = np.random.default_rng(8)
    held = 0
    for _ in range(400):
        theirs, ours = rng.normal(10, 2, 300), rng.normal(10, 2, 24)
        low, middle, high = np.quantile(theirs, (0.25, 0.5, 0.75))
        # One median, not a difference of two: half of the variance that `make_printed_change` gives.
        printed = make_printed_change(float(middle), (float(low), float(high)), 600)
        found = replication(median(Sample.exact(ours)), printed)
        assert found is not None
        held += found.is_predicted
    assert 0.91 <= held / 400 <= 0.99
