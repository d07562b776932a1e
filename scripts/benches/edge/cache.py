"""The gain by the edge's wire cache: the same edge with and without, in turn, as processor time and response time.

For: the part `cache`. Not for: the correctness of answers; see the tests.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from benches.common import generators
from benches.common.part import BenchPart, Spread
from benches.common.servers import EdgeSettings, Server, names, require_programs, run_named_edge
from benches.edge.bench import EdgeBench
from benches.edge.queries import QueriesRun, measure_in_turn, names_file, rate_per_s, ratio, server_us
from benches.edge.settings import NOT_OFFERED, best_settings
from resolab.basics.errors import ResolabError

TRANSPORTS = ("doudp", "dot", "doh", "doh3", "doq")
SCHEDULED = ("doudp", "dot")
RATE_PER_S = 20_000
"""A rate low enough for response times of the server, not of a queue."""
QUANTILES = ("p50_ns", "p99_ns", "p99_9_ns")
START_S = 3.0


def estimate_s(bench: EdgeBench) -> float:
    """Estimate the duration of the part."""
    runs_count = (
        2
        * bench.rounds_count
        * (len(_select_transports(bench, TRANSPORTS)) + len(_select_transports(bench, SCHEDULED)))
    )
    return START_S + runs_count * (generators.RUN_S + generators.OVERHEAD_S)


def _select_transports(bench: EdgeBench, some: Sequence[str]) -> list[str]:
    return [transport for transport in some if transport in bench.transports]


def measure(bench: EdgeBench) -> list[BenchPart]:
    """Measure transport after transport, with and without the cache in turn."""
    require_programs("taskset", "setpriv")
    settings, remarks = best_settings()
    cost, times = _cost_part(bench.rounds_count, remarks), _times_part(bench.rounds_count, remarks)
    if settings.wire_cache is None:
        cost.add(["every", NOT_OFFERED], {"verdict": NOT_OFFERED})
        times.add(["every", NOT_OFFERED], {"verdict": NOT_OFFERED})
        return [cost, times]
    file, asked = names_file(bench.scratch), names(generators.NAMES_COUNT)
    without = EdgeSettings(wire_cache=False, counts_queries=settings.counts_queries)
    with run_named_edge(asked, settings) as on, run_named_edge(asked, without) as off:
        servers = {"on": on, "off": off}
        for transport in _select_transports(bench, TRANSPORTS):
            _add_cost(cost, transport, measure_in_turn(bench, servers, transport, generators.ours, file))
        for transport in _select_transports(bench, SCHEDULED):
            _add_times(times, transport, measure_in_turn(bench, servers, transport, _run_on_schedule, file))
    cost.remarks.append(f"of all queries of this part the cache answered {_hit_ratio(on):.2%}, by the edge's summary")
    return [cost, times]


def _hit_ratio(edge: Server) -> float:
    summary = next((one for one in edge.last_records if one["record"] == "edge_summary"), None)
    if summary is None or summary["wire_cache"] is None:
        raise ResolabError("the edge with its wire cache on ended without saying what came from it")
    return float(summary["wire_cache"]["hit_ratio"])


def _run_on_schedule(transport: str, server: Server, file: Path, scratch: Path) -> generators.GeneratorRun:
    return generators.ours(transport, server, file, scratch, rate_per_s=RATE_PER_S)


def _cost_part(rounds_count: int, remarks: Sequence[str]) -> BenchPart:
    loaded = f"{generators.OUTSTANDING_COUNT} in flight over {generators.CONNECTIONS_COUNT} connections"
    title = (
        f"Wire cache, the edge's CPU per query, us; {loaded}, {rounds_count} round(s) of {generators.RUN_S} s in turn"
    )
    part = BenchPart("cache", title, ["transport", "off", "on", "on / off", "q/s off / on"])
    part.remarks = [f"{generators.NAMES_COUNT:,} names, all cached after the first round of them", *remarks]
    return part


def _times_part(rounds_count: int, remarks: Sequence[str]) -> BenchPart:
    title = f"Wire cache, response times, us; {RATE_PER_S:,} queries/s by schedule, {rounds_count} round(s) in turn"
    part = BenchPart("cache-times", title, ["transport", "cache", "p50", "p99", "p99.9", "lost"])
    part.remarks = ["from when the schedule wanted a query to its answer: median of the rounds [lowest..highest]"]
    part.remarks += [remark for remark in remarks if NOT_OFFERED in remark]
    return part


def _add_cost(part: BenchPart, transport: str, runs: Mapping[str, list[QueriesRun]]) -> None:
    off, on, gain = server_us(runs["off"]), server_us(runs["on"]), ratio(runs["on"], runs["off"])
    rates = " / ".join(f"{rate_per_s(runs[name]):,.0f}" for name in ("off", "on"))
    part.add(
        [transport, off.text(2), on.text(2), gain.text(2), rates],
        {"transport": transport, "off_us": asdict(off), "on_us": asdict(on), "ratio": asdict(gain)},
    )


def _add_times(part: BenchPart, transport: str, runs: Mapping[str, list[QueriesRun]]) -> None:
    for name in ("off", "on"):
        records = [run.load.record for run in runs[name]]
        spreads = [
            Spread.from_rounds([[one["query_response_time"][key] / 1e3] for one in records]) for key in QUANTILES
        ]
        lost_count = sum(run.load.lost_count for run in runs[name])
        quantiles = {key: asdict(spread) for key, spread in zip(QUANTILES, spreads, strict=True)}
        part.add(
            [transport, name, *(spread.text(0) for spread in spreads), str(lost_count)],
            {"transport": transport, "cache": name, "response_time": quantiles},
        )
