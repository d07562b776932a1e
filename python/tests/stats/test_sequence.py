"""Confidence sequences: exact where that can be counted, and never wrong more often than they say."""

import itertools
import math

import numpy as np
import pytest

from resolab.stats import (
    MedianSequence,
    Method,
    Sample,
    change_at_any_look,
    difference_at_any_look,
    lower_rank,
    median,
    median_at_any_look,
)
from resolab.stats.coverage.sequence import blocks_taken, simulate_coverage, simulate_fixed_coverage
from resolab.stats.sequence import compute_spent_error


def test_every_path_of_coins_is_counted() -> None:
    """Of all 65,536 paths of sixteen coins, as many leave by each look as the error spent by then allows."""
    left = [0] * 17
    for path in itertools.product((0, 1), repeat=16):
        counts = itertools.accumulate(path)
        first = next((n for n, below in enumerate(counts, start=1) if below < lower_rank(n)), None)
        for n in range(first or 17, 17):
            left[n] += 1
    shares = [one / 2**16 for one in left]
    assert all(share <= compute_spent_error(n, 0.95) + 1e-12 for n, share in enumerate(shares))
    # No end could be a rank further in without spending more.
    assert shares[8] == 2 / 2**9
    assert shares[16] > 0.6 * compute_spent_error(16, 0.95)


def test_the_first_interval_comes_with_eight_values_and_a_higher_level_takes_longer() -> None:
    assert [lower_rank(n) for n in (0, 1, 7, 8)] == [0, 0, 0, 1]
    assert lower_rank(8, 0.99) == 0
    assert lower_rank(8, 0.9) >= 1


def test_ends_are_further_out_than_of_a_fixed_number_and_not_by_much() -> None:
    for n in (12, 24, 40, 100, 200, 400):
        # Half the width of an interval in ranks, in units of the root of n: 0.98 at 95 %.
        assert 0.98 * 0.98 < (n / 2 - lower_rank(n)) / math.sqrt(n) < 1.75
    assert all(0 <= lower_rank(n + 1) - lower_rank(n) <= 1 for n in range(1, 3000))


def test_a_sequence_never_widens_and_holds_its_median() -> None:
    rng = np.random.default_rng(3)
    sequence, values = MedianSequence(), []
    before = (-math.inf, math.inf)
    for _ in range(150):
        values.append(float(rng.normal(5, 2)))
        sequence.add(values[-1], values[-1])
        assert before[0] <= sequence.low <= sequence.high <= before[1]
        before = (sequence.low, sequence.high)
        assert sequence.has_interval == (len(values) >= 8)
    assert sequence.low < 5 < sequence.high
    assert sequence.width == sequence.high - sequence.low < 2
    found = median_at_any_look(Sample.exact(values))
    assert (found.ci_low, found.ci_high) == before
    assert (found.value, found.n, found.level) == (float(np.median(values)), 150, 0.95)
    assert found.method is Method.CONFIDENCE_SEQUENCE
    fixed = median(Sample.exact(values))
    assert found.ci_width is not None
    assert fixed.ci_width is not None
    assert found.ci_width > fixed.ci_width * 0.9


def test_intervals_that_contradict_each_other_both_stand() -> None:
    """Pairs that are not alike over time: first around 0, then at 100."""
    sequence = MedianSequence()
    for value in range(40):
        sequence.add(value % 5, value % 5)
    assert sequence.high <= 4
    for _ in range(400):
        sequence.add(100.0, 100.0)
    assert sequence.contradicts_itself
    assert sequence.low <= 4
    assert sequence.high == 100.0


def test_too_few_values_have_no_interval() -> None:
    found = median_at_any_look(Sample.exact([1.0] * 7))
    assert (found.value, found.ci_low, found.method) == (1.0, None, Method.NONE)
    assert median_at_any_look(Sample.exact([])).n == 0
    assert change_at_any_look(Sample.exact([]), Sample.exact([])).value is None


def test_failed_loads_stay_bounds() -> None:
    """Six of sixteen treatments failed: below there is an end, above there is none."""
    treatment = Sample.from_censored([None, None, *[12.0, None, 12.0, 12.0] * 3, None, 12.0], [30.0] * 16)
    found = difference_at_any_look(treatment, Sample.exact([10.0] * 16))
    assert (found.value, found.censored_count) == (2.0, 6)
    assert (found.ci_low, found.ci_high) == (2.0, math.inf)
    both = difference_at_any_look(treatment, treatment)
    assert (both.ci_low, both.ci_high) == (-math.inf, math.inf)


def test_a_change_holds_where_both_medians_do() -> None:
    rng = np.random.default_rng(5)
    baseline = rng.normal(100, 5, 60)
    treatment = baseline * 1.2
    found = change_at_any_look(Sample.exact(treatment), Sample.exact(baseline))
    assert found.value == pytest.approx(0.2)
    assert found.ci_low is not None
    assert found.ci_high is not None
    assert 0.1 < found.ci_low < 0.2 < found.ci_high < 0.3
    endless = change_at_any_look(Sample.from_censored([1.0, None] * 10, [9.0] * 20), Sample.exact([1.0] * 20))
    assert endless.ci_high == math.inf
    fewer = change_at_any_look(Sample.exact([1.0] * 7), Sample.exact([1.0] * 7))
    assert (fewer.value, fewer.ci_low) == (0.0, None)


@pytest.mark.parametrize("kind", ["normal", "tied", "waits 50 %", "fails 20 %"])
def test_all_looks_hold_the_truth_together(kind: str) -> None:
    """Of 400 campaigns of up to 120 blocks; one standard error is 1.1 %."""
    assert simulate_coverage(kind, [120], 400)[0] >= 0.93


def test_intervals_of_a_fixed_number_do_not() -> None:
    assert simulate_fixed_coverage("normal", [40], 8, 200)[0] < 0.9


def test_it_takes_fewer_blocks_than_planned_where_the_difference_is_larger() -> None:
    taken = blocks_taken("normal", 24, 200)
    assert 15 < taken.mean < 40
    assert taken.mean_of_twice < 15
    assert 0.4 < taken.within_fixed_ratio < 0.9
