import pytest

from resolab.stats import Sample, estimate_remaining_share


def test_the_share_is_of_the_medians_differences() -> None:
    base, doh, own = [100.0, 101.0, 99.0] * 3, [200.0, 203.0, 190.0] * 3, [150.0, 140.0, 155.0] * 3
    found = estimate_remaining_share(Sample.exact(own), Sample.exact(doh), Sample.exact(base), seed=1)
    assert found.value == pytest.approx((150 - 100) / (200 - 100))
    assert found.n == 9
    assert found.ci_low is not None
    assert found.ci_high is not None
    assert found.ci_low <= 0.5 <= found.ci_high


def test_fewer_than_eight_blocks_have_a_share_and_no_interval() -> None:
    base, doh, own = [100.0, 101.0, 99.0], [200.0, 203.0, 190.0], [150.0, 140.0, 155.0]
    for copies, has_interval in ((1, False), (2, False), (3, True)):
        found = estimate_remaining_share(*(Sample.exact(one * copies) for one in (own, doh, base)), seed=1)
        assert found.value == pytest.approx(0.5)
        assert (found.ci_low is not None) == has_interval


def test_without_an_overhead_there_is_no_share() -> None:
    base = Sample.exact([100.0, 100.0])
    assert estimate_remaining_share(Sample.exact([90.0, 91.0]), Sample.exact([99.0, 98.0]), base, seed=1).value is None
    assert estimate_remaining_share(Sample.exact([]), Sample.exact([]), Sample.exact([]), seed=1).value is None


def test_of_an_overhead_that_may_be_none_there_is_no_share() -> None:
    base, doh, own = [90.0, 100.0, 110.0] * 3, [102.0, 101.0, 80.0] * 3, [91.0, 101.0, 111.0] * 3
    found = estimate_remaining_share(Sample.exact(own), Sample.exact(doh), Sample.exact(base), seed=1)
    assert (found.value, found.ci_low, found.ci_high) == (None, None, None)


def test_half_a_sample_censored_gives_no_number() -> None:
    censored = Sample.from_censored([None, None, 100.0], [30_000.0] * 3)
    exact = Sample.exact([100.0, 101.0, 102.0])
    assert estimate_remaining_share(censored, Sample.exact([200.0, 201.0, 202.0]), exact, seed=1).value is None


def test_nothing_is_known_of_an_overhead_whose_reference_mostly_failed() -> None:
    base, own = Sample.exact([90.0 + place / 8 for place in range(8)]), Sample.exact([100.0] * 8)
    for failed in (5, 4):
        doh = Sample.from_censored([None] * failed + [190.0] * (8 - failed), [30_000.0] * 8)
        found = estimate_remaining_share(own, doh, base, seed=1)
        assert (found.value, found.ci_low, found.ci_high) == (None, None, None)
    # Of two failures the median is still known, of some resamples it is not: those widen both ends.
    doh = Sample.from_censored([None] * 2 + [190.0] * 6, [30_000.0] * 8)
    found = estimate_remaining_share(own, doh, base, seed=1)
    assert found.value == pytest.approx(0.0956, abs=0.002)
    assert found.ci_high is not None
    assert found.ci_high > found.value


def test_blocks_must_be_of_one_length() -> None:
    with pytest.raises(ValueError, match="one length"):
        estimate_remaining_share(Sample.exact([1.0]), Sample.exact([1.0, 2.0]), Sample.exact([1.0]), seed=1)
