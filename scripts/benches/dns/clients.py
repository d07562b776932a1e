"""Serial queries by our client and by others, with the times reported by each.

For: command lines and reading their output. Not for: packets on the wire (`matching`).
"""

import re
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from benches.common.generators import dnsperf_target
from benches.common.servers import LOOPBACK, Server, pin_command
from benches.dns.matching import Window
from resolab.basics.errors import ResolabError
from resolab.basics.records import QueryRecord, Record
from resolab.lab import engine

TIMEOUT_S = 300.0
SLACK_NS = 20_000
"""A generous limit for the error of the two clocks' offset."""
USER_SPACE, KERNEL_STAMPS, KERNEL_RECEIVE = "user space", "kernel stamps", "kernel receive"
"""The kinds of times in our records: process to process; kernel to kernel; process to kernel, for transports without a
stamp of the query's leaving. The latter two are judged; the first is for comparison."""


@dataclass
class Answers:
    """The answers of a client's run, without the query for opening the connection."""

    began_ns: int
    """The start of the run, in wall time."""
    ended_ns: int = 0
    names: list[str] = field(default_factory=list)
    reported_us: dict[str, list[float]] = field(default_factory=dict)
    """The reported times by kind; one value for each name."""
    windows: list[Window] = field(default_factory=list)
    """The time window of each query, if the client reports windows."""


Reader = Callable[[Answers, str, int], Answers]


def run(program: str, transport: str, server: Server, names: Sequence[str], scratch: Path) -> Answers:
    """Query the names one after another over one connection, as far as the program can."""
    asked = scratch / "asked"
    asked.write_text("".join(f"{name} A\n" for name in names), "utf-8")
    offset_ns, began_ns = clock_offset_ns(), time.time_ns()
    text = _output(COMMANDS[program](transport, server, names, asked), scratch / "answered")
    answers = READERS[program](Answers(began_ns), text, offset_ns)
    answers.ended_ns = time.time_ns()
    if not answers.names:
        raise ResolabError(f"{program} over {transport} reported nothing; it wrote {text[-200:]!r}")
    return answers


def clock_offset_ns() -> int:
    """Return wall minus monotonic time, from the tightest of many pairs of readings."""
    tightest, offset_ns = 1 << 62, 0
    for _ in range(64):
        before, wall, after = time.monotonic_ns(), time.time_ns(), time.monotonic_ns()
        if after - before < tightest:
            tightest, offset_ns = after - before, wall - (before + after) // 2
    return offset_ns


def _output(command: Sequence[str], file: Path) -> str:
    # Into a file: nobody is woken while it measures.
    with file.open("wb") as output:
        ended = subprocess.run(
            [*pin_command(0), *command], stdout=output, stderr=subprocess.PIPE, timeout=TIMEOUT_S, check=False
        )
    if ended.returncode not in {0, 9}:
        said = ended.stderr.decode(errors="replace").strip().splitlines()
        raise ResolabError(f"{command[0]} ended with exit code {ended.returncode}: {(said or ['nothing said'])[-1]}")
    return file.read_text("utf-8", errors="replace")


def _resolab(transport: str, server: Server, names: Sequence[str], _asked: Path) -> list[str]:
    arguments = server.resolver_arguments(transport)
    return [str(engine.find_core()), "query", "--connection", "warm", *arguments, *names]


def _dnsperf(transport: str, server: Server, _names: Sequence[str], asked: Path) -> list[str]:
    command = ["dnsperf", *dnsperf_target(transport, server), "-d", str(asked)]
    return [*command, "-n", "1", "-c", "1", "-T", "1", "-q", "1", "-v"]


def _kdig(transport: str, server: Server, names: Sequence[str], _asked: Path) -> list[str]:
    how = {
        "doudp": [],
        "dotcp": ["+tcp"],
        "dot": ["+tls"],
        "doh": [f"+https={server.name}/dns-query"],
        "doq": ["+quic"],
    }[transport]
    if transport not in {"doudp", "dotcp"}:
        # What chooses the transport comes last: "+tls-ca" alone would choose TLS.
        how = [f"+tls-ca={server.ca}", f"+tls-host={server.name}", *how]
    command = ["kdig", f"@{LOOPBACK}", "-p", str(server.port(transport)), "+keepopen", *how]
    return command + [word for name in names for word in (name, "A")]


def _dig(_transport: str, server: Server, _names: Sequence[str], asked: Path) -> list[str]:
    return ["dig", "-u", f"@{LOOPBACK}", "-p", str(server.port("doudp")), "-f", str(asked)]


def _read_resolab(answers: Answers, text: str, offset_ns: int) -> Answers:
    decoder = msgspec.json.Decoder(Record)
    for line in text.splitlines():
        record = decoder.decode(line)
        if isinstance(record, QueryRecord) and record.sequence > 0:
            _take_record(answers, record, offset_ns)
    for reports, values in answers.reported_us.items():
        if len(values) != len(answers.names):
            raise ResolabError(f"only {len(values)} of {len(answers.names)} queries have {reports}")
    return answers


def _take_record(answers: Answers, record: QueryRecord, offset_ns: int) -> None:
    start_ns, end_ns = record.query_exchange_start_ns, record.query_exchange_end_ns
    if record.failure or start_ns is None or end_ns is None or record.response_bytes is None:
        raise ResolabError(f"a query failed: {record.dns_transport} {record.failure}: {record.failure_detail}")
    answers.names.append(record.qname.removesuffix("."))
    answers.reported_us.setdefault(USER_SPACE, []).append((end_ns - start_ns) / 1e3)
    if record.kernel_receive_ns is not None:
        reports, left_ns = KERNEL_STAMPS, record.kernel_transmit_ns
        if left_ns is None:
            reports, left_ns = KERNEL_RECEIVE, start_ns
        answers.reported_us.setdefault(reports, []).append((record.kernel_receive_ns - left_ns) / 1e3)
    origin_ns = record.time_origin_ns + offset_ns
    sizes = (record.query_bytes, record.response_bytes)
    answers.windows.append(Window(origin_ns + start_ns - SLACK_NS, origin_ns + end_ns + SLACK_NS, *sizes))


def _reader(pattern: str, us: float) -> Reader:
    """Make a reader for programs with output of a name and, later, a time in a given unit."""
    compiled = re.compile(pattern, re.MULTILINE | re.DOTALL)

    def read(answers: Answers, text: str, _offset_ns: int) -> Answers:
        found = [(name.lower().removesuffix("."), float(value) * us) for name, value in compiled.findall(text)][1:]
        answers.names = [name for name, _ in found]
        answers.reported_us["printed"] = [value for _, value in found]
        return answers

    return read


COMMANDS = {"resolab-core": _resolab, "dnsperf": _dnsperf, "kdig": _kdig, "dig": _dig}
READERS = {
    "resolab-core": _read_resolab,
    "dnsperf": _reader(r"^> NOERROR (\S+) A ([\d.]+)$", 1e6),
    "kdig": _reader(r"^;; (\S+)\s+IN\s+A$.*?^;; From \S+ in ([\d.]+) ms$", 1e3),
    "dig": _reader(r"^;(\S+)\s+IN\s+A$.*?^;; Query time: (\d+) usec$", 1.0),
}
