import dataclasses

import msgspec
import numpy as np
import pytest
from made_up import UP, jittered, link, only, through

from resolab.basics.records import (
    BulkTransferRecord,
    CrossTraffic,
    CrossTrafficModel,
    DirectionSummary,
    PathSummaryRecord,
    PolicerSettings,
    QueueDiscipline,
)
from resolab.lab.calibration import probe_design
from resolab.lab.calibration.lateness import path_checks
from resolab.lab.calibration.saturation import saturation_checks
from resolab.lab.calibration.transfer import bulk_check


def saturated(way, seconds=20.0, **more):
    plan = probe_design.saturation_train(way, 1_500, seconds)
    assert plan is not None
    return through(
        way, packets_count=plan.packets_count, packet_bytes=plan.packet_bytes, interval_us=plan.interval_us, **more
    )


DSL = link(rate_bps=10_734_760, queue_bytes=56_839)


@pytest.mark.parametrize(
    "way",
    [DSL, link(rate_bps=842_152, queue_bytes=15_000), link(rate_bps=149_747, queue_bytes=15_000),
     link(5.0, rate_bps=40e6, queue_bytes=60_000, loss_ratio=0.02), link(rate_bps=5e6, queue_bytes=30_000, packet_overhead_bytes=38)],
)  # fmt: skip
def test_a_link_as_asked_is_within(way):
    checks = saturation_checks(saturated(way), way)
    assert [(check.quantity, check.within) for check in checks] == [("rate", True), ("queue", True)]


@pytest.mark.parametrize("factor", [0.99, 0.999, 1.001, 1.01])
def test_a_rate_that_is_a_thousandth_off_is_outside(factor):
    asked = dataclasses_replace(DSL, rate_bps=DSL.rate_bps * factor)
    check = only(saturation_checks(saturated(DSL), asked), "rate")
    assert check.within is False
    assert check.got == pytest.approx(DSL.rate_bps, rel=1e-4)


def dataclasses_replace(way, **changes):
    return link(way.one_way_delay_ms, **{"rate_bps": way.rate_bps, "queue_bytes": way.queue_bytes, **changes})


@pytest.mark.parametrize("factor", [0.8, 1.25])
def test_a_queue_of_another_size_is_outside(factor):
    asked = dataclasses_replace(DSL, queue_bytes=int(DSL.queue_bytes * factor))
    assert only(saturation_checks(saturated(DSL), asked), "queue").within is False


def test_a_queue_without_end_is_outside():
    endless = dataclasses_replace(DSL, queue_bytes=None)
    plan = probe_design.saturation_train(DSL, 1_500, 20.0)
    train = through(
        endless, packets_count=plan.packets_count, packet_bytes=plan.packet_bytes, interval_us=plan.interval_us
    )
    assert only(saturation_checks(train, DSL), "queue").within is False


def test_a_queue_that_does_not_fill_is_shown_without_a_verdict():
    huge = dataclasses_replace(DSL, queue_bytes=100_000_000)
    check = only(saturation_checks(saturated(huge, seconds=5.0), huge), "queue")
    assert check.within is None


def test_a_sender_that_pauses_does_not_spoil_the_rate():
    check = only(saturation_checks(saturated(DSL, pause_ms=400.0), DSL), "rate")
    assert check.within is True


def test_a_sender_too_slow_for_the_link_proves_nothing():
    train = through(DSL, packets_count=800, packet_bytes=1_500, interval_us=1_200.0)
    assert only(saturation_checks(train, DSL), "rate").within is None


def test_late_packets_do_not_move_the_rate():
    train = saturated(DSL)
    received = train.received_ms.copy()
    received[-1] += 5.0
    assert only(saturation_checks(dataclasses.replace(train, received_ms=received), DSL), "rate").within is True


