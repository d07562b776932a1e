"""The servers on loopback for measuring clients; servers and clients run on different processors.

For: unbound and dnsdist, run by interop/start.py, and our edge. Not for: the edge inside a path (`cold`).
"""

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benches.common.program_end import PATIENCE_S, end
from resolab.basics.errors import MachineError
from resolab.basics.protocols import find_facts
from resolab.lab import engine

ROOT = Path(__file__).parents[3]
LOOPBACK = "127.0.0.1"
LAST_RECORDS_COUNT = 3
START_TIMEOUT_S = 90.0
"""The time limit of a start: interop/start.py may take three attempts of 20 s."""
ZONE = "many.interop.test"
"""The zone of all servers: each name below has an address."""
EDGE_NAME = "dns.interop.test"
TRANSPORTS_PORT = {"doudp": "do53", "dotcp": "do53", "dot": "dot", "doh": "doh", "doh3": "doh3", "doq": "doq"}


@dataclass(frozen=True)
class Server:
    """The address of a running server."""

    program: str
    name: str
    ca: str
    ports: dict[str, int]
    pid: int
    """The process answering queries."""
    last_records: list[dict[str, Any]] = field(default_factory=list)
    """The last records of an ended server, if the server writes records."""

    def port(self, transport: str) -> int:
        """Return the port of a transport."""
        return self.ports[TRANSPORTS_PORT[transport]]

    def url(self, transport: str) -> str:
        """Return the URL for our clients."""
        port = self.port(transport)
        return find_facts(transport).url(name=f"{self.name}:{port}", address=f"{LOOPBACK}:{port}")

    def resolver_arguments(self, transport: str) -> list[str]:
        """Return our clients' arguments for this server, including the check of its certificate."""
        return ["--resolver", self.url(transport), "--ca", self.ca, "--resolve", f"{self.name}={LOOPBACK}"]


@dataclass(frozen=True)
class EdgeSettings:
    """The edge settings of a benchmark; an unset key is not in the configuration."""

    wire_cache: bool | None = None
    counts_queries: bool = False
    """True to count queries instead of writing a record of each."""


PLAIN_EDGE = EdgeSettings()


def names(count: int) -> list[str]:
    """Return `count` names of equal length, answered by every server."""
    return [f"q{number:05}.{ZONE}" for number in range(count)]


def require_programs(*programs: str) -> None:
    """Raise an error with all missing programs."""
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin", "/usr/local/sbin"])
    missing = [program for program in programs if shutil.which(program, path=path) is None]
    if missing:
        raise MachineError(f"{', '.join(missing)} not on this machine: run scripts/setup --interop")


def pin_command(number: int) -> list[str]:
    """Return a command prefix for pinning a program to a processor, on machines with at least two."""
    cores = sorted(os.sched_getaffinity(0))
    return ["taskset", "-c", str(cores[number])] if len(cores) > 1 else []


@contextlib.contextmanager
def run_server(program: str, *arguments: str) -> Iterator[Server]:
    """Run a server of interop/."""
    command = [*pin_command(1), sys.executable, str(ROOT / "interop/start.py"), program, *arguments]
    with _start(command, program, []) as (ready, _):
        yield Server(program, ready["name"], ready["ca"], ready["ports"], ready["pid"])


@contextlib.contextmanager
def run_named_edge(names_served: Sequence[str], settings: EdgeSettings = PLAIN_EDGE) -> Iterator[Server]:
    """Run our edge with an address for each of the names."""
    ports = dict(zip(["do53", "dot", "doh", "doh3", "doq"], free_ports(5), strict=True))

    def configuration(folder: Path) -> str:
        return edge_configuration(folder / "ca", LOOPBACK, names_served, "none", ports, settings)

    with run_edge(configuration, ports) as server:
        yield server


@contextlib.contextmanager
def run_site(pages: Path) -> Iterator[Server]:
    """Run our edge as a server of a folder; the measured traffic uses only HTTP/3."""
    (port,) = free_ports(1)

    def configuration(folder: Path) -> str:
        site = f'host = "{EDGE_NAME}"\naddress = "{LOOPBACK}"\nfolder = "{pages}"\nticket_policy = "none"'
        return f'[ca]\nfolder = "{folder / "ca"}"\n[web]\nh2_port = {port}\nh3_port = {port}\n[[site]]\n{site}\n'

    with run_edge(configuration, {"h3": port}) as server:
        yield server


