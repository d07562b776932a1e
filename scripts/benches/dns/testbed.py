"""A path with our edge behind the path, and our client querying over the path, with no other program awake.

For: set-up, querying and clean-up of the part `cold`. Programs write into files; no reader wakes beside an exchange.
Not for: the times of exchanges (`cold`).
"""

import asyncio
import contextlib
import os
import subprocess
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from benches.common.servers import EDGE_NAME, edge_configuration, names
from resolab.basics.errors import ResolabError
from resolab.basics.protocols import find_facts
from resolab.basics.records import EdgeReadyRecord, PathStartCapture, PathStopCapture, QueryPurpose, QueryRecord, Record
from resolab.lab import engine
from resolab.plan import Corpus

SERVER_ADDRESS = "10.77.0.1"
TICKET_POLICIES = {"full": "none", "resumed": "resume", "zero_rtt": "early_data"}
START_TIMEOUT_S, STOP_TIMEOUT_S, QUERY_TIMEOUT_S = 15.0, 5.0, 10.0


@dataclass(frozen=True)
class Testbed:
    """A running path for cold exchanges."""

    path: engine.Path
    folder: Path
    pause_ms: int
    """The pause between exchanges: remaining packets of an exchange, acknowledgements and closing, must not delay the
    next."""

    async def ask(self, handshake: str, transports: Sequence[str], count: int) -> list[QueryRecord]:
        """Query the edge over each transport in turn, each time over a new connection; return the measured queries."""
        return await asyncio.to_thread(self._ask, handshake, transports, count)

    def _ask(self, handshake: str, transports: Sequence[str], count: int) -> list[QueryRecord]:
        qname = names(1)[0]
        config = self.folder / "edge.toml"
        config.write_text(
            edge_configuration(self.folder / "ca", SERVER_ADDRESS, [qname], TICKET_POLICIES[handshake]), "utf-8"
        )
        with edge_behind(self.path.ready.pid, config) as ca_file:
            command = [*engine.enter_prefix(self.path.ready.pid, "client"), str(engine.find_core()), "query"]
            command += ["--connection", "cold", "--handshake", handshake, "--count", str(count), "--ca", ca_file]
            command += ["--resolve", f"{EDGE_NAME}={SERVER_ADDRESS}", "--interval-ms", str(self.pause_ms)]
            for transport in transports:
                command += ["--resolver", find_facts(transport).url(name=EDGE_NAME, address=SERVER_ADDRESS)]
            answered = self.folder / "answered"
            with answered.open("wb") as output:
                limit_s = QUERY_TIMEOUT_S * (count * len(transports) + 1)
                subprocess.run([*command, qname], stdout=output, timeout=limit_s, check=True)
        return _read_measured(answered)

    async def capture(self, file: Path) -> None:
        """Write every packet from now on into a file."""
        await self.path.process.command(lambda number: PathStartCapture(id=number, file=str(file)))

    async def end_capture(self) -> None:
        """Complete the capture file."""
        await self.path.process.command(lambda number: PathStopCapture(id=number))


@contextlib.asynccontextmanager
async def make_testbed(
    core: str, profile: str, folder: Path, *, pause_ms: int, keep_awake: bool
) -> AsyncIterator[Testbed]:
    """Make a path with the given binary."""
    os.environ["RESOLAB_CORE"] = core
    file = Corpus.from_project().profile_file(profile)
    path = await engine.Path.start(file, seed=1, keep_awake=keep_awake, on_record=lambda _record: None)
    try:
        yield Testbed(path, folder, pause_ms)
    finally:
        await path.close()


@contextlib.contextmanager
def edge_behind(path_pid: int, config: Path) -> Iterator[str]:
    """Run the edge in the path's server host; yield the file of the edge's authority."""
    command = [*engine.enter_prefix(path_pid, "server"), str(engine.find_core()), "edge", "--config", str(config)]
    said = config.with_suffix(".said")
    with said.open("wb") as output, subprocess.Popen(command, stdin=subprocess.PIPE, stdout=output) as edge:
        assert edge.stdin is not None
        try:
            yield _ready(edge, said)
        finally:
            edge.stdin.close()
            try:
                edge.wait(STOP_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                edge.kill()


def _ready(edge: "subprocess.Popen[bytes]", said: Path) -> str:
    deadline = time.monotonic() + START_TIMEOUT_S
    while edge.poll() is None and time.monotonic() < deadline:
        for line in said.read_bytes().splitlines(keepends=True):
            if line.endswith(b"\n"):
                record = msgspec.json.decode(line, type=Record)
                if isinstance(record, EdgeReadyRecord):
                    return record.ca_file
        time.sleep(0.01)
    raise ResolabError("the edge did not start")


def _read_measured(answered: Path) -> list[QueryRecord]:
    decoder = msgspec.json.Decoder(Record)
    records = [decoder.decode(line) for line in answered.read_bytes().splitlines()]
    measured = [one for one in records if isinstance(one, QueryRecord) and one.purpose is QueryPurpose.MEASURED]
    for one in measured:
        if one.query_response_time_ns is None:
            raise ResolabError(f"a query failed: {one.dns_transport} {one.failure}: {one.failure_detail}")
    return measured
