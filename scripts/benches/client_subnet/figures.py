"""The hit ratio of a cache with and without client subnets, beside the closed form.

For: the table of `scripts/bench client-subnet`. Not for: running (`caches`, `replay`) or the closed form (`model`).
"""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from benches.client_subnet import caches, model, replay
from benches.client_subnet.traces import TRACES, Trace
from benches.common.part import BenchPart
from benches.common.progress import Progress
from benches.common.servers import ZONE, require_programs

LIMIT_POINTS = 2.0
"""The limit of the measured ratio less the model's, in points, in either direction."""
START_S = 2.0


@dataclass(frozen=True)
class ClientSubnetBench:
    """The settings of a measurement."""

    progress: Progress
    rate_per_s: float
    ttl_s: int
    measured_s: float
    delay_ms: float
    seed: int

    @property
    def warm_up_s(self) -> float:
        """The time for filling the cache to its steady state."""
        return 1.5 * self.ttl_s

    @property
    def whole_s(self) -> float:
        """The whole duration of a replay."""
        return self.warm_up_s + self.measured_s


def estimate_s(bench: ClientSubnetBench) -> float:
    """Estimate the duration, in s."""
    return 2 * len(TRACES) * (bench.whole_s + START_S)


def measure(bench: ClientSubnetBench) -> list[BenchPart]:
    """Replay every trace through both caches."""
    require_programs("unbound")
    part = _part(bench)
    for trace in TRACES:
        for by_subnet in (False, True):
            words = "with client subnets" if by_subnet else "without"
            bench.progress.step(f"{trace.name}, {words}", bench.whole_s + START_S)
            _add(part, bench, trace, by_subnet=by_subnet)
    return [part]


def _part(bench: ClientSubnetBench) -> BenchPart:
    title = (
        f"unbound's cache; {bench.rate_per_s:g} queries/s, TTL {bench.ttl_s} s, {bench.measured_s:g} s after "
        f"{bench.warm_up_s:g} s, the authority {bench.delay_ms:g} ms away"
    )
    columns = ["trace", "client subnets", "queries", "fetched", "hit ratio", "model", "points", "hits ms", "misses ms"]
    columns += ["all ms", "verdict"]
    part = BenchPart("client subnet", title, columns)
    part.remarks = [
        "hit ratio: 1 less fetches by queries, fetches by the authority's records",
        "model: r T / (1 + r T) by name, or by name and subnet; T is the TTL",
        "hits and misses: medians of what took less than half of the authority's delay, and the rest; all: mean",
        f"must: model within {LIMIT_POINTS:g} points",
    ]
    return part


def _add(part: BenchPart, bench: ClientSubnetBench, trace: Trace, *, by_subnet: bool) -> None:
    qnames = [f"n{number:05}.{ZONE}" for number in range(trace.names_count)]
    queries = list(trace.draw(bench.rate_per_s, bench.whole_s, bench.seed))
    with caches.resolver(qnames, bench.ttl_s, bench.delay_ms, by_subnet=by_subnet) as cache:
        replayed = replay.replay(cache.address, qnames, queries, trace.subnets_count)
        since_ns = replayed.begun_ns + int(bench.warm_up_s * 1e9)
        fetched_count = cache.fetches(since_ns, replayed.begun_ns + int(bench.whole_s * 1e9))
    asked_count = sum(one.at_s >= bench.warm_up_s for one in queries)
    hit_ratio = 1.0 - fetched_count / asked_count
    foreseen = model.compute_hit_ratio(trace, bench.rate_per_s, bench.ttl_s, by_subnet=by_subnet)
    points = 100.0 * (hit_ratio - foreseen)
    times_ms = [took_ms for at_s, took_ms in replayed.times_ms if at_s >= bench.warm_up_s]
    hits, misses = _split(times_ms, bench.delay_ms / 2)
    is_whole = replayed.lost_count + replayed.failed_count <= len(queries) / 1_000
    verdict = "met" if abs(points) <= LIMIT_POINTS and is_whole else "MISSED"
    part.add(
        [
            trace.name,
            "yes" if by_subnet else "no",
            f"{asked_count:,}",
            f"{fetched_count:,}",
            f"{hit_ratio:.1%}",
            f"{foreseen:.1%}",
            f"{points:+.1f}",
            hits,
            misses,
            f"{statistics.mean(times_ms):.1f}" if times_ms else "-",
            verdict,
        ],
        {
            "trace": trace.name,
            "by_subnet": by_subnet,
            "asked_count": asked_count,
            "fetched_count": fetched_count,
            "hit_ratio": hit_ratio,
            "model": foreseen,
            "lost_count": replayed.lost_count,
            "failed_count": replayed.failed_count,
            "latest_ms": replayed.latest_ms,
            "mean_ms": statistics.mean(times_ms) if times_ms else None,
            "verdict": verdict,
        },
    )


def _split(times_ms: Sequence[float], border_ms: float) -> tuple[str, str]:
    sides = [one for one in times_ms if one < border_ms], [one for one in times_ms if one >= border_ms]
    shown = [f"{statistics.median(side):.2f}" if side else "-" for side in sides]
    return shown[0], shown[1]