def test_jitter_widens_the_tolerances():
    way = link(40.0, rate_bps=DSL.rate_bps, queue_bytes=200_000, jitter=jittered(1.0))
    steady = link(40.0, rate_bps=DSL.rate_bps, queue_bytes=200_000)
    for seed in range(10):
        checks = saturation_checks(saturated(way, seed=seed), way)
        assert all(check.within for check in checks), (seed, checks)
    assert only(checks, "rate").tolerance > 5 * only(saturation_checks(saturated(steady), steady), "rate").tolerance
    wild = link(40.0, rate_bps=DSL.rate_bps, queue_bytes=20_000, jitter=jittered(10.0))
    assert only(saturation_checks(saturated(wild), wild), "queue").within is None


def test_others_on_the_link_take_away_the_verdict():
    way = link(
        rate_bps=1e7, queue_bytes=50_000, cross_traffic=CrossTraffic(model=CrossTrafficModel.POISSON, rate_bps=2e6)
    )
    train = saturated(link(rate_bps=1e7, queue_bytes=50_000))
    assert [check.within for check in saturation_checks(train, way)] == [None, None]


def test_codel_has_no_queue_to_be_full():
    way = link(rate_bps=1e7, queue_bytes=1_500_000, queue_discipline=QueueDiscipline.CODEL)
    assert [check.quantity for check in saturation_checks(saturated(way), way)] == ["rate"]


def test_no_rate_is_not_asked_for():
    assert probe_design.saturation_train(link(), 1_500, 20.0) is None
    train = through(link(), packets_count=100, packet_bytes=100, interval_us=100.0)
    assert saturation_checks(train, link()) == []


def test_a_trace_is_judged_by_its_mean_rate(tmp_path):
    file = tmp_path / "t"
    file.write_text("".join(f"{at}\n" for at in range(1, 101)))
    way = link(trace_file=str(file), queue_bytes=30_000)
    right = through(link(rate_bps=12e6, queue_bytes=30_000), packets_count=2_000, packet_bytes=1_500, interval_us=769.0)
    assert [check.within for check in saturation_checks(right, way)] == [True]
    wrong = through(link(rate_bps=11e6, queue_bytes=30_000), packets_count=4_000, packet_bytes=1_500, interval_us=769.0)
    assert [check.within for check in saturation_checks(wrong, way)] == [False]


def transferred(goodput_bps, seconds=3.0, retransmitted=0):
    return BulkTransferRecord(
        direction=UP, congestion_control="cubic", warm_up_ns=10**9, counted_ns=int(seconds * 1e9),
        counted_bytes=int(goodput_bps * seconds / 8), segment_bytes=1_448, retransmitted_segments_count=retransmitted,
        round_trip_min_us=40_000,
    )  # fmt: skip


@pytest.mark.parametrize(("share", "within"), [(0.85, False), (0.95, True), (1.0, True), (1.009, True), (1.03, False)])
def test_goodput_is_judged_against_what_headers_leave(share, within):
    bound = DSL.rate_bps * 1_448 / 1_500
    check = bulk_check(transferred(share * bound), DSL, DSL)
    assert check.asked == pytest.approx(bound)
    assert check.within is within


def test_goodput_of_a_lossy_link_is_shown_unless_it_is_impossible():
    lossy = link(rate_bps=10_734_760, queue_bytes=56_839, loss_ratio=0.02)
    assert bulk_check(transferred(3e6), lossy, DSL).within is None
    assert bulk_check(transferred(3e6), DSL, lossy).within is None
    assert bulk_check(transferred(11e6), lossy, DSL).within is False


def test_a_hole_in_the_sequence_can_move_bytes_into_a_short_time():
    short = link(1.0, rate_bps=2e6, queue_bytes=15_000)
    bound = 2e6 * 1_448 / 1_500
    assert bulk_check(transferred(1.04 * bound, 0.45), short, link(1.0)).within is False
    assert bulk_check(transferred(1.04 * bound, 0.45, retransmitted=3), short, link(1.0)).within is None
    assert bulk_check(transferred(1.04 * bound, 4.0, retransmitted=3), short, link(1.0)).within is False


