import math

import numpy as np
import pytest
from made_up import link

from resolab.basics.errors import ConfigurationError
from resolab.basics.records import GilbertElliott, Jitter, JitterDistribution
from resolab.lab.calibration.requested_values import (
    DroptailLimit,
    LossModel,
    TraceOpportunities,
    serialisation_ms,
    usable_rate_bps,
)
from resolab.lab.calibration.spread import MEAN_INFLATION, SPREAD_INFLATION, DelaySpread


def test_a_packet_takes_its_bits_and_the_overhead():
    assert serialisation_ms(link(rate_bps=1e6), 100) == pytest.approx(0.8)
    assert serialisation_ms(link(rate_bps=1e6, packet_overhead_bytes=25), 100) == pytest.approx(1.0)
    assert serialisation_ms(link(), 100) == 0.0


def test_independent_loss_varies_as_a_binomial():
    loss = LossModel.from_direction(link(loss_ratio=0.1))
    assert (loss.ratio, loss.variance_per_packet) == (0.1, pytest.approx(0.09))


def chain(burst, kept, count, seed):
    random = np.random.default_rng(seed)
    moves, draws, independent = random.random(count), random.random(count), random.random(count)
    bad, lost = False, np.zeros(count, bool)
    for index in range(count):
        ratio = (burst.bad_loss_ratio or 1.0) if bad else (burst.good_loss_ratio or 0.0)
        lost[index] = draws[index] < ratio or independent[index] > kept
        bad = moves[index] >= burst.bad_to_good_ratio if bad else moves[index] < burst.good_to_bad_ratio
    return lost


@pytest.mark.parametrize(
    "burst",
    [
        GilbertElliott(good_to_bad_ratio=0.02, bad_to_good_ratio=0.3),
        GilbertElliott(good_to_bad_ratio=0.05, bad_to_good_ratio=0.2, good_loss_ratio=0.01, bad_loss_ratio=0.6),
    ],
)
def test_bursts_have_the_mean_and_the_variance_of_a_simulated_chain(burst):
    asked = LossModel.from_direction(link(loss_ratio=0.01, gilbert_elliott=burst))
    runs = np.array([chain(burst, 0.99, 2_000, seed).mean() for seed in range(400)])
    assert runs.mean() == pytest.approx(asked.ratio, rel=0.03)
    assert runs.var() * 2_000 == pytest.approx(asked.variance_per_packet, rel=0.2)


def test_a_chain_that_never_leaves_the_good_state_loses_nothing():
    burst = GilbertElliott(good_to_bad_ratio=0.0, bad_to_good_ratio=0.0)
    assert LossModel.from_direction(link(gilbert_elliott=burst)) == LossModel(0.0, 0.0)


def test_the_tighter_limit_counts_in_whole_packets():
    assert DroptailLimit.from_direction(link(queue_bytes=10_000), 1_500) == DroptailLimit(9_000)
    assert DroptailLimit.from_direction(link(queue_bytes=10_000, queue_packets=3), 1_500) == DroptailLimit(4_500)
    assert DroptailLimit.from_direction(link(queue_packets=3), 100) == DroptailLimit(300)
    assert DroptailLimit.from_direction(link(), 100) is None


def test_a_trace_has_its_mean_rate_and_a_bound_on_its_bursts(tmp_path):
    file = tmp_path / "t"
    file.write_text("".join(f"{at}\n" for at in [20] * 10))
    way = link(trace_file=str(file))
    assert usable_rate_bps(way) == pytest.approx(6e6)
    trace = TraceOpportunities.read(str(file))
    assert trace.largest_deviation_bits(1_500) >= 10 * 12_000
    with pytest.raises(ConfigurationError, match="nowhere"):
        TraceOpportunities.read("nowhere")


def test_no_jitter_is_no_spread():
    assert DelaySpread.from_direction(link()) is None
    assert DelaySpread.from_direction(link(jitter=Jitter(standard_deviation_ms=0.0))) is None


def test_uniform_quantiles_have_their_moments():
    spread = DelaySpread.from_direction(link(jitter=Jitter(quantiles_ms=[-3.0, 9.0])))
    assert spread is not None
    assert spread.mean_ms == pytest.approx(23.0)
    assert spread.deviation_ms == pytest.approx(12 / math.sqrt(12))
    assert spread.width_ms() == 12.0
    assert spread.interval_ms == pytest.approx(10 * spread.deviation_ms)


def test_a_lognormal_spread_has_the_mean_and_deviation_asked():
    jitter = Jitter(standard_deviation_ms=30.0, distribution=JitterDistribution.LOGNORMAL)
    spread = DelaySpread.from_direction(link(50.0, jitter=jitter))
    assert spread is not None
    values = np.exp(spread.log_mean + spread.log_deviation * np.random.default_rng(1).standard_normal(400_000))
    assert values.mean() == pytest.approx(50.0, rel=0.01)
    assert values.std() == pytest.approx(30.0, rel=0.02)
    low, high = np.quantile(values, [1e-4, 1 - 1e-4])
    assert spread.width_ms() == pytest.approx(high - low, rel=0.1)


def test_neighbouring_values_of_the_process_inflate_the_variance_as_computed():
    random, per, intervals = np.random.default_rng(3), 40, 200
    later = (np.arange(per) + 0.5) / per
    weights = np.stack([1 - later, later]) / np.hypot(1 - later, later)
    means, squares = [], []
    for _ in range(2_000):
        knots = random.standard_normal(intervals + 1)
        values = np.outer(knots[:-1], weights[0]) + np.outer(knots[1:], weights[1])
        means.append(values.mean())
        squares.append((values**2).mean())
    assert np.var(means) * intervals == pytest.approx(MEAN_INFLATION, rel=0.1)
    assert np.var(squares) * intervals / 2 == pytest.approx(SPREAD_INFLATION, rel=0.1)
