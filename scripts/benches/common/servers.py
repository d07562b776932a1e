"""The servers on loopback that clients are measured against, each on the processor that is not the clients'.

For: unbound and dnsdist as interop/start.py runs them, and our edge. Not for: the edge inside a path (`cold`).
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

from benches.common.ending import PATIENCE_S, end
from resolab import engine
from resolab.errors import MachineError
from resolab.protocols import facts_of

ROOT = Path(__file__).parents[3]
LOOPBACK = "127.0.0.1"
LAST_RECORDS_COUNT = 3
START_TIMEOUT_S = 90.0
"""interop/start.py may take three attempts of 20 s."""
ZONE = "many.interop.test"
"""Every server answers each name below it with one address."""
EDGE_NAME = "dns.interop.test"
TRANSPORTS_PORT = {"doudp": "do53", "dotcp": "do53", "dot": "dot", "doh": "doh", "doh3": "doh3", "doq": "doq"}


@dataclass(frozen=True)
class Server:
    """Where one listens."""

    program: str
    name: str
    ca: str
    ports: dict[str, int]
    pid: int
    """The process that answers."""
    last_records: list[dict[str, Any]] = field(default_factory=list)
    """Once it has ended: what it said last, if it writes records."""

    def port(self, transport: str) -> int:
        """Port of a transport."""
        return self.ports[TRANSPORTS_PORT[transport]]

    def url(self, transport: str) -> str:
        """Write it as our clients take it."""
        port = self.port(transport)
        return facts_of(transport).url(name=f"{self.name}:{port}", address=f"{LOOPBACK}:{port}")

    def resolver_arguments(self, transport: str) -> list[str]:
        """Arguments of our clients that name it and have its certificate checked."""
        return ["--resolver", self.url(transport), "--ca", self.ca, "--resolve", f"{self.name}={LOOPBACK}"]


@dataclass(frozen=True)
class EdgeSettings:
    """What a benchmark sets on the edge; left alone, the key is not in its configuration."""

    wire_cache: bool | None = None
    counts_queries: bool = False
    """Counts queries instead of writing a record of each."""


PLAIN_EDGE = EdgeSettings()


def names(count: int) -> list[str]:
    """Return so many names of equal length that every server answers."""
    return [f"q{number:05}.{ZONE}" for number in range(count)]


def needed(*programs: str) -> None:
    """Raise if a program is missing, with all that are."""
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin", "/usr/local/sbin"])
    missing = [program for program in programs if shutil.which(program, path=path) is None]
    if missing:
        raise MachineError(f"{', '.join(missing)} not on this machine: run scripts/setup --interop")


def on_processor(number: int) -> list[str]:
    """Command prefix that keeps a program on one processor, where there are two at least."""
    cores = sorted(os.sched_getaffinity(0))
    return ["taskset", "-c", str(cores[number])] if len(cores) > 1 else []


@contextlib.contextmanager
def running(program: str, *arguments: str) -> Iterator[Server]:
    """Run one of interop/'s servers."""
    command = [*on_processor(1), sys.executable, str(ROOT / "interop/start.py"), program, *arguments]
    with _started(command, program, []) as (ready, _):
        yield Server(program, ready["name"], ready["ca"], ready["ports"], ready["pid"])


@contextlib.contextmanager
def running_edge(names_served: Sequence[str], settings: EdgeSettings = PLAIN_EDGE) -> Iterator[Server]:
    """Run our edge with an address for each of the names."""
    ports = dict(zip(["do53", "dot", "doh", "doh3", "doq"], free_ports(5), strict=True))

    def configuration(folder: Path) -> str:
        return edge_configuration(folder / "ca", LOOPBACK, names_served, "none", ports, settings)

    with edge_of(configuration, ports) as server:
        yield server


@contextlib.contextmanager
def running_site(pages: Path) -> Iterator[Server]:
    """Run our edge as a server of a folder, over HTTP/3 only for what is measured."""
    (port,) = free_ports(1)

    def configuration(folder: Path) -> str:
        site = f'host = "{EDGE_NAME}"\naddress = "{LOOPBACK}"\nfolder = "{pages}"\nticket_policy = "none"'
        return f'[ca]\nfolder = "{folder / "ca"}"\n[web]\nh2_port = {port}\nh3_port = {port}\n[[site]]\n{site}\n'

    with edge_of(configuration, {"h3": port}) as server:
        yield server


@contextlib.contextmanager
def edge_of(configuration: Callable[[Path], str], ports: dict[str, int]) -> Iterator[Server]:
    """Run our edge with what is made for its folder."""
    with tempfile.TemporaryDirectory(prefix="resolab-bench-") as folder:
        config = Path(folder) / "edge.toml"
        config.write_text(configuration(Path(folder)), "utf-8")
        command = [*on_processor(1), str(engine.find_core()), "edge", "--config", str(config)]
        last: list[dict[str, Any]] = []
        with _started(command, "the edge", last, ready_line='"edge_ready"') as (ready, pid):
            yield Server("edge", EDGE_NAME, ready["ca_file"], ports, pid, last)


@contextlib.contextmanager
def _started(
    command: Sequence[str], what: str, last: list[dict[str, Any]], ready_line: str = ""
) -> Iterator[tuple[dict[str, Any], int]]:
    """Start it, wait for its line of JSON, end it by closing its standard input; yields the line and the process id.

    The last records it writes go into `last` in the end. However this ends, also while it starts, it is not left
    running, and nothing is waited for without a limit.
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
        tail = [*on_processor(1), "tail", "-n", str(LAST_RECORDS_COUNT)]
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
    """Read what it says up to a line; nothing where it ends before, or is ended because it takes too long."""
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
def kept_awake() -> Iterator[None]:
    """Keep idle processors from halting; a path that nobody uses does it for the whole machine."""
    with _started(
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
