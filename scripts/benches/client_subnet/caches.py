"""unbound on loopback in front of our edge, with and without client subnets; and the queries to the edge.

For: programs and their files. Not for: the clients (`replay`).
"""

import contextlib
import json
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from benches.common.servers import LOOPBACK, ZONE, edge_configuration, free_ports
from resolab.basics.errors import MachineError
from resolab.lab import engine

SUBNET_BITS = 24
START_TIMEOUT_S, STOP_TIMEOUT_S, STEP_S = 15.0, 10.0, 0.02
UNBOUND = """server:
  directory: "{folder}"
  chroot: ""
  username: ""
  pidfile: ""
  use-syslog: no
  verbosity: 0
  num-threads: 1
  interface: {address}@{port}
  access-control: 127.0.0.0/8 allow
  do-not-query-localhost: no
  qname-minimisation: no
  prefetch: no
  msg-cache-size: 128m
  rrset-cache-size: 128m
  so-rcvbuf: 0
  local-zone: "test." nodefault
  module-config: "{modules}"
{subnet}forward-zone:
  name: "."
  forward-addr: {address}@{edge_port}
remote-control:
  control-enable: no
"""
WITH_SUBNETS = f"""  send-client-subnet: {LOOPBACK}
  max-client-subnet-ipv4: {SUBNET_BITS}
  max-ecs-tree-size-ipv4: 100000
"""
"""The default tree of a name holds 100 subnets: with more subnets, most entries would never be found."""


@dataclass(frozen=True)
class Cache:
    """A running resolver with its records."""

    address: tuple[str, int]
    asked: Path
    """The records of its queries to the edge."""

    def fetches(self, since_ns: int, until_ns: int) -> int:
        """Count the edge's queries between two instants."""
        with self.asked.open(encoding="utf-8") as lines:
            records = (json.loads(line) for line in lines if '"edge_query"' in line and line.endswith("\n"))
            return sum(one["qtype"] == "A" and since_ns <= one["received_ns"] < until_ns for one in records)


@contextlib.contextmanager
def resolver(qnames: Sequence[str], ttl_s: int, delay_ms: float, *, by_subnet: bool) -> Iterator[Cache]:
    """Run unbound and its edge; the edge delays each answer."""
    edge_port, port, *others = free_ports(6)
    ports = dict(zip(("do53", "dot", "doh", "doh3", "doq"), (edge_port, *others), strict=True))
    with tempfile.TemporaryDirectory(prefix="resolab-bench-") as scratch:
        folder = Path(scratch)
        config = edge_configuration(folder / "ca", LOOPBACK, [], "none", ports)
        config = config.replace("[resolver]\n", f"[resolver]\nclient_subnet_scope = {SUBNET_BITS}\n")
        records = "".join(
            f'[[zone]]\nname = "{name}"\ntype = "A"\nvalue = "192.0.2.81"\nttl_s = {ttl_s}\n' for name in qnames
        )
        delay = f'[[name]]\nname = "*.{ZONE}"\ndelay_ms = {delay_ms}\n'
        (folder / "edge.toml").write_text(config + records + delay, "utf-8")
        text = UNBOUND.format(
            folder=folder,
            address=LOOPBACK,
            port=port,
            edge_port=edge_port,
            modules="subnetcache iterator" if by_subnet else "iterator",
            subnet=WITH_SUBNETS if by_subnet else "",
        )
        (folder / "unbound.conf").write_text(text, "utf-8")
        asked = folder / "asked"
        with asked.open("wb") as output, contextlib.ExitStack() as stack:
            command = [str(engine.find_core()), "edge", "--config", str(folder / "edge.toml")]
            edge = stack.enter_context(_run(command, output, stdin=subprocess.PIPE))
            _await(edge, lambda: b'"edge_ready"' in asked.read_bytes(), "the edge")
            said = stack.enter_context((folder / "unbound.said").open("wb"))
            command = ["unbound", "-d", "-p", "-c", str(folder / "unbound.conf")]
            unbound = stack.enter_context(_run(command, said))
            _await(unbound, lambda: _answers(port), "unbound")
            yield Cache((LOOPBACK, port), asked)


@contextlib.contextmanager
def _run(
    command: Sequence[str], output: IO[bytes], stdin: int = subprocess.DEVNULL
) -> Iterator["subprocess.Popen[bytes]"]:
    with subprocess.Popen(command, stdin=stdin, stdout=output, stderr=output) as process:
        try:
            yield process
        finally:
            process.terminate()
            try:
                process.wait(STOP_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                process.kill()


def _await(process: "subprocess.Popen[bytes]", is_up: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + START_TIMEOUT_S
    while process.poll() is None and time.monotonic() < deadline:
        if is_up():
            return
        time.sleep(STEP_S)
    raise MachineError(f"{what} did not start")


def _answers(port: int) -> bool:
    """Return True when the resolver answers at all, here with NOTIMP or a refusal."""
    with socket.socket(type=socket.SOCK_DGRAM) as asking, contextlib.suppress(OSError):
        asking.settimeout(STEP_S)
        asking.connect((LOOPBACK, port))
        asking.send(b"\x00\x01\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\x01")
        return bool(asking.recv(512))
    return False
