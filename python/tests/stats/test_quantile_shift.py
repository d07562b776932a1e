"""Quantile differences: where they lie, from how many pairs on they have intervals, and what those hold.

For: `stats.quantile_shift`. Not for: the full simulation (`scripts/coverage`).
"""

import math

import numpy as np
import pytest

from resolab.stats import Sample, pairs_for_quantile, quantile_differences

WAIT = 5_000.0


def _waiting(rng: np.random.Generator, n: int, share: float) -> np.ndarray:
    return rng.normal(500, 20, n) + WAIT * (rng.random(n) < share)


def test_a_shift_is_the_same_at_every_quantile() -> None:
    values = np.arange(40.0) ** 2
    found = quantile_differences(Sample.exact(values + 7), Sample.exact(values), seed=1)
    assert [one.difference.value for one in found] == pytest.approx([7.0] * 6)
    # Pairs are resampled together, so that what they share moves nothing.
    for one in found:
        assert one.difference.ci_low == pytest.approx(7)
        assert one.difference.ci_high == pytest.approx(7)


def test_a_tail_shows_where_the_median_does_not() -> None:
    rng = np.random.default_rng(3)
    found = quantile_differences(
        Sample.exact(_waiting(rng, 60, 0.0) + 30), Sample.exact(_waiting(rng, 60, 0.4)), seed=1
    )
    by_probability = {one.probability: one.difference for one in found}
    assert 0 < (by_probability[0.1].value or 0) < 60
    ci_high = by_probability[0.9].ci_high
    assert ci_high is not None
    assert ci_high < -4_000


@pytest.mark.parametrize(
    ("probability", "pairs"), [(0.5, 12), (0.25, 12), (0.75, 12), (0.9, 20), (0.1, 20), (0.95, 40)]
)
def test_tails_need_more_pairs(probability: float, pairs: int) -> None:
    assert pairs_for_quantile(probability) == pairs
    values = np.arange(float(pairs))
    for size, method in ((pairs - 1, "none"), (pairs, "percentile")):
        sample = Sample.exact(values[:size])
        found = quantile_differences(sample, sample, seed=1, probabilities=(probability,))[0].difference
        assert found.method == method
        assert found.value == 0


def test_a_failed_load_leaves_the_upper_quantiles_open_only() -> None:
    values = [100.0 + one for one in range(20)]
    treatment = Sample.from_censored([*values[:-3], None, None, None], [30_000.0] * 20)
    found = quantile_differences(treatment, Sample.exact(values), seed=1)
    by_probability = {one.probability: one.difference for one in found}
    assert by_probability[0.5].value == pytest.approx(0)
    high = by_probability[0.9]
    assert high.value is None
    assert high.low is not None
    assert high.low > 29_000
    assert high.high == math.inf
    assert high.ci_high == math.inf
    assert high.censored_count == 3


def test_failed_on_both_sides_is_not_known() -> None:
    both = Sample.from_censored([None] * 12, [30_000.0] * 12)
    found = quantile_differences(both, both, seed=1, probabilities=(0.5,))[0].difference
    assert (found.ci_low, found.ci_high) == (-math.inf, math.inf)


def test_no_pairs_give_nothing_and_other_lengths_are_refused() -> None:
    none = quantile_differences(Sample.exact([]), Sample.exact([]), seed=1)
    assert {one.difference.n for one in none} == {0}
    with pytest.raises(ValueError, match="one length"):
        quantile_differences(Sample.exact([1.0]), Sample.exact([]), seed=1)
