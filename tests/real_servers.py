"""Real DNS servers of other makers as peers, and questions to them by `resolab-core query`."""

import contextlib
import json
import select
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from lab import ROOT

from resolab.lab.engine import find_core

START = ROOT / "interop/start.py"
NAMES = ("unbound", "bind9", "kresd", "dnsdist", "coredns")
DOT_AND_DOH = ("dot", "doh")
ENCRYPTED = dict.fromkeys(NAMES, DOT_AND_DOH) | {"coredns": ("dot", "doh", "doh3", "doq")}
HANDSHAKES = ("full", "resumed", "zero_rtt")
URLS = {  # scheme, whose port, path
    "doudp": ("udp", "do53", ""), "dotcp": ("tcp", "do53", ""), "dot": ("tls", "dot", ""),
    "doh": ("https", "doh", "/dns-query"), "doh3": ("h3", "doh3", "/dns-query"), "doq": ("quic", "doq", ""),
}  # fmt: skip
START_TIMEOUT_S = 60


@dataclass(frozen=True)
class Server:
    """A server that answers."""

    process: subprocess.Popen
    pid: int
    name: str
    address: str
    ports: dict[str, int]
    ca: str

    def url(self, transport):
        scheme, port, path = URLS[transport]
        return f"{scheme}://{self.name}:{self.ports[port]}{path}"

    def trust(self):
        """Arguments that make its name known and its certificate checked."""
        return ["--ca", self.ca, "--resolve", f"{self.name}={self.address}"]

    def close(self):
        """Stop it; it must go without being forced."""
        _, errors = self.process.communicate(timeout=10)
        assert self.process.returncode == 0, errors


def launch(name, *arguments, prefix=()):
    command = [*map(str, prefix), sys.executable, str(START), name, *arguments]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True)


def when_ready(process):
    readable, _, _ = select.select([process.stdout], [], [], START_TIMEOUT_S)
    line = process.stdout.readline() if readable else ""
    if not line:
        process.kill()
        # loud: a machine that runs the tests must have what scripts/setup --interop installs
        raise AssertionError(process.communicate()[1].strip() or f"no answer within {START_TIMEOUT_S} s")
    ready = json.loads(line)
    return Server(process, *(ready[key] for key in ("pid", "name", "address", "ports", "ca")))


def end(process):
    """End what may still run: by closing its standard input, so that it cleans up, else by force."""
    if process.returncode is None:
        try:
            process.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()


@contextlib.contextmanager
def running(*names, arguments=(), prefix=()):
    """The servers, started together, stopped at the end."""
    processes = [launch(name, *arguments, prefix=prefix) for name in names]
    try:
        servers = {name: when_ready(process) for name, process in zip(names, processes, strict=True)}
        yield servers
        for server in servers.values():
            server.close()
            assert prefix or not Path(f"/proc/{server.pid}").exists()  # with a prefix it has other process numbers
    finally:
        for process in processes:
            end(process)


def ask(server, transport, *options, names=("www.interop.test",), prefix=(), trust=None):
    """Records of the measured queries; the priming ones are judged here."""
    command = [*prefix, find_core(), "query", "--resolver", server.url(transport), *(trust or server.trust())]
    ended = subprocess.run(
        [*map(str, command), *options, *names], capture_output=True, text=True, timeout=60, check=False
    )
    assert ended.returncode == 0, ended.stderr
    records = [record for record in map(json.loads, ended.stdout.splitlines()) if record["record"] == "query"]
    for record in records:
        if record["purpose"] == "priming":
            assert (record["failure"], record["handshake_mode"]) == (None, "full"), record
    return [record for record in records if record["purpose"] == "measured"]


@contextlib.contextmanager
def core_program(*command):
    """A long-running program of resolab-core, and the record that says it is ready."""
    process = subprocess.Popen([*map(str, command)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        process.stdout.readline()
        yield process, json.loads(process.stdout.readline())
        process.communicate(timeout=10)
        assert process.returncode == 0
    finally:
        end(process)
