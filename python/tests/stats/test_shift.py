import itertools
import math

import numpy as np
import pytest

from resolab.stats import Method, Sample, hodges_lehmann
from resolab.stats.ranks import compute_signed_rank_cdf, rank_sum_cdf


@pytest.mark.parametrize("n", [1, 3, 6])
def test_signed_rank_distribution_by_counting(n: int) -> None:
    sums = [sum(rank for rank, chosen in zip(range(1, n + 1), signs, strict=True) if chosen)
            for signs in itertools.product((False, True), repeat=n)]  # fmt: skip
    for w, chance in enumerate(compute_signed_rank_cdf(n)):
        assert chance == pytest.approx(np.mean([one <= w for one in sums]))


@pytest.mark.parametrize(("m", "n"), [(1, 1), (2, 3), (4, 3)])
def test_rank_sum_distribution_by_counting(m: int, n: int) -> None:
    places = list(itertools.combinations(range(m + n), m))
    counts = [sum(place - order for order, place in enumerate(chosen)) for chosen in places]
    for u, chance in enumerate(rank_sum_cdf(m, n)):
        assert chance == pytest.approx(np.mean([one <= u for one in counts]))


def test_large_samples_use_the_normal_distribution_without_a_step() -> None:
    exact, rough = compute_signed_rank_cdf(60), compute_signed_rank_cdf(61)
    assert exact[650] == pytest.approx(0.0262, abs=0.002)
    assert abs(rough[1891 // 2] - 0.5) < 0.01
    assert np.abs(rank_sum_cdf(60, 60)[1500] - rank_sum_cdf(61, 60)[1525]) < 0.002


def test_a_known_paired_shift() -> None:
    # Hollander and Wolfe's depression scores (table 3.1): estimate -0.46, 96 % interval [-0.786, -0.010].
    before = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30]
    after = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29]
    estimate = hodges_lehmann(Sample.exact(after), Sample.exact(before), paired=True, level=1 - 20 / 512)
    assert estimate.value == pytest.approx(-0.46)
    assert (estimate.ci_low, estimate.ci_high) == (pytest.approx(-0.786), pytest.approx(-0.010))
    assert (estimate.method, estimate.n) == (Method.SIGNED_RANK, 9)


def test_a_known_shift_of_two_samples() -> None:
    # Hollander and Wolfe's permeability constants (table 4.1): estimate -0.305, 96 % interval [-0.76, 0.15].
    at_term = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46]
    early = [1.15, 0.88, 0.90, 0.74, 1.21]
    level = 1 - 2 * float(rank_sum_cdf(5, 10)[8])
    estimate = hodges_lehmann(Sample.exact(early), Sample.exact(at_term), level=level)
    assert estimate.value == pytest.approx(-0.305)
    assert (estimate.ci_low, estimate.ci_high) == (pytest.approx(-0.76), pytest.approx(0.15))


def test_differences_may_be_given_as_such() -> None:
    differences = Sample.exact([1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0])
    pairs = hodges_lehmann(Sample.exact(differences.low + 5), Sample.exact([5.0] * 7), paired=True)
    assert hodges_lehmann(differences) == pairs


def test_censored_values_bound_the_shift_from_outside() -> None:
    limit = [100.0] * 8
    known = [float(value) for value in range(20, 28)]
    base = Sample.exact([10.0 + value % 3 for value in range(8)])
    one_lost = hodges_lehmann(Sample.from_censored([*known[:7], None], limit), base, paired=True)
    for truth in (100.0, 150.0, 9_999.0):
        full = hodges_lehmann(Sample.exact([*known[:7], truth]), base, paired=True)
        assert one_lost.low <= full.value <= one_lost.high
        assert one_lost.ci_low <= full.ci_low <= full.ci_high <= one_lost.ci_high
    assert one_lost.censored_count == 1
    nothing = hodges_lehmann(
        Sample.from_censored([None] * 8, limit), Sample.from_censored([None] * 8, limit), paired=True
    )
    assert (nothing.low, nothing.high, nothing.ci_contains_zero) == (-math.inf, math.inf, True)
    two = hodges_lehmann(Sample.from_censored([*known[:7], None], limit), base)
    assert two.value is not None or two.high > two.low
    assert two.ci_high > hodges_lehmann(Sample.exact([*known[:7], 27.0]), base).ci_low


def test_too_few_values_have_no_interval() -> None:
    assert hodges_lehmann(Sample.exact([1.0, 2.0, 3.0])).method is Method.NONE
    assert hodges_lehmann(Sample.exact([1.0, 2.0]), Sample.exact([3.0, 4.0])).method is Method.NONE
    assert hodges_lehmann(Sample.exact([]), Sample.exact([3.0])).low is None