@contextlib.contextmanager
def run_edge(configuration: Callable[[Path], str], ports: dict[str, int]) -> Iterator[Server]:
    """Run our edge with a configuration made for its folder."""
    with tempfile.TemporaryDirectory(prefix="resolab-bench-") as folder:
        config = Path(folder) / "edge.toml"
        config.write_text(configuration(Path(folder)), "utf-8")
        command = [*pin_command(1), str(engine.find_core()), "edge", "--config", str(config)]
        last: list[dict[str, Any]] = []
        with _start(command, "the edge", last, ready_line='"edge_ready"') as (ready, pid):
            yield Server("edge", EDGE_NAME, ready["ca_file"], ports, pid, last)


@contextlib.contextmanager
def _start(
    command: Sequence[str], what: str, last: list[dict[str, Any]], ready_line: str = ""
) -> Iterator[tuple[dict[str, Any], int]]:
    """Start a program, wait for its line of JSON, and end it by closing its standard input; yield the line and the pid.

    The program's last records go into `last` at the end. After any end, also during the start, the program does not
    remain running. Every wait has a limit.
    """
    with contextlib.ExitStack() as stack:
        said = stack.enter_context(tempfile.TemporaryFile("w+"))
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said, text=True)
        stack.callback(end, process)
        line = _line_of(process, ready_line)
        if not line:
            said.seek(0)
            raise MachineError(f"{what} did not start: {said.read().strip() or 'it said nothing'}")
        # The edge may write a record of each query; nobody wants them here, and it must not wait.
        tail = [*pin_command(1), "tail", "-n", str(LAST_RECORDS_COUNT)]
        drain = subprocess.Popen(tail, stdin=process.stdout, stdout=subprocess.PIPE, text=True)
        stack.callback(end, drain)
        try:
            yield json.loads(line), process.pid
        finally:
            was_polite = end(process)
            last.extend(map(json.loads, drain.communicate(timeout=PATIENCE_S)[0].splitlines()))
        if not was_polite:
            raise MachineError(f"{what} did not end within {PATIENCE_S:g} s of the end of its standard input")


def _line_of(process: "subprocess.Popen[str]", ready_line: str) -> str:
    """Read the output up to a line; return an empty text if the program ends before, or exceeds the time limit."""
    assert process.stdout is not None
    limit = threading.Timer(START_TIMEOUT_S, process.kill)
    limit.start()
    try:
        while (line := process.stdout.readline()) and ready_line not in line:
            pass
    finally:
        limit.cancel()
    return line


@contextlib.contextmanager
def keep_awake() -> Iterator[None]:
    """Keep idle processors from halting; an unused path does this for the whole machine."""
    with _start(
        [str(engine.find_core()), "path", "--profile", "ideal", "--keep-awake"], "the path", [], '"path_ready"'
    ):
        yield


def free_ports(count: int) -> list[int]:
    """Find ports free over both UDP and TCP."""
    with contextlib.ExitStack() as stack:
        ports: list[int] = []
        while len(ports) < count:
            stream = stack.enter_context(socket.socket(type=socket.SOCK_STREAM))
            datagram = stack.enter_context(socket.socket(type=socket.SOCK_DGRAM))
            stream.bind((LOOPBACK, 0))
            with contextlib.suppress(OSError):
                datagram.bind((LOOPBACK, stream.getsockname()[1]))
                ports.append(stream.getsockname()[1])
        return ports


def edge_configuration(
    ca_folder: Path,
    address: str,
    names_served: Sequence[str],
    ticket_policy: str,
    ports: dict[str, int] | None = None,
    settings: EdgeSettings = PLAIN_EDGE,
) -> str:
    """Write the edge's TOML (docs/formats/edge.md)."""
    lines = [
        f'[ca]\nfolder = "{ca_folder}"',
        f'[resolver]\nname = "{EDGE_NAME}"\naddresses = ["{address}"]\nticket_policy = "{ticket_policy}"',
        f'origins = ["{ZONE}"]',
    ]
    if ports is not None:
        lines.append("ports = { " + ", ".join(f"{key} = {port}" for key, port in ports.items()) + " }")
    if settings.wire_cache is not None:
        lines.append(f"wire_cache = {str(settings.wire_cache).lower()}")
    if settings.counts_queries:
        lines.append('[records]\nqueries = "count"')
    lines += [f'[[zone]]\nname = "{name}"\ntype = "A"\nvalue = "192.0.2.81"' for name in names_served]
    return "\n".join(lines) + "\n"
