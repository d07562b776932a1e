"""Reported minus wire time: a query's time by the client, less the time in a capture on the same device.

For: the part `accuracy`. Not for: command lines (`clients`) and the pairing of packets (`matching`).
"""

import contextlib
import subprocess
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from benches.common.part import BenchPart, DnsBench, Spread, verdict
from benches.common.program_end import end
from benches.common.servers import Server, keep_awake, names, require_programs, run_named_edge, run_server
from benches.dns import clients, matching, pcap
from resolab.basics.errors import MachineError

ROUNDS_COUNT, QUERIES_PER_ROUND = 4, 251
"""The first query of each round opens the connection and is not counted."""
LIMITS_US = {"doudp": 1.0, "dotcp": 15.0, "dot": 15.0, "doh": 40.0, "doq": 40.0, "doh3": 40.0}
OURS = "resolab-core"
RUN_S, SLOW_RUN_S = 0.7, 11.0
"""The approximate duration of a run; dnsperf waits for delayed acknowledgements over DoH."""
DRAIN_S = 1.5
"""tcpdump takes up to a second to read the kernel's buffer."""


@dataclass
class AccuracyCase:
    """A client over a transport against a server."""

    transport: str
    program: str
    server: str
    runs: dict[bool, list[clients.Answers]] = field(default_factory=lambda: {True: [], False: []})
    """The runs with processors kept awake, and without."""

    @property
    def estimate_s(self) -> float:
        """The approximate duration of a run."""
        return SLOW_RUN_S if (self.transport, self.program) == ("doh", "dnsperf") else RUN_S


def cases(bench: DnsBench) -> list[AccuracyCase]:
    """List the cases, in the order of the table."""
    found = [AccuracyCase("doudp", program, "unbound") for program in (OURS, "dnsperf", "kdig", "dig")]
    found.append(AccuracyCase("doudp", OURS, "edge"))
    found += [
        AccuracyCase(transport, program, "unbound")
        for transport in ("dotcp", "dot", "doh")
        for program in (OURS, "dnsperf", "kdig")
    ]
    found += [
        AccuracyCase("doq", OURS, "edge"),
        AccuracyCase("doq", "kdig", "edge"),
        AccuracyCase("doh3", OURS, "edge"),
    ]
    return [case for case in found if case.transport in bench.transports]


def estimate_s(bench: DnsBench) -> float:
    """Estimate the duration of the part."""
    return 2 * _rounds(bench) * sum(case.estimate_s for case in cases(bench)) + 4


def measure(bench: DnsBench) -> list[BenchPart]:
    """Run every client in turn, the order reversed every other round, under one capture."""
    require_programs("unbound", "dnsperf", "kdig", "dig", "tcpdump", "taskset", "setpriv")
    asked, measured = names(QUERIES_PER_ROUND), cases(bench)
    file = bench.scratch / "loopback.pcap"
    with run_server("unbound") as unbound, run_named_edge(asked) as edge:
        servers = {"unbound": unbound, "edge": edge}
        with _capture(file, [port for server in servers.values() for port in server.ports.values()]):
            for number in range(2 * _rounds(bench)):
                awake = number % 4 in {0, 3}
                with keep_awake() if awake else contextlib.nullcontext():
                    _round(bench, measured[:: -1 if number % 4 > 1 else 1], servers, asked, awake=awake)
        packets = pcap.read(file)
    part = _part(_rounds(bench))
    for case in measured:
        _add(part, case, packets, servers[case.server])
    return [part]


def _round(
    bench: DnsBench, turns: list[AccuracyCase], servers: dict[str, Server], asked: list[str], *, awake: bool
) -> None:
    for case in turns:
        bench.progress.step(f"accuracy, {case.program} {case.transport}", case.estimate_s)
        answers = clients.run(case.program, case.transport, servers[case.server], asked, bench.scratch)
        case.runs[awake].append(answers)


def _rounds(bench: DnsBench) -> int:
    return 1 if bench.quick else ROUNDS_COUNT


def _part(rounds: int) -> BenchPart:
    title = f"Reported minus wire time on loopback, us; serial, warm connection, {rounds} round(s) in turn"
    columns = ["transport", "client", "reports", "server", "n", "wire p50", "error p50 [rounds]", "p95", "p99"]
    columns += ["idle: wire p50", "error p50 [rounds]", "p95", "must", "verdict"]
    part = BenchPart("accuracy", title, columns)
    part.remarks = [
        "wire: last packet of the query leaving to last packet of the response arriving, by tcpdump on lo",
        "idle: processors not kept awake, rounds in turn with those that were; must: of the error's p50, kept awake",
        "kdig prints whole tenths of a millisecond, dnsperf and dig whole microseconds",
        "kernel receive: from handing the query to the connection to the kernel's stamp of its response",
        "user space: until the response is complete in our process, as other clients count; for comparison, not judged",
        "kernel stamps are of the same clock as tcpdump's; they are taken by other code at other places",
    ]
    return part


