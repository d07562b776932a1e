"""Rate and loss of the link as seen by its receivers.

For: the figures `rate` and `loss`. Not for: the effect on TCP.
"""

import math

from benches.link.bench import LinkBench, run_path
from benches.link.figure import LinkFigure, verdict
from resolab.basics.records import LinkDirection
from resolab.lab import engine
from resolab.lab.calibration.saturation import saturation_checks
from resolab.lab.calibration.train import Train

RATES_BPS = (842_000, 10_700_000, 109_000_000, 165_000_000)
OVERLOAD, QUEUE_S = 1.3, 0.3
LOSS_RATIOS, SEEDS = (0.005, 0.015, 0.021), (1, 2, 3)
LOSS_PACKETS_COUNT = 40_000
STANDARD_ERRORS = 3.0


async def rate(bench: LinkBench) -> list[LinkFigure]:
    """Send faster than the link, long enough for ten seconds after its queue has filled."""
    errors = {f"{rate_bps / 1e6:g} Mbit/s": await _rate_error(bench, rate_bps) for rate_bps in RATES_BPS}
    worst = max(abs(error) for error in errors.values())
    measured = ", ".join(f"{error * 100:+.4f}" for error in errors.values())
    name = "rate error over 10 s at 0.842, 10.7, 109, 165 Mbit/s: %"
    return [LinkFigure(name, "0.01", "0.002", measured, verdict([worst], [1e-4], [2e-5]), errors)]


async def _rate_error(bench: LinkBench, rate_bps: int) -> float:
    up = f"one_way_delay_ms = 5\nrate_bps = {rate_bps}\nqueue_bytes = {max(15_000, round(rate_bps * QUEUE_S / 8))}"
    interval_us = 1_500 * 8e6 / (rate_bps * OVERLOAD)
    seconds = bench.seconds(10.0) + QUEUE_S / (OVERLOAD - 1)
    async with run_path(bench, up, "one_way_delay_ms = 5") as path:
        record = await engine.send_train(
            path.pid,
            LinkDirection.UP,
            packets_count=math.ceil(seconds * 1e6 / interval_us),
            packet_bytes=1_500,
            interval_us=interval_us,
        )
        got = next(check.got for check in saturation_checks(Train.from_record(record), path.path.ready.profile.up))
    return got / rate_bps - 1


async def loss(bench: LinkBench) -> list[LinkFigure]:
    """Send 40,000 packets for each share and seed; the receiver must count as the path does."""
    count = round(bench.seconds(LOSS_PACKETS_COUNT))
    runs = [(ratio, await _count_lost(bench, ratio, seed, count)) for ratio in LOSS_RATIOS for seed in SEEDS]
    errors = [(lost - ratio * count) / math.sqrt(ratio * (1 - ratio) * count) for ratio, (lost, _) in runs]
    unexplained = sum(abs(difference) for _, (_, difference) in runs)
    shares = ", ".join(
        " / ".join(f"{100 * lost / count:.3f}" for ratio, (lost, _) in runs if ratio == wanted)
        for wanted in LOSS_RATIOS
    )
    largest = max(abs(error) for error in errors)
    return [
        LinkFigure(
            f"loss at 0.5, 1.5, 2.1 %, {count} packets, 3 seeds: %",
            "3 SE",
            "",
            f"{shares}; largest error {largest:.1f} SE",
            verdict([largest], [STANDARD_ERRORS], [STANDARD_ERRORS]),
        ),
        LinkFigure(
            "packets lost that the path did not count",
            "0",
            "0",
            str(unexplained),
            verdict([unexplained], [0], [0]),
        ),
    ]


async def _count_lost(bench: LinkBench, ratio: float, seed: int, count: int) -> tuple[int, int]:
    """Return the number of missing packets, and its difference to the path's count of dropped packets."""
    up = f"one_way_delay_ms = 5\nloss_ratio = {ratio}"
    async with run_path(bench, up, "one_way_delay_ms = 5", seed=seed) as path:
        record = await engine.send_train(
            path.pid, LinkDirection.UP, packets_count=count, packet_bytes=100, interval_us=100.0, silence_ms=500
        )
        window = (await path.summary()).up
    lost = record.received_ns.count(None)
    return lost, lost - window.dropped_loss_count
