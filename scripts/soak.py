#!/usr/bin/env python3
"""Run resolab for thousands of trials with kills and restarts, and look for what grows.

    .venv/bin/python scripts/soak.py campaign --out DIR [--trials N] [--kills N] [--seed N]
    .venv/bin/python scripts/soak.py resolver [--trials N] [--restarts N]

For: memory, descriptors, processes, network namespaces and temporary files over a long run. Not for: times; the machine
may be busy.

campaign: page loads on emulated paths. The first half of the trials runs with SIGKILLs and resumes, as in
`scripts/kill_runs.py`; the second half runs without an end. resolver: trials of eight queries at once through a stub,
over each transport, while the resolver is killed and started again. Exit code 0 if nothing was lost and nothing grew.
"""

import argparse
import asyncio
import os
import random
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from kill_runs import ROOT, differences, list_finished, list_marked_processes, resolab, run_and_kill
from resolab.basics.installation import find_core
from resolab.basics.records import StubCloseConnections, StubReadyRecord
from resolab.lab.engine.process import CoreProcess

PLAN = """
name = "soak"
question = "Does anything grow over thousands of trials?"
seed = 46
blocks = {blocks}

[factors]
page = ["example"]
profile = ["fiber"]
dns_transport = ["doudp", "dotcp", "dot", "doh", "doh3", "doq"]
http_version = ["h3"]
requested_handshake_mode = ["full", "zero_rtt"]

[resolver_path]
doudp = "stub"
dotcp = "stub"
dot = "stub"
doh = "stub"
doh3 = "stub"
doq = "stub"

[baseline]
dns_transport = "doudp"
requested_handshake_mode = "full"

[instrument]
paths = {paths}
"""
CONDITIONS_COUNT = 12
MARK = "RESOLAB_KILL_RUNS"
SAMPLE_EACH_S = 5.0
WARM_UP_SHARE = 0.2
"""The share of samples, at the beginning, with caches and allocators still filling."""
GROWTH_MAX_RATIO = 1.15
GROWTH_MAX_COUNT = 8
"""Descriptors or processes: one page load's worth of connections may be open at one sample and not at another."""

EDGE = """
[ca]
folder = "ca"

[resolver]
name = "dns.resolab.test"
addresses = ["127.0.0.1"]
ports = {{ do53 = {port}, dot = {tls}, doh = {https}, doh3 = {https}, doq = {tls} }}
origins = ["resolab.test"]

[web]
h2_port = {web}
h3_port = {web}

[[site]]
host = "example.resolab.test"
address = "127.0.0.1"
folder = "page"
"""
QUERIES_COUNT = 8
TRIALS_A_SAMPLE = 10
ANSWER_PATIENCE_S = 8.0
START_TIMEOUT_S = 15.0
URLS = {
    "doudp": "udp://127.0.0.1:{port}",
    "dotcp": "tcp://127.0.0.1:{port}",
    "dot": "tls://dns.resolab.test:{tls}",
    "doh": "https://dns.resolab.test:{https}/dns-query",
    "doh3": "h3://dns.resolab.test:{https}/dns-query",
    "doq": "quic://dns.resolab.test:{tls}",
}


