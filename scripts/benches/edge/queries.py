"""The cost of a query at the server's processor: our edge and another server under the same load, in turn.

For: the part `queries`. The server runs on one processor, the load generator on the other. Not for: the cost at the
client (`bench dns`), and not for rates, on one machine limited by the slower side.
"""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benches.common import generators, turns
from benches.common.part import BenchPart, Spread, verdict
from benches.common.servers import Server, names, require_programs, run_named_edge, run_server
from benches.edge.bench import EdgeBench, processor_time_s
from benches.edge.settings import best_settings

GENERATORS: Mapping[str, generators.Generator] = {
    "ours": generators.ours,
    "dnsperf": generators.dnsperf,
}
START_S = 4.0


@dataclass(frozen=True)
class QueriesRun:
    """A run of a load generator against a server."""

    load: generators.GeneratorRun
    server_us: float
    """The user and system time of the server, per answered query."""


@dataclass(frozen=True)
class QueriesCase:
    """A transport with the edge and a peer, under a generator."""

    transport: str
    peer: str
    generator: str = "ours"
    must_ratio: float | None = None
    aim_ratio: float | None = None


CASES = (
    QueriesCase("doudp", "dnsdist", must_ratio=0.75),
    QueriesCase("dot", "dnsdist", must_ratio=0.5),
    QueriesCase("doh", "unbound", must_ratio=0.6),
    QueriesCase("doq", "coredns", must_ratio=0.5, aim_ratio=0.25),
    QueriesCase("doh3", "coredns", must_ratio=0.5, aim_ratio=0.25),
    # dnsperf stalls over DoH with several queries on a connection whose server answers them together
    QueriesCase("doudp", "dnsdist", "dnsperf"),
    QueriesCase("dot", "dnsdist", "dnsperf"),
)


def cases(bench: EdgeBench) -> list[QueriesCase]:
    """List the cases to measure."""
    return [case for case in CASES if case.transport in bench.transports]


def estimate_s(bench: EdgeBench) -> float:
    """Estimate the duration of the part."""
    return START_S + 2 * len(cases(bench)) * bench.rounds_count * (generators.RUN_S + generators.OVERHEAD_S)


def measure(bench: EdgeBench) -> list[BenchPart]:
    """Measure case after case, edge and peer in turn, the order reversed every other round."""
    require_programs("dnsdist", "unbound", "dnsperf", "taskset", "setpriv")
    file = names_file(bench.scratch)
    settings, remarks = best_settings()
    part = _part(bench.rounds_count, remarks)
    for peer, of_peer in _group_by_peer(cases(bench)).items():
        with run_server(peer) as theirs, run_named_edge(names(generators.NAMES_COUNT), settings) as ours:
            for case in of_peer:
                servers = {"edge": ours, "peer": theirs}
                _add(part, case, measure_in_turn(bench, servers, case.transport, GENERATORS[case.generator], file))
    return [part]


def names_file(scratch: Path) -> Path:
    """Write the file of names to query."""
    file = scratch / "names"
    file.write_text("".join(f"{name} A\n" for name in names(generators.NAMES_COUNT)), "utf-8")
    return file


def _group_by_peer(some: Sequence[QueriesCase]) -> dict[str, list[QueriesCase]]:
    return {peer: [case for case in some if case.peer == peer] for peer in dict.fromkeys(case.peer for case in some)}


def measure_in_turn(
    bench: EdgeBench,
    servers: Mapping[str, Server],
    transport: str,
    generator: generators.Generator,
    file: Path,
) -> dict[str, list[QueriesRun]]:
    """Put the same load on each server, round after round."""
    runs: dict[str, list[QueriesRun]] = {name: [] for name in servers}
    for number in range(bench.rounds_count):
        for name in turns.order_arms(servers, number):
            bench.progress.step(f"{transport}, {servers[name].program}", generators.RUN_S + generators.OVERHEAD_S)
            with _count_processor_time(servers[name]) as spent_s:
                run = generator(transport, servers[name], file, bench.scratch)
            runs[name].append(QueriesRun(run, spent_s[0] * 1e6 / run.answered_count))
    return runs


@contextlib.contextmanager
def _count_processor_time(server: Server) -> Iterator[list[float]]:
    before_s = processor_time_s(server.pid)
    spent_s: list[float] = []
    yield spent_s
    spent_s.append(processor_time_s(server.pid) - before_s)


def ratio(runs: Sequence[QueriesRun], of: Sequence[QueriesRun]) -> Spread:
    """Return the ratio of server times of two servers, round by round."""
    return Spread.from_rounds([[one.server_us / other.server_us] for one, other in zip(runs, of, strict=True)])


def server_us(runs: Sequence[QueriesRun]) -> Spread:
    """Summarise the server's time per query."""
    return Spread.from_rounds([[run.server_us] for run in runs])


def rate_per_s(runs: Sequence[QueriesRun]) -> float:
    """Return answers per second over all runs."""
    return sum(run.load.answered_count for run in runs) / (len(runs) * generators.RUN_S)


def _part(rounds_count: int, remarks: list[str]) -> BenchPart:
    loaded = f"{generators.OUTSTANDING_COUNT} in flight over {generators.CONNECTIONS_COUNT} connections"
    title = f"Server CPU per answered query, us; {loaded}, {rounds_count} round(s) of {generators.RUN_S} s in turn"
    columns = ["transport", "load by", "peer", "peer's", "edge's", "ratio", "q/s peer / edge", "lost"]
    part = BenchPart("queries", title, [*columns, "must", "aim", "verdict"])
    part.remarks = [
        "CPU: user and system time of the server's whole process (its clock) over a run, handshakes included",
        "server on one processor, load generator on the other; one worker thread each (CoreDNS: GOMAXPROCS of 1)",
        "median [lowest..highest round], ratio round by round; lost: peer / edge, queries cut off at the end included",
        *remarks,
    ]
    return part


def _add(part: BenchPart, case: QueriesCase, runs: dict[str, list[QueriesRun]]) -> None:
    ours, theirs, of_both = server_us(runs["edge"]), server_us(runs["peer"]), ratio(runs["edge"], runs["peer"])
    judged = verdict(of_both.median, case.must_ratio, case.aim_ratio)
    in_order = (runs["peer"], runs["edge"])
    part.add(
        [
            case.transport,
            case.generator,
            case.peer,
            theirs.text(2),
            ours.text(2),
            of_both.text(2),
            " / ".join(f"{rate_per_s(some):,.0f}" for some in in_order),
            " / ".join(str(sum(run.load.lost_count for run in some)) for some in in_order),
            f"{case.must_ratio:g}x" if case.must_ratio else "",
            f"{case.aim_ratio:g}x" if case.aim_ratio else "",
            judged,
        ],
        {
            "transport": case.transport,
            "generator": case.generator,
            "peer": case.peer,
            "server_cpu_us": {"edge": asdict(ours), "peer": asdict(theirs)},
            "ratio": asdict(of_both),
            "verdict": judged,
        },
    )
