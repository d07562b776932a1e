"""A run of a load generator against a server: `resolab-load`, or dnsperf with the same load.

For: the cost of a query, at client or server. The client runs on one processor, the server on the other. Not for: using
the runs; see the parts of `dns` and `edge`.
"""

import json
import os
import re
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benches.common.servers import LOOPBACK, Server, pin_command
from resolab.basics.errors import DeadlineError, ResolabError
from resolab.lab import engine

Generator = Callable[[str, Server, Path, Path], "GeneratorRun"]
"""A function of a transport, a server, a file of names and a scratch folder."""
RUN_S = 2
OUTSTANDING_COUNT, CONNECTIONS_COUNT, NAMES_COUNT = 100, 10, 1_000
PATIENCE_S, OVERHEAD_S = 30.0, 0.5


@dataclass(frozen=True)
class GeneratorRun:
    """A run of a load generator."""

    answered_count: int
    lost_count: int
    cpu_us: float
    """The user and system time of the process, per answered query."""
    record: dict[str, Any] = field(default_factory=dict)
    """The load record of our own generator."""


def ours(transport: str, server: Server, file: Path, scratch: Path, *, rate_per_s: int | None = None) -> GeneratorRun:
    """Run resolab-load."""
    command = [str(engine.find_load()), *server.resolver_arguments(transport), "--names", str(file)]
    command += ["--connections", str(CONNECTIONS_COUNT), "--duration", str(RUN_S), "--json"]
    if transport == "doh":
        command += ["--doh-method", "get"]
    paced = ["--outstanding", str(OUTSTANDING_COUNT)] if rate_per_s is None else ["--rate", str(rate_per_s)]
    text, cpu_s = run_timed([*command, *paced], scratch / "load")
    records = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    record = next((one for one in records if one.get("record") == "load"), None)
    if record is None:
        raise ResolabError(f"resolab-load over {transport} wrote no load record")
    lost_count = record["sent_count"] - record["completed_count"]
    return _run(f"resolab-load over {transport}", record["completed_count"], lost_count, cpu_s, record)


def dnsperf(transport: str, server: Server, file: Path, scratch: Path) -> GeneratorRun:
    """Run dnsperf with the same load."""
    command = ["dnsperf", *dnsperf_target(transport, server), "-d", str(file), "-l", str(RUN_S)]
    command += ["-c", str(CONNECTIONS_COUNT), "-q", str(OUTSTANDING_COUNT)]
    text, cpu_s = run_timed(command, scratch / "load")
    completed, lost = (re.search(rf"Queries {what}:\s+(\d+)", text) for what in ("completed", "lost"))
    if completed is None or lost is None:
        raise ResolabError(f"dnsperf over {transport} printed no statistics")
    return _run(f"dnsperf over {transport}", int(completed[1]), int(lost[1]), cpu_s, {})


def _run(what: str, answered_count: int, lost_count: int, cpu_s: float, record: dict[str, Any]) -> GeneratorRun:
    if answered_count == 0:
        raise ResolabError(f"{what} got no answers")
    return GeneratorRun(answered_count, lost_count, cpu_s * 1e6 / answered_count, record)


def run_timed(command: Sequence[str], file: Path) -> tuple[str, float]:
    """Run a command; return its output and the user and system time of its whole process."""
    with file.open("wb") as output:
        process = subprocess.Popen([*pin_command(0), *command], stdout=output, stderr=subprocess.STDOUT)
        deadline = time.monotonic() + RUN_S + PATIENCE_S
        pid = 0
        try:
            while pid == 0 and time.monotonic() < deadline:
                time.sleep(0.05)
                pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        finally:
            if pid == 0:
                process.kill()
                process.wait()
    if pid == 0:
        raise DeadlineError(f"{command[0]} did not end within {PATIENCE_S:g} s after its time")
    process.returncode = os.waitstatus_to_exitcode(status)
    text = file.read_text("utf-8", errors="replace")
    if process.returncode != 0:
        last = (text.strip().splitlines() or ["it said nothing"])[-1]
        raise ResolabError(f"{command[0]} ended with exit code {process.returncode}: {last}")
    return text, usage.ru_utime + usage.ru_stime


def dnsperf_target(transport: str, server: Server) -> list[str]:
    """Return the arguments of dnsperf for a server and a transport."""
    mode = {"doudp": "udp", "dotcp": "tcp"}.get(transport, transport)
    target = ["-s", LOOPBACK, "-p", str(server.port(transport)), "-m", mode]
    if transport == "doh":
        target += ["-O", f"doh-uri=https://{server.name}/dns-query", "-O", "doh-method=GET"]
    return target
