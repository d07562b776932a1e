"""The processor time of a query under load at the client, in turn with dnsperf; and the accuracy of a schedule.

For: the part `load`. The client runs on one processor, the server on the other. Not for: throughput, on one machine a
property of the server, and segmentation offload, a loopback effect.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benches.common import turns
from benches.common.generators import (
    CONNECTIONS_COUNT,
    NAMES_COUNT,
    OUTSTANDING_COUNT,
    OVERHEAD_S,
    RUN_S,
    GeneratorRun,
    dnsperf,
    ours,
)
from benches.common.part import BenchPart, DnsBench, Spread, verdict
from benches.common.servers import Server, names, require_programs, run_named_edge, run_server

ROUNDS_COUNT = 5
OPEN_RATE_PER_S = 50_000
RATE_ERROR_LIMIT, LATENESS_LIMITS_US = 0.001, (60.0, 150.0)


@dataclass(frozen=True)
class LoadCase:
    """A transport against a server: the same load by our generator and, where possible, by dnsperf."""

    transport: str
    server: str
    must_ratio: float | None = None
    aim_ratio: float | None = None
    must_us: float | None = None


CASES = (
    LoadCase("doudp", "dnsdist", 0.6, 0.5),
    LoadCase("dotcp", "dnsdist", 0.4, 0.3),
    LoadCase("dot", "dnsdist", 0.4, 0.3),
    LoadCase("doh", "unbound", 0.5, 0.35),
    LoadCase("doq", "edge", must_us=16.0),
    LoadCase("doh3", "edge", must_us=33.0),
)


def estimate_s(bench: DnsBench) -> float:
    """Estimate the duration of the part."""
    runs = sum(2 if case.must_ratio else 1 for case in _cases(bench)) + ("doudp" in bench.transports)
    return _rounds(bench) * runs * (RUN_S + OVERHEAD_S) + 5


def _rounds(bench: DnsBench) -> int:
    return 1 if bench.quick else ROUNDS_COUNT


def measure(bench: DnsBench) -> list[BenchPart]:
    """Measure transport after transport, ours and dnsperf in turn."""
    require_programs("dnsdist", "unbound", "dnsperf", "taskset", "setpriv")
    asked = names(NAMES_COUNT)
    file = bench.scratch / "names"
    file.write_text("".join(f"{name} A\n" for name in asked), "utf-8")
    part, schedule = _measure_closed_loop(_rounds(bench)), _open_part(_rounds(bench))
    with run_server("dnsdist") as dnsdist, run_server("unbound") as unbound, run_named_edge(asked) as edge:
        servers = {"dnsdist": dnsdist, "unbound": unbound, "edge": edge}
        for case in _cases(bench):
            _add(part, case, _measure_in_turn(bench, case, servers[case.server], file))
        if "doudp" not in bench.transports:
            return [part]
        runs = []
        for _ in range(_rounds(bench)):
            bench.progress.step("load, doudp by schedule", RUN_S + OVERHEAD_S)
            runs.append(ours("doudp", dnsdist, file, bench.scratch, rate_per_s=OPEN_RATE_PER_S))
    _add_open(schedule, runs)
    return [part, schedule]


def _cases(bench: DnsBench) -> list[LoadCase]:
    return [case for case in CASES if case.transport in bench.transports]


def _measure_in_turn(bench: DnsBench, case: LoadCase, server: Server, file: Path) -> dict[str, list[GeneratorRun]]:
    generators = {"ours": ours, "dnsperf": dnsperf} if case.must_ratio else {"ours": ours}
    runs: dict[str, list[GeneratorRun]] = {name: [] for name in generators}
    for number in range(_rounds(bench)):
        for name in turns.order_arms(generators, number):
            bench.progress.step(f"load, {case.transport}, {name}", RUN_S + OVERHEAD_S)
            runs[name].append(generators[name](case.transport, server, file, bench.scratch))
    return runs


def ratios(runs: Sequence[GeneratorRun], of: Sequence[GeneratorRun]) -> Spread:
    """Return the ratio of processor times of two generators, round by round."""
    return Spread.from_rounds([[one.cpu_us / other.cpu_us] for one, other in zip(runs, of, strict=True)])


def _measure_closed_loop(rounds: int) -> BenchPart:
    load = f"{OUTSTANDING_COUNT} in flight over {CONNECTIONS_COUNT} connections"
    title = (
        f"Client CPU per answered query, us; {load}, {rounds} round(s) of {RUN_S} s in turn, client and server pinned"
    )
    columns = ["transport", "server", "dnsperf", "resolab-load", "ratio", "q/s dnsperf / ours", "lost"]
    part = BenchPart("load", title, [*columns, "wait us", "answers/wake", "must", "aim", "verdict"])
    part.remarks = [
        "CPU: user and system time of the whole process by wait4(2), set-up included, for both the same way",
        "median [lowest..highest round]; one query per TLS record; no segmentation offload; doh is GET",
        "wait: mean coalescing wait after the first answer; lost: dnsperf / ours, queries cut off at the end included",
    ]
    return part


def _add(part: BenchPart, case: LoadCase, runs: dict[str, list[GeneratorRun]]) -> None:
    cpu = {name: Spread.from_rounds([[run.cpu_us] for run in of]) for name, of in runs.items()}
    ratio = ratios(runs["ours"], runs["dnsperf"]) if "dnsperf" in runs else None
    value = ratio.median if ratio else cpu["ours"].median
    must = case.must_ratio if ratio else case.must_us
    judged = verdict(value, must, case.aim_ratio)
    record = runs["ours"][-1].record
    in_order = [name for name in ("dnsperf", "ours") if name in runs]
    part.add(
        [
            case.transport,
            case.server,
            cpu["dnsperf"].text(2) if ratio else "",
            cpu["ours"].text(2),
            ratio.text(2) if ratio else "",
            " / ".join(f"{_rate(runs[name]):,.0f}" for name in in_order),
            " / ".join(str(sum(run.lost_count for run in runs[name])) for name in in_order),
            f"{record['coalescing_wait_mean_ns'] / 1e3:.0f}",
            f"{record['answers_per_wake']:.1f}",
            f"{must:g}" + ("x" if ratio else ""),
            f"{case.aim_ratio:g}x" if case.aim_ratio else "",
            judged,
        ],
        {
            "transport": case.transport,
            "server": case.server,
            "verdict": judged,
            "cpu_us": {name: asdict(spread) for name, spread in cpu.items()},
            "ratio": asdict(ratio) if ratio else None,
            "load_record": _drop_histogram(record),
            "rounds": {name: [_build_json(run) for run in of] for name, of in runs.items()},
        },
    )


def _build_json(run: GeneratorRun) -> dict[str, float]:
    return {"answered_count": run.answered_count, "lost_count": run.lost_count, "cpu_us": run.cpu_us}


def _drop_histogram(record: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in record.items() if not key.startswith("histogram")}


def _rate(runs: Sequence[GeneratorRun]) -> float:
    return Spread.from_rounds([[run.answered_count / RUN_S] for run in runs]).median


def _open_part(rounds: int) -> BenchPart:
    title = f"Load by schedule: doudp at {OPEN_RATE_PER_S:,} queries a second, {rounds} round(s) of {RUN_S} s"
    part = BenchPart("load", title, ["figure", "measured", "must", "verdict"])
    part.remarks = ["send lateness: sent after the schedule's time; response times count from the schedule's time"]
    return part


def _add_open(part: BenchPart, runs: Sequence[GeneratorRun]) -> None:
    records = [run.record for run in runs]
    error = max((record["rate_error_ratio"] for record in records), key=abs)
    quantiles = {
        key: Spread.from_rounds([[record["send_lateness"][key] / 1e3] for record in records])
        for key in ("p50_ns", "p99_ns")
    }
    late = [quantiles[key].median for key in ("p50_ns", "p99_ns")]
    limits = LATENESS_LIMITS_US
    judged = "met" if all(value <= limit for value, limit in zip(late, limits, strict=True)) else "MISSED"
    shown = " / ".join(quantiles[key].text(0) for key in ("p50_ns", "p99_ns"))
    data = {"rounds": [_drop_histogram(record) for record in records]}
    part.add(
        [
            "rate error, worst round, %",
            f"{error * 100:+.4f}",
            f"{RATE_ERROR_LIMIT * 100:g}",
            verdict(abs(error), RATE_ERROR_LIMIT),
        ],
        {"rate_error_ratio": error},
    )
    part.add(["send lateness p50 / p99, us", shown, f"{limits[0]:g} / {limits[1]:g}", judged], data)
    cpu = Spread.from_rounds([[run.cpu_us] for run in runs])
    part.add(["client CPU per answered query, us", cpu.text(2), "", ""], {"cpu_us": asdict(cpu)})
