import dataclasses

import numpy as np
import pytest
from made_up import jittered, link, only, through

from resolab.basics.records import (
    CrossTraffic,
    CrossTrafficModel,
    GilbertElliott,
    Jitter,
    JitterDistribution,
    PolicerSettings,
)
from resolab.lab.calibration.delay import delay_checks
from resolab.lab.calibration.loss import loss_check


def sparse(way, count=3_000, interval_us=2_500.0, **more):
    return through(way, packets_count=count, packet_bytes=60, interval_us=interval_us, **more)


def test_a_link_as_asked_is_within():
    way = link(20.0, rate_bps=1e7)
    checks = delay_checks(sparse(way), way)
    assert [check.quantity for check in checks] == ["delay", "delay_p99_error", "reordering"]
    assert all(check.within for check in checks)
    assert only(checks, "delay").asked == pytest.approx(20.048)


@pytest.mark.parametrize("error_ms", [0.4, -0.4])
def test_a_delay_that_is_off_is_outside(error_ms):
    checks = delay_checks(sparse(link(20.0)), link(20.0 - error_ms))
    assert only(checks, "delay").within is False
    assert only(checks, "delay").got - only(checks, "delay").asked == pytest.approx(error_ms, abs=0.1)


def test_serialisation_that_is_off_is_outside():
    assert only(delay_checks(sparse(link(rate_bps=1e6)), link(rate_bps=3e6)), "delay").within is False


def test_a_tail_of_late_packets_is_outside_though_the_median_is_not():
    train = sparse(link())
    received = train.received_ms.copy()
    received[::50] += 1.0
    checks = delay_checks(dataclasses.replace(train, received_ms=received), link())
    assert only(checks, "delay").within is True
    assert only(checks, "delay_p99_error").within is False


def test_one_overtaken_packet_is_outside():
    train = sparse(link())
    received = train.received_ms.copy()
    received[[70, 71]] = received[[71, 70]]
    check = only(delay_checks(dataclasses.replace(train, received_ms=received), link()), "reordering")
    assert (check.got, check.within) == (1, False)


def test_nothing_received_is_outside():
    train = sparse(link())
    nothing = dataclasses.replace(train, received_ms=np.full(len(train.sent_ms), np.nan))
    assert [check.within for check in delay_checks(nothing, link())] == [False]


NORMAL = jittered(2.0)
LOGNORMAL = jittered(12.0, JitterDistribution.LOGNORMAL)


@pytest.mark.parametrize("jitter", [NORMAL, LOGNORMAL], ids=["normal", "lognormal"])
def test_a_varying_delay_as_asked_is_hardly_ever_outside(jitter):
    way = link(20.0, jitter=jitter)
    for seed in range(40):
        checks = delay_checks(sparse(way, count=3_200, seed=seed), way)
        assert only(checks, "delay").within is not False, seed
        assert only(checks, "jitter").within is not False, seed


@pytest.mark.parametrize("jitter", [NORMAL, LOGNORMAL], ids=["normal", "lognormal"])
@pytest.mark.parametrize("factor", [0.1, 3.0])
def test_a_spread_that_is_far_off_is_outside(jitter, factor):
    way = link(20.0, jitter=jitter)
    other = link(20.0, jitter=jittered(jitter.standard_deviation_ms * factor, jitter.distribution, interval_ms=60.0))
    train = sparse(other, count=4_800)
    wanted = link(20.0, jitter=jittered(jitter.standard_deviation_ms, jitter.distribution, interval_ms=60.0))
    assert only(delay_checks(train, wanted), "jitter").within is False
    assert way.jitter is jitter


@pytest.mark.parametrize("jitter", [NORMAL, LOGNORMAL], ids=["normal", "lognormal"])
def test_a_varying_delay_with_another_middle_is_outside(jitter):
    steady = jittered(jitter.standard_deviation_ms, jitter.distribution, interval_ms=60.0)
    train = sparse(link(44.0, jitter=steady), count=4_800)
    assert only(delay_checks(train, link(20.0, jitter=steady)), "delay").within is False


def test_few_intervals_are_shown_without_a_verdict():
    way = link(50.0, jitter=jittered(30.0))
    checks = delay_checks(sparse(way, count=800), way)
    assert only(checks, "jitter").within is None


def test_packets_that_may_overtake_are_not_judged_for_it():
    way = link(20.0, jitter=jittered(2.0, per_packet_reordering=True))
    random = np.random.default_rng(1)
    train = sparse(link(20.0))
    received = train.received_ms + 2.0 * random.standard_normal(len(train.sent_ms))
    checks = delay_checks(dataclasses.replace(train, received_ms=received), way)
    assert only(checks, "reordering").within is None
    assert only(checks, "reordering").got > 100
    assert only(checks, "jitter").within is True


def test_waiting_for_others_is_no_error():
    way = link(20.0, rate_bps=1e7, cross_traffic=CrossTraffic(model=CrossTrafficModel.POISSON, rate_bps=5e6))
    (check, _) = delay_checks(sparse(link(20.0, rate_bps=1e7), lateness_ms=5.0), way)
    assert check.within is None
    assert check.got == pytest.approx(20.15, abs=0.1)


def test_quantile_jitter_is_judged_by_its_own_mean():
    way = link(20.0, jitter=Jitter(quantiles_ms=[0.0, 10.0]))
    train = sparse(link(25.0, jitter=jittered(2.887, interval_ms=28.87)))
    assert only(delay_checks(train, way), "delay").within is True


def test_loss_as_asked_is_within_and_another_is_not():
    trains = [sparse(link(loss_ratio=0.02), count=10_000)]
    assert loss_check(trains, link(loss_ratio=0.02)).within is True
    assert loss_check(trains, link(loss_ratio=0.03)).within is False
    assert loss_check(trains, link(loss_ratio=0.01)).within is False


def test_a_loss_free_link_may_not_lose_one():
    train = sparse(link())
    assert loss_check([train], link()).within is True
    received = train.received_ms.copy()
    received[-1] = np.nan
    assert loss_check([dataclasses.replace(train, received_ms=received)], link()).within is False


def test_what_a_policer_drops_is_no_error():
    train = sparse(link())
    received = train.received_ms.copy()
    received[-1] = np.nan
    way = link(policer=PolicerSettings(rate_bps=1e6, burst_bytes=1_500))
    assert loss_check([dataclasses.replace(train, received_ms=received)], way).within is None


def test_bursts_widen_the_tolerance_of_loss():
    burst = GilbertElliott(good_to_bad_ratio=0.005, bad_to_good_ratio=0.1)
    trains = [sparse(link(), count=5_000)]
    of_bursts = loss_check(trains, link(gilbert_elliott=burst))
    independent = loss_check(trains, link(loss_ratio=of_bursts.asked))
    assert of_bursts.tolerance > 3 * independent.tolerance


def test_all_trains_of_a_direction_count():
    trains = [sparse(link(loss_ratio=0.02), count=2_000, seed=seed) for seed in (1, 2)]
    assert loss_check(trains, link(loss_ratio=0.02)).observations_count == 4_000
