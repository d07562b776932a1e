"""Measure cold DNS exchanges over the emulated path, nothing else running; print what they cost beyond round trips.

For: `scripts/bench exchange`, the figures of docs/benchmarks.md, and comparisons of two builds: with `--against` the
two binaries take turns round by round. Not for: page loads or studies; those are plans.
"""

import argparse
import asyncio
import contextlib
import os
import statistics
import tempfile
from pathlib import Path

from resolab import engine
from resolab.plan import Corpus
from resolab.records import DnsTransport
from resolab.testbed import layout
from resolab.testbed.sites import sites_of

ROUND_TRIPS = {"doudp": 1, "dotcp": 2, "dot": 3, "doh": 3, "doh3": 2, "doq": 2}
QUERIES_PER_ROUND = 10


async def one_round(core: str, profile: str, transports: list[str]) -> dict[str, list[float]]:
    """Make a path and an edge, ask each transport a few times, stop everything; return times in ms."""
    os.environ["RESOLAB_CORE"] = core
    corpus = Corpus.of_project()
    with tempfile.TemporaryDirectory(prefix="resolab-bench-") as folder:
        sites = list(sites_of(corpus, ("example",)).values())
        config = Path(folder) / "edge.toml"
        config.write_text(layout.edge_configuration(Path(folder) / "ca", sites), "utf-8")
        async with contextlib.AsyncExitStack() as stack:
            path = await engine.Path.start(corpus.profile_file(profile), seed=1, keep_awake=True, on_record=ignore)
            stack.push_async_callback(path.close)
            edge = await engine.Edge.start(path.ready.pid, config, on_record=ignore)
            stack.push_async_callback(edge.close)
            resolvers = [layout.resolver(DnsTransport(name), Path(edge.ready.ca_file)) for name in transports]
            records = await engine.run_queries(path.ready.pid, resolvers, sites[0].host, count=QUERIES_PER_ROUND)
    times: dict[str, list[float]] = {name: [] for name in transports}
    for record in records:
        if record.query_response_time_ns is None:
            raise SystemExit(f"a query failed: {record.dns_transport} {record.failure}: {record.failure_detail}")
        times[record.dns_transport].append(record.query_response_time_ns / 1e6)
    return times


def ignore(_record: object) -> None:
    """Take no notice of a record."""


def show(label: str, profile: str, rtt_ms: float, times: dict[str, list[float]]) -> None:
    """Print a line for each transport."""
    for name, values in times.items():
        values.sort()
        trips, median = ROUND_TRIPS[name], statistics.median(values)
        p90 = values[int(len(values) * 0.9)]
        beyond = f"c p50 {median - trips * rtt_ms:6.3f}  p90 {p90 - trips * rtt_ms:6.3f} ms"
        print(f"{label:8} {profile:10} {name:6} n {len(values):4}  k {trips}  median {median:8.3f} ms  {beyond}")


def main() -> None:
    """Run the rounds in turn and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--profiles", nargs="+", default=["fiber", "4g"])
    parser.add_argument("--transports", nargs="+", default=["doudp", "doh", "doq"], choices=list(ROUND_TRIPS))
    parser.add_argument("--rounds", type=int, default=10, help=f"of {QUERIES_PER_ROUND} queries a transport")
    parser.add_argument("--against", help="another resolab-core binary to compare with, in turn")
    options = parser.parse_args()
    cores = {"this": str(engine.find_core())} | ({"against": options.against} if options.against else {})
    print(f"load average {os.getloadavg()[0]:.2f}, {os.cpu_count()} cores, keep-awake on")
    for profile in options.profiles:
        link = Corpus.of_project().profile(profile)
        rtt_ms = link.up.one_way_delay_ms + link.down.one_way_delay_ms
        times: dict[str, dict[str, list[float]]] = {label: {t: [] for t in options.transports} for label in cores}
        for _ in range(options.rounds):
            for label, core in cores.items():
                for name, values in asyncio.run(one_round(core, profile, options.transports)).items():
                    times[label][name] += values
        for label in cores:
            show(label, profile, rtt_ms, times[label])


if __name__ == "__main__":
    main()
