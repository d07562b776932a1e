"""The path under load: TCP without a limit, processor time, lateness beside a fast flow.

For: the figures `tcp`, `cpu` and `lateness`. Not for: accuracy of delay and rate.
"""

import asyncio
import json
import os
import shutil
import subprocess
from pathlib import Path

from benches.link.bench import LinkBench, MeasuredPath, run_path
from benches.link.figure import LinkFigure, make_placeholder, verdict, verdict_at_least
from resolab.basics.records import DirectionSummary, LinkDirection, PathSummaryRecord
from resolab.lab import engine
from resolab.lab.calibration import congestion_control

NOTHING = "one_way_delay_ms = 0"
TICKS_PER_S = os.sysconf("SC_CLK_TCK")
CPU_RATE_BPS, CPU_PACKET_BYTES = 100e6, 1_500
LIMIT_US = 500.0
LATENESS = "lateness under a 165 Mbit/s TCP flow, worse direction: p50 / p99 us"


async def tcp(bench: LinkBench) -> list[LinkFigure]:
    """Send over one connection through a link without any limit."""
    seconds = bench.seconds(8.0)
    goodput = {}
    async with run_path(bench, NOTHING, NOTHING) as path:
        for direction in (LinkDirection.UP, LinkDirection.DOWN):
            record = await engine.run_transfer(
                path.pid, direction, warm_up_ms=1_000, seconds=seconds, congestion_control=congestion_control()
            )
            goodput[direction.value] = record.counted_bytes * 8 / record.counted_ns
        drops = sum(window.dropped_device_count for window in _windows(await path.summary()))
        by_iperf3 = await _iperf3(path, seconds)
    name = "unlimited TCP, up / down: Gbit/s"
    return [
        _tcp_figure(name, goodput, f", device drops {drops}"),
        *([_tcp_figure(f"{name}, iperf3", by_iperf3, "")] if by_iperf3 else []),
    ]


def _tcp_figure(name: str, goodput: dict[str, float], more: str) -> LinkFigure:
    measured = " / ".join(f"{value:.2f}" for value in goodput.values()) + more
    return LinkFigure(name, "3", "5", measured, verdict_at_least(min(goodput.values()), 3.0, 5.0), goodput)


async def _iperf3(path: MeasuredPath, seconds: float) -> dict[str, float]:
    program = shutil.which("iperf3")
    if program is None:
        return {}
    goodput = {}
    for direction, options in (("up", []), ("down", ["-R"])):
        server = await asyncio.create_subprocess_exec(
            *engine.enter_prefix(path.pid, "server"), program, "-s", "-1", stdout=subprocess.DEVNULL
        )
        try:
            await asyncio.sleep(0.7)
            command = [*engine.enter_prefix(path.pid, "client"), program, "-c", "10.77.0.1", "-J", "-O", "1"]
            command += ["-t", str(max(1, round(seconds))), *options]
            ended = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, check=True)
            goodput[direction] = json.loads(ended.stdout)["end"]["sum_received"]["bits_per_second"] / 1e9
        finally:
            # It ends by itself after one client; killed only if that did not come.
            try:
                await asyncio.wait_for(server.wait(), 2.0)
            except TimeoutError:
                server.kill()
                await server.wait()
    return goodput


async def cpu(bench: LinkBench) -> list[LinkFigure]:
    """Measure the processor time of the path's process over ten seconds, with packets and without."""
    seconds = max(2.0, bench.seconds(10.0))
    interval_us = CPU_PACKET_BYTES * 8e6 / CPU_RATE_BPS
    async with run_path(bench, NOTHING, NOTHING) as path:
        await asyncio.sleep(0.5)
        idle = await _share(path.pid, seconds)
        train = asyncio.create_task(
            engine.send_train(
                path.pid,
                LinkDirection.UP,
                packets_count=round((seconds + 2.0) * 1e6 / interval_us),
                packet_bytes=CPU_PACKET_BYTES,
                interval_us=interval_us,
            )
        )
        await asyncio.sleep(1.0)
        busy = await _share(path.pid, seconds)
        record = await train
    lost = record.received_ns.count(None)
    name = "CPU of the path at 100 Mbit/s UDP one way: % of a core"
    return [
        LinkFigure(name, "12", "8", f"{busy * 100:.1f}, {lost} packets lost", verdict([busy], [0.12], [0.08])),
        LinkFigure("CPU of the path idle: % of a core", "0", "0", f"{idle * 100:.2f}", verdict([idle], [0.0], [0.0])),
    ]


async def _share(pid: int, seconds: float) -> float:
    loop = asyncio.get_running_loop()
    before, started_s = _ticks(pid), loop.time()
    await asyncio.sleep(seconds)
    return (_ticks(pid) - before) / TICKS_PER_S / (loop.time() - started_s)


def _ticks(pid: int) -> int:
    """Return user and system time of all threads (proc_pid_stat(5))."""
    fields = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


async def lateness(bench: LinkBench) -> list[LinkFigure]:
    """Return the path's own lateness under one TCP connection filling a 165 Mbit/s link."""
    way = "one_way_delay_ms = 10\nrate_bps = 165_000_000"
    async with run_path(bench, way, way) as path:
        record = await engine.run_transfer(
            path.pid,
            LinkDirection.DOWN,
            warm_up_ms=1_000,
            seconds=bench.seconds(8.0),
            congestion_control=congestion_control(),
        )
        summary = await path.summary()
    windows = _windows(summary)
    if all(one.lateness_p99_ns is None for one in windows):
        return [make_placeholder(LATENESS, "this backend says nothing of its lateness")]
    worst = [max((getattr(one, f"lateness_{part}_ns") or 0) / 1e3 for one in windows) for part in ("p50", "p99", "max")]
    goodput = record.counted_bytes * 8e3 / record.counted_ns
    measured = f"{worst[0]:.0f} / {worst[1]:.0f}, max {worst[2]:.0f}; goodput {goodput:.1f} Mbit/s"
    return [LinkFigure(LATENESS, f"- / {LIMIT_US:.0f}", "", measured, verdict([worst[1]], [LIMIT_US], [LIMIT_US]))]


def _windows(summary: PathSummaryRecord) -> tuple[DirectionSummary, DirectionSummary]:
    return summary.up, summary.down