def test_goodput_without_a_rate_is_shown():
    check = bulk_check(transferred(3e9), link(), link())
    assert (check.asked, check.within) == (None, None)


def test_goodput_behind_a_policer_is_shown():
    way, bound = link(20.0, rate_bps=1e7, queue_bytes=50_000), 1e7 * 1_448 / 1_500
    slow = transferred(0.5 * bound)
    assert bulk_check(slow, way, link()).within is False
    policer = PolicerSettings(rate_bps=5e6, burst_bytes=1_500)
    assert bulk_check(slow, msgspec.structs.replace(way, policer=policer), link()).within is None


def summary(p99_ns, drops):
    window = DirectionSummary(
        packets_in_count=100, packets_out_count=100, bytes_in_bytes=1, bytes_out_bytes=1, dropped_loss_count=0,
        dropped_queue_count=0, dropped_device_count=drops, lateness_p99_ns=p99_ns,
    )  # fmt: skip
    idle = DirectionSummary(
        packets_in_count=0, packets_out_count=0, bytes_in_bytes=0, bytes_out_bytes=0, dropped_loss_count=0,
        dropped_queue_count=0, dropped_device_count=0,
    )  # fmt: skip
    return PathSummaryRecord(
        window_start_ns=0, window_end_ns=1, profile="x", up=window, down=idle, unrecognised_packets_count=0
    )


def test_lateness_and_lost_packets_of_the_path_itself_are_judged():
    assert [(check.quantity, check.within) for check in path_checks(summary(400_000, 0))] == [
        ("lateness_p99", True), ("device_drops", True), ("device_drops", True),
    ]  # fmt: skip
    assert [check.within for check in path_checks(summary(600_000, 1))] == [False, False, True]


def test_probes_of_a_slow_link_stay_sparse_and_of_a_fast_one_bounded():
    slow, fast = link(rate_bps=149_747), link(rate_bps=165e6, queue_bytes=520_000)
    plan = probe_design.sparse_train(slow, 20.0)
    assert plan.packet_bytes * 8e6 / plan.interval_us <= 0.1001 * slow.rate_bps
    fill = probe_design.saturation_train(fast, 1_500, 20.0)
    assert fill.packet_bytes == 1_500
    assert fill.packets_count < 100_000
    assert 1_500 * 8e6 / fill.interval_us == pytest.approx(1.3 * 165e6)
    assert probe_design.saturation_train(slow, 1_500, 20.0).packets_count >= 300
    assert probe_design.saturation_train(link(rate_bps=5e9), 1_500, 20.0) is None


def test_slowly_varying_delays_get_more_time():
    steady, slow = link(), link(50.0, jitter=jittered(30.0))
    assert probe_design.sparse_train(slow, 20.0).duration_s == pytest.approx(7.5, rel=0.01)
    assert probe_design.sparse_train(steady, 20.0).duration_s == pytest.approx(6.0, rel=0.01)
    assert probe_design.sparse_train(slow, 5.0).duration_s == pytest.approx(3.0, rel=0.01)


def test_nothing_received_in_time_is_a_value():
    assert bulk_check(transferred(0.0), DSL, DSL).got == 0.0
    slow, fast = link(rate_bps=149_747), link(rate_bps=1e7)
    assert probe_design.transfer(slow, fast, 20.0).seconds > 2.5 * probe_design.transfer(fast, slow, 20.0).seconds


def test_a_busy_link_is_left_time_to_drain():
    assert probe_design.drain_s(link(20.0)) == pytest.approx(0.02)
    assert probe_design.drain_s(link(20.0, rate_bps=1e6, queue_bytes=125_000)) == pytest.approx(1.02)


def test_longer_packets_are_not_sent_than_the_link_takes():
    assert probe_design.saturation_train(link(rate_bps=1e7), 600, 20.0).packet_bytes == 600
    assert np.isfinite(probe_design.saturation_train(link(rate_bps=1_000), 576, 20.0).duration_s)