@contextlib.contextmanager
def _capture(file: Path, ports: list[int]) -> Iterator[None]:
    said_file = file.with_suffix(".said")
    command = ["tcpdump", "-Z", "root", "-i", "lo", "--time-stamp-precision=nano", "-s", "200", "-B", "16384"]
    command += ["-w", str(file), " or ".join(f"port {port}" for port in ports)]
    with said_file.open("w") as said, subprocess.Popen(command, stderr=said) as tcpdump:
        try:
            _wait_for(said_file, tcpdump)
            yield
            time.sleep(DRAIN_S)
        finally:
            tcpdump.terminate()
            end(tcpdump)
    if "\n0 packets dropped by kernel" not in said_file.read_text():
        raise MachineError("tcpdump lost packets: the capture proves nothing")


def _wait_for(said: Path, tcpdump: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + 10
    while "listening on" not in said.read_text():
        if tcpdump.poll() is not None or time.monotonic() > deadline:
            raise MachineError(f"tcpdump does not capture on lo: {said.read_text().strip()}")
        time.sleep(0.02)


def _add(part: BenchPart, case: AccuracyCase, packets: list[pcap.Packet], server: Server) -> None:
    port = server.port(case.transport)
    wires = {
        awake: [
            _wire_us(case, run, matching.select_server_packets(packets, port, run.began_ns, run.ended_ns), port)
            for run in runs
        ]
        for awake, runs in case.runs.items()
    }
    reported = case.runs[True][0].reported_us
    for reports in reported:
        summaries = {awake: _spreads(case.runs[awake], wires[awake], reports) for awake in (True, False)}
        spreads = {awake: summary for awake, summary in summaries.items() if summary is not None}
        if len(spreads) < len(summaries):
            part.remarks.append(f"{case.program} {case.transport}: its packets could not be told apart")
            part.missed_count += case.program == OURS
            continue
        best = reports != clients.USER_SPACE or len(reported) == 1
        must = LIMITS_US[case.transport] if case.program == OURS and best else None
        _add_row(part, case, reports, spreads, must)


def _spreads(runs: list[clients.Answers], wires: list[list[float | None]], reports: str) -> dict[str, Spread] | None:
    """Summarise wire times and errors; return None without any certain packets."""
    errors = [
        [said - wire for said, wire in zip(run.reported_us[reports], wire_us, strict=True) if wire is not None]
        for run, wire_us in zip(runs, wires, strict=True)
    ]
    if not any(errors):
        return None
    wire = Spread.from_rounds([[value for value in wire_us if value is not None] for wire_us in wires])
    return {"wire_us": wire, "error_us": Spread.from_rounds(errors)}


def _add_row(
    part: BenchPart, case: AccuracyCase, reports: str, spreads: dict[bool, dict[str, Spread]], must: float | None
) -> None:
    asked_count = sum(len(run.names) for run in case.runs[True])
    awake, idle = spreads[True], spreads[False]
    error = awake["error_us"]
    judged = verdict(error.median, must)
    part.add(
        [
            case.transport,
            case.program,
            reports,
            case.server,
            str(error.count) if error.count == asked_count else f"{error.count} of {asked_count}",
            f"{awake['wire_us'].median:.1f}",
            error.text(1),
            f"{error.p95:.0f}",
            f"{error.p99:.0f}",
            f"{idle['wire_us'].median:.1f}",
            idle["error_us"].text(1),
            f"{idle['error_us'].p95:.0f}",
            "" if must is None else f"{must:.0f}",
            judged,
        ],
        {
            "transport": case.transport,
            "program": case.program,
            "reports": reports,
            "server": case.server,
            "asked_count": asked_count,
            "kept_awake": {key: asdict(one) for key, one in awake.items()},
            "not_kept_awake": {key: asdict(one) for key, one in idle.items()},
            "verdict": judged,
        },
    )


def _wire_us(case: AccuracyCase, run: clients.Answers, packets: list[pcap.Packet], port: int) -> list[float | None]:
    """Return the wire time of each name of a run; None without packets certain to belong to the name."""
    if case.transport in {"doudp", "dotcp"}:
        by_name = matching.match_by_name(packets, port)
        return [_us(by_name.get(name)) for name in run.names]
    if run.windows:
        return [_us(taken_ns) for taken_ns in matching.match_by_window(packets, port, run.windows)]
    least = matching.QUIC_MESSAGE_BYTES if case.transport == "doq" else matching.TLS_MESSAGE_BYTES
    taken = matching.match_by_order(packets, port, least, len(run.names))
    # With fewer nobody knows which is missing.
    return [_us(one) for one in taken] if len(taken) == len(run.names) else [None] * len(run.names)


def _us(taken_ns: int | None) -> float | None:
    return None if taken_ns is None else taken_ns / 1e3
