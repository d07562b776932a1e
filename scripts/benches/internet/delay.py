"""The error of round trips through the exchange against the configuration, by the number of hosts.

For: the part `delay`. A one-way time is the receiving kernel's stamp minus the sender's own stamp just before sending;
the echo's own time is excluded. Not for: times added by programs in the hosts.
"""

import asyncio

import numpy as np

from benches.common.part import BenchPart
from benches.internet import bench_internet
from benches.internet.bench import InternetBench

HOSTS_COUNTS = (2, 8, 20)
INTERVAL_MS = 4.0
MUST_US = (150.0, 1_000.0)
"""The limits of the median and 99th percentile of a round trip."""


def estimate_s(bench: InternetBench) -> float:
    """Estimate the duration, in s."""
    return len(HOSTS_COUNTS) * len(bench.keep_awake) * (2.0 + bench.asks_count * INTERVAL_MS / 1e3)


def measure(bench: InternetBench) -> list[BenchPart]:
    """Query every other host in turn from the first."""
    columns = ["hosts", "kept awake", "n", "error p50 us", "p99 us", "largest us", "exchange's lateness p50 / p99 us"]
    part = BenchPart("delay", "round trips beside what was asked", [*columns, "must", "verdict"])
    for keep_awake in bench.keep_awake:
        for count in HOSTS_COUNTS:
            bench.progress.step(f"delay, {count} hosts", 2.0 + bench.asks_count * INTERVAL_MS / 1e3)
            asyncio.run(_measure(part, bench, count, keep_awake=keep_awake))
    part.remarks.append("n: answers of that many asked; a way takes 2 to 27 ms to the farthest host and as much back")
    return [part]


async def _measure(part: BenchPart, bench: InternetBench, count: int, *, keep_awake: bool) -> None:
    asker, *servers = bench_internet.hosts(count)
    async with bench_internet.run_internet([asker, *servers], keep_awake=keep_awake) as made:
        for server in servers:
            await bench_internet.read_answer(await made.start(server, "echo", server.address))
        await made.internet.count()
        addresses = [server.address for server in servers]
        said = await made.run(asker, "ask", str(bench.asks_count), str(INTERVAL_MS), *addresses)
        counted = await made.internet.count()
    wanted_ns = [2e6 * (asker.one_way_ms + server.one_way_ms) for server in servers]
    errors_us = [(there_ns + back_ns - wanted_ns[place]) / 1e3 for place, there_ns, back_ns in said["answers"]]
    lateness = [(value or 0) / 1e3 for value in (counted.lateness_p50_ns, counted.lateness_p99_ns)]
    cells = [str(count), "yes" if keep_awake else "no", *judge_errors(errors_us, said["asked"], lateness)]
    part.add(cells, {"hosts": count, "keep_awake": keep_awake, "errors_us": errors_us})


def judge_errors(errors_us: list[float], asked_count: int, lateness_us: list[float]) -> list[str]:
    """Judge the errors of the round trips against their limits; no answer may be missing or too early."""
    if not errors_us:
        return [f"0 of {asked_count}", "", "", "", "", "", "MISSED"]
    median, high, largest = (float(value) for value in np.quantile(errors_us, [0.5, 0.99, 1.0]))
    met = median <= MUST_US[0] and high <= MUST_US[1] and min(errors_us) >= 0 and len(errors_us) == asked_count
    cells = [f"{len(errors_us)} of {asked_count}", *(f"{value:.0f}" for value in (median, high, largest))]
    late = " / ".join(f"{value:.0f}" for value in lateness_us)
    return [*cells, late, f"{MUST_US[0]:g} / {MUST_US[1]:g}", "met" if met else "MISSED"]
