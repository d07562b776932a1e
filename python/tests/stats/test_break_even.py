import math

import numpy as np
import pytest

from resolab.stats import BatchedMean, Method, amortisation, break_even, proportion


@pytest.mark.parametrize(
    ("cold", "warm", "unconnected", "expected"),
    [
        (30.0, 10.0, 11.0, 20),  # 30 + 19 x 10 = 220 = 20 x 11
        (30.0, 10.0, 10.9, 23),  # 30 + 22 x 10 = 250 <= 23 x 10.9 = 250.7, and 240 > 22 x 10.9 = 239.8
        (30.0, 10.0, 10.0, math.inf),  # a tie never pays anything back
        (30.0, 12.0, 10.0, math.inf),
        (9.0, 12.0, 10.0, 1),  # paid by the first query already, whatever comes later
        (10.0, 10.0, 10.0, 1),
    ],
)
def test_break_even_is_the_first_count_not_above(cold: float, warm: float, unconnected: float, expected: float) -> None:
    assert float(break_even(cold, warm, unconnected)) == expected
    if math.isfinite(expected) and warm < unconnected:
        paid = [cold + (k - 1) * warm <= k * unconnected + 1e-9 for k in range(1, 100)]
        assert paid.index(True) + 1 == expected


def batches(mean: float, noise: float, seed: int, size: int = 40, members: int = 30) -> BatchedMean:
    values = np.random.default_rng(seed).normal(mean, noise, (size, members))
    return BatchedMean.from_arrays(values.sum(axis=1), [members] * size)


def test_amortisation_of_exact_costs_has_no_width() -> None:
    found = amortisation(batches(30, 0, 1), batches(10, 0, 1), batches(11, 0, 1), [1, 20, 23])
    crossing = found.break_even_count
    assert (crossing.low, crossing.ci_low, crossing.ci_high, crossing.n) == (20, 20, 20, 1200)
    assert crossing.method is Method.STUDENT
    assert found.extra_ms == pytest.approx([19, 0, -3])
    assert found.extra_ci_low_ms == pytest.approx(found.extra_ci_high_ms)
    assert found.saved_ms.value == pytest.approx(1)


def test_amortisation_says_never_where_the_interval_cannot_exclude_it() -> None:
    found = amortisation(batches(30, 1, 1), batches(10, 1, 2), batches(10, 1, 5), [1])
    assert found.break_even_count.ci_high == math.inf
    assert found.saved_ms.ci_contains_zero


def test_the_crossings_interval_holds_the_truth_as_often_as_it_says() -> None:
    hits = 0
    for seed in range(60):
        costs = (batches(30, 2, 3 * seed), batches(10, 2, 3 * seed + 1), batches(11, 2, 3 * seed + 2))
        crossing = amortisation(*costs, [1]).break_even_count
        assert crossing.ci_low is not None
        assert crossing.ci_high is not None
        hits += crossing.ci_low <= 20 <= crossing.ci_high
    assert hits >= 52  # of 60 at 95 %: 51 or fewer have a chance of 0.2 %


@pytest.mark.parametrize(("size", "of_means", "of_crossing"), [(1, 0, 0), (5, 0, 0), (6, 1, 0), (19, 1, 0), (20, 1, 1)])
def test_few_batches_have_a_crossing_and_no_interval(size: int, of_means: int, of_crossing: int) -> None:
    costs = [batches(mean, 0.1, seed, size) for seed, mean in enumerate((30, 10, 11))]
    found = amortisation(costs[0], costs[1], costs[2], [1, 2])
    assert found.break_even_count.low == pytest.approx(20, abs=3)
    assert (found.break_even_count.ci_low is not None) == bool(of_crossing)
    assert (found.saved_ms.ci_low is not None) == bool(of_means)
    assert np.isnan(found.extra_ci_low_ms).all() != bool(of_means)


def test_students_interval_of_a_ratio_is_cochrans() -> None:
    # Six batches of 1 to 3 queries: mean 10; residuals of their totals, in units of the 12 queries, by hand.
    warm = BatchedMean.from_arrays([10, 18, 33, 9, 22, 28], [1, 2, 3, 1, 2, 3])
    residuals = (np.array([0, -2, 3, -1, 2, -2])) / 12
    nothing = BatchedMean.from_arrays([0.0] * 6, [1] * 6)
    found = amortisation(nothing, warm, nothing, [1])
    half = 2.570582 * math.sqrt(6 / 5 * float((residuals**2).sum()))
    assert (found.saved_ms.ci_low, found.saved_ms.ci_high) == pytest.approx((-10 - half, -10 + half))


def test_what_is_not_paid_for_by_many_queries_never_is() -> None:
    found = amortisation(batches(300, 0, 1), batches(10, 0, 1), batches(10.01, 0, 1), [1])
    assert (found.break_even_count.low, found.break_even_count.ci_low) == (math.inf, math.inf)


def test_costs_of_other_batches_are_refused() -> None:
    with pytest.raises(ValueError, match="same batches"):
        amortisation(batches(3, 0, 1, 4), batches(1, 0, 1, 4), batches(2, 0, 1, 5), [1])


def test_proportion_is_wilsons_interval() -> None:
    # 10 of 100 at 95 %: (0.1 + z^2/200 +- z sqrt(0.09/100 + z^2/40000)) / (1 + z^2/100) with z = 1.959964.
    found = proportion(10, 100)
    assert found.value == pytest.approx(0.1)
    assert (found.ci_low, found.ci_high) == (pytest.approx(0.05522914), pytest.approx(0.17436566))
    assert found.method is Method.WILSON


def test_proportion_at_its_ends_and_of_nothing() -> None:
    none, every, nothing = proportion(0, 24), proportion(24, 24), proportion(0, 0)
    assert (none.ci_low, every.ci_high, nothing.value) == (0.0, 1.0, None)
    assert none.ci_high == pytest.approx(0.13798, abs=1e-5)
    assert every.ci_low == pytest.approx(1 - 0.13798, abs=1e-5)
    with pytest.raises(ValueError, match="between 0 and the total"):
        proportion(3, 2)
