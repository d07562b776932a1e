"""The capacity of the exchange: small packets in a flood, and TCP.

For: the part `load`. Not for: the lateness of packets under load.
"""

import asyncio

from benches.common.part import BenchPart
from benches.internet import bench_internet
from benches.internet.bench import InternetBench

HOSTS_COUNTS = (2, 8, 20)
FLOOD_PACKET_BYTES = 128
"""The size of a flood packet with its headers."""


def estimate_s(bench: InternetBench) -> float:
    """Estimate the duration, in s."""
    return len(HOSTS_COUNTS) * (2.0 + 2 * bench.load_s)


def measure(bench: InternetBench) -> list[BenchPart]:
    """Flood the last host from the first, then send a TCP stream back, beside idle hosts."""
    part = BenchPart("load", "what the exchange carries", ["hosts", "packets/s", "of those sent", "TCP Gbit/s"])
    for count in HOSTS_COUNTS:
        bench.progress.step(f"load, {count} hosts", 2.0 + 2 * bench.load_s)
        asyncio.run(_measure(part, bench, count))
    part.remarks.append(f"UDP packets of {FLOOD_PACKET_BYTES} bytes, sender and exchange on the same processors")
    return [part]


async def _measure(part: BenchPart, bench: InternetBench, count: int) -> None:
    those = [bench_internet.Host(host.name, host.address, 0.5) for host in bench_internet.hosts(count)]
    async with bench_internet.run_internet(those, keep_awake=False) as made:
        delivered, sent, seconds = await _flood(made, those[0], those[-1], bench.load_s)
        await bench_internet.read_answer(await made.start(those[-1], "serve", those[-1].address, str(bench.load_s)))
        taken = await made.run(those[0], "fetch", those[-1].address)
    goodput_gbps = taken["bytes"] * 8e-9 / taken["seconds"]
    cells = [str(count), f"{delivered / seconds:,.0f}", f"{delivered / sent:.0%}", f"{goodput_gbps:.1f}"]
    part.add(cells, {"hosts": count, "packets_per_s": delivered / seconds, "goodput_gbps": goodput_gbps})


async def _flood(
    made: bench_internet.RunningInternet, sender: bench_internet.Host, receiver: bench_internet.Host, seconds: float
) -> tuple[int, int, float]:
    await made.internet.count()
    said = await made.run(sender, "flood", receiver.address, str(seconds))
    counted = await made.internet.count()
    # Starting and ending the sender is part of the window, but nothing is carried then but what still waits.
    return counted.delivered_packets_count, said["packets"], said["seconds"]