@dataclass(frozen=True)
class Sample:
    """Memory, descriptors and number of a run's processes at one instant, without the browsers."""

    rss_kib: int
    descriptors_count: int
    processes_count: int

    @classmethod
    def take(cls, pids: list[int]) -> "Sample":
        """Read /proc of these processes, without those already ended."""
        rss_kib = descriptors = processes = 0
        for pid in pids:
            try:
                status = Path(f"/proc/{pid}/status").read_text()
                descriptors += len(list(Path(f"/proc/{pid}/fd").iterdir()))
            except OSError:
                continue
            rss_kib += next((int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS")), 0)
            processes += 1
        return cls(rss_kib, descriptors, processes)


def main() -> int:
    """Run the selected part and print all problems."""
    options = parse_arguments()
    problems = campaign(options) if options.part == "campaign" else asyncio.run(resolver(options))
    for problem in problems:
        print(f"problem: {problem}")
    print("nothing lost, nothing grew" if not problems else f"{len(problems)} problems")
    return 1 if problems else 0


def parse_arguments() -> argparse.Namespace:
    """Read the arguments."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=["campaign", "resolver"])
    parser.add_argument("--out", type=Path)
    parser.add_argument("--trials", type=int, default=3_000)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--paths", type=int, default=2, help="campaign: trials at a time (default: 2)")
    parser.add_argument("--restarts", type=int, default=120)
    parser.add_argument("--seed", type=int, default=46)
    options = parser.parse_args()
    if options.part == "campaign" and options.out is None:
        parser.error("campaign needs --out DIR")
    return options


def campaign(options: argparse.Namespace) -> list[str]:
    """Run a campaign with kills, then to its end; list losses, leftovers and growth."""
    blocks = -(-options.trials // CONDITIONS_COUNT)
    options.out.mkdir(parents=True, exist_ok=True)
    scratch, dataset, plan = options.out / "tmp", options.out / "dataset", options.out / "soak.toml"
    scratch.mkdir(exist_ok=True)
    plan.write_text(PLAN.format(blocks=blocks, paths=options.paths))
    os.environ["TMPDIR"] = str(scratch)
    chance = random.Random(options.seed)
    problems: list[str] = []
    for number in range(options.kills):
        # On average the kills take half of the trials; the first kill comes while the testbed starts.
        trials = chance.randint(1, max(blocks * CONDITIONS_COUNT // options.kills, 1)) if number else 0
        problems += run_and_kill(
            command(dataset, plan), dataset, trials, chance.uniform(0.2, 3.0), f"{os.getpid()}-{number}"
        )
        print(
            f"kill {number + 1}: {len(list_finished(dataset))} trials, {entries(scratch)} temporary entries", flush=True
        )
    mark = f"{os.getpid()}-last"
    samples, code = run_to_the_end(command(dataset, plan), dataset, mark, blocks * CONDITIONS_COUNT)
    if code != 0:
        problems.append(f"the last resume ended with exit code {code}")
    # A network namespace of the run would be held by one of its processes.
    problems += [f"process {pid} is left: {line}" for pid, line in list_marked_processes(mark).items()]
    problems += differences(dataset, blocks)
    problems += growth("the run without its browsers", samples)
    problems += [f"temporary file {path.name} is left" for path in scratch.iterdir()]
    return problems


def command(dataset: Path, plan: Path) -> list[str]:
    """Begin the campaign, or resume it where it has begun."""
    has_begun = (dataset / "manifest.json").exists()
    return ["resume", str(dataset)] if has_begun else ["run", str(plan), "--out", str(dataset)]


def run_to_the_end(arguments: list[str], dataset: Path, mark: str, trials_count: int) -> tuple[list[Sample], int]:
    """Run resolab to its end; return samples of its processes during the trials, and the exit code."""
    environment = {**os.environ, MARK: mark, "PYTHONPATH": str(ROOT / "python")}
    process = subprocess.Popen(
        resolab(arguments), env=environment, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    samples = []
    while process.poll() is None:
        time.sleep(SAMPLE_EACH_S)
        if len(list_finished(dataset)) >= trials_count:
            continue  # The report, which needs the memory of all tables at once.
        own = [pid for pid, line in list_marked_processes(mark).items() if "resolab" in line and "chrom" not in line]
        samples.append(Sample.take(own))
        if len(samples) % 60 == 1:
            print(f"{len(list_finished(dataset))} trials: {samples[-1]}", flush=True)
    return samples, process.returncode


def growth(what: str, samples: list[Sample]) -> list[str]:
    """Compare medians of the first and last third of the samples after the warm-up; list all growth."""
    kept = samples[int(len(samples) * WARM_UP_SHARE) :]
    if len(kept) < 6:
        return [f"{what}: {len(samples)} samples say nothing of growth"]
    third = len(kept) // 3
    problems = []
    for name, unit in (("rss_kib", "KiB"), ("descriptors_count", "descriptors"), ("processes_count", "processes")):
        first = statistics.median(getattr(one, name) for one in kept[:third])
        last = statistics.median(getattr(one, name) for one in kept[-third:])
        print(f"{what}: median {first:.0f} {unit} in the first third, {last:.0f} in the last; n = {third} each")
        limit = first * GROWTH_MAX_RATIO if name == "rss_kib" else first + GROWTH_MAX_COUNT
        if last > limit:
            problems.append(f"{what}: {unit} grew from {first:.0f} to {last:.0f}")
    return problems


def entries(folder: Path) -> int:
    """Return the number of a folder's entries."""
    return len(list(folder.iterdir()))


async def resolver(options: argparse.Namespace) -> list[str]:
    """Query through stubs while the resolver is killed and restarted; list lost queries and growth."""
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        ports = {name: free_port() for name in ("port", "tls", "https", "web", "stub")}
        page = Path(folder) / "page"
        page.mkdir()
        (page / "index.html").write_text("<!doctype html><title>soak</title>")
        (Path(folder) / "edge.toml").write_text(EDGE.format(**ports))
        for transport, url in URLS.items():
            share = options.trials // len(URLS), options.restarts // len(URLS)
            problems += await soak_stub(transport, url.format(**ports), Path(folder), ports["stub"], *share)
    return problems


async def soak_stub(
    transport: str, url: str, folder: Path, port: int, trials_count: int, restarts_count: int
) -> list[str]:
    """Run the trials of one transport through a stub of their own; list lost queries and growth."""
    trust = ["--ca", str(folder / "ca" / "ca.pem"), "--resolve", "dns.resolab.test=127.0.0.1"]
    listen = ["--listen", f"127.0.0.1:{port}", "--upstream", url]
    with run_edge(folder) as edge:
        stub = await CoreProcess.start("the stub", [str(find_core()), "stub", *listen, *trust], lambda _: None)
        try:
            await stub.first(StubReadyRecord, START_TIMEOUT_S)
            samples, lost = await stub_trials(stub, edge, port, trials_count, restarts_count)
        finally:
            await stub.close()
    return [f"{transport}: {one}" for one in lost] + growth(f"stub over {transport}, {trials_count} trials", samples)


async def stub_trials(
    stub: CoreProcess, edge: "KillableEdge", port: int, trials_count: int, restarts_count: int
) -> tuple[list[Sample], list[str]]:
    """Ask eight names at once over a new connection in each trial; stop at the first trial with a lost query."""
    samples: list[Sample] = []
    trials_a_restart = max(trials_count // max(restarts_count, 1), 1)
    for number in range(trials_count):
        kills_now = number % trials_a_restart == trials_a_restart - 1
        unanswered_count = await asyncio.to_thread(ask, port, number, edge if kills_now else None)
        if kills_now:
            # Queries without a resolver fail; in the next trial each must be answered.
            edge.start()
        elif unanswered_count:
            return samples, [f"{unanswered_count} queries had no answer in trial {number}"]
        await stub.command(lambda number: StubCloseConnections(id=number, forget_tickets=True), START_TIMEOUT_S)
        if number % TRIALS_A_SAMPLE == 0:
            samples.append(Sample.take([stub.pid]))
    return samples, []


class KillableEdge:
    """A name server, to be killed without warning and started again on the same ports."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the server and wait for its `edge_ready` record."""
        command_line = [str(find_core()), "edge", "--config", str(self._folder / "edge.toml")]
        records = self._folder / "edge.jsonl"
        with records.open("wb") as out:
            self._process = subprocess.Popen(command_line, stdin=subprocess.PIPE, stdout=out)
        deadline = time.monotonic() + START_TIMEOUT_S
        while b'"edge_ready"' not in records.read_bytes():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError("the edge did not start")
            time.sleep(0.01)

    def kill(self) -> None:
        """Kill the server; connections stay unclosed."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


@contextmanager
def run_edge(folder: Path) -> Iterator[KillableEdge]:
    """Start a name server, and kill it at the end."""
    edge = KillableEdge(folder)
    edge.start()
    try:
        yield edge
    finally:
        edge.kill()


def ask(port: int, number: int, dying: KillableEdge | None) -> int:
    """Send eight queries at once, and kill `dying` after them; return the number of queries without an address."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.settimeout(ANSWER_PATIENCE_S)
        client.connect(("127.0.0.1", port))
        for index in range(QUERIES_COUNT):
            client.send(query(number * QUERIES_COUNT + index))
        if dying is not None:
            dying.kill()
        good = 0
        for _ in range(QUERIES_COUNT):
            try:
                message = client.recv(4_096)
            except TimeoutError:
                break
            rcode, answers = message[3] & 0xF, struct.unpack("!H", message[6:8])[0]
            good += rcode == 0 and answers > 0
    return QUERIES_COUNT - good


def query(number: int) -> bytes:
    """Write a query for the address of the site."""
    name = b"".join(bytes([len(label)]) + label for label in (b"example", b"resolab", b"test")) + b"\0"
    return struct.pack("!HHHHHH", number & 0xFFFF, 0x0100, 1, 0, 0, 0) + name + struct.pack("!HH", 1, 1)


def free_port() -> int:
    """Return a port free for TCP at this moment; UDP is not checked."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        port: int = server.getsockname()[1]
        return port


if __name__ == "__main__":
    sys.exit(main())
