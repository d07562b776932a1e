"""A path with the edge behind the path, and clients with random queries, each with a separate connection.

For: running; all clients of one idle timeout query at the same time, twice per second each. Not for: the expected times
(`model`).
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from benches.common.servers import EDGE_NAME, edge_configuration, names
from benches.dns.testbed import QUERY_TIMEOUT_S, SERVER_ADDRESS, edge_behind
from resolab import engine
from resolab.errors import ResolabError
from resolab.plan import Corpus
from resolab.protocols import find_facts, has_handshake
from resolab.records import QueryPurpose, QueryRecord, Record


@dataclass(frozen=True)
class ClientCell:
    """A client with its transport and handshake."""

    transport: str
    handshake: str


@dataclass(frozen=True)
class RedialPath:
    """A running path with the edge behind the path."""

    path: engine.Path
    ca_file: str

    async def ask(
        self, cells: Sequence[ClientCell], count: int, mean_gap_ms: int, idle_timeout_ms: int
    ) -> list[list[QueryRecord]]:
        """Query by every client, `count` times each; every client has separate random gaps."""
        asking = (
            self._ask(cell, count, mean_gap_ms, idle_timeout_ms, seed) for seed, cell in enumerate(cells, start=1)
        )
        return await asyncio.gather(*asking)

    async def _ask(
        self, cell: ClientCell, count: int, mean_gap_ms: int, idle_timeout_ms: int, seed: int
    ) -> list[QueryRecord]:
        command = [*engine.enter_prefix(self.path.ready.pid, "client"), str(engine.find_core()), "query"]
        command += ["--connection", "warm", "--idle-timeout-ms", str(idle_timeout_ms), "--handshake", cell.handshake]
        command += ["--count", str(count), "--interval-ms", str(mean_gap_ms), "--intervals", "exponential"]
        command += ["--seed", str(seed), "--ca", self.ca_file, "--resolve", f"{EDGE_NAME}={SERVER_ADDRESS}"]
        command += ["--resolver", find_facts(cell.transport).url(name=EDGE_NAME, address=SERVER_ADDRESS)]
        process = await asyncio.create_subprocess_exec(*command, names(1)[0], stdout=asyncio.subprocess.PIPE)
        try:
            # A mean gap's longest among hundreds is far below ten of them.
            limit_s = count * (10 * mean_gap_ms / 1e3 + QUERY_TIMEOUT_S)
            output, _ = await asyncio.wait_for(process.communicate(), limit_s)
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        if process.returncode:
            raise ResolabError(f"query ended with {process.returncode}: {cell}")
        return _read_measured(output, cell, count)


@contextlib.asynccontextmanager
async def run_bed(profile: str, folder: Path) -> AsyncIterator[RedialPath]:
    """Make a path, and run the edge behind the path."""
    file = Corpus.from_project().profile_file(profile)
    path = await engine.Path.start(file, seed=1, keep_awake=True, on_record=lambda _record: None)
    config = folder / "edge.toml"
    config.write_text(edge_configuration(folder / "ca", SERVER_ADDRESS, names(1), "early_data"), "utf-8")
    try:
        with edge_behind(path.ready.pid, config) as ca_file:
            yield RedialPath(path, ca_file)
    finally:
        await path.close()


def _read_measured(output: bytes, cell: ClientCell, count: int) -> list[QueryRecord]:
    decoder = msgspec.json.Decoder(Record)
    records = [one for one in map(decoder.decode, output.splitlines()) if isinstance(one, QueryRecord)]
    measured = [one for one in records if one.purpose is QueryPurpose.MEASURED]
    failed = next((one for one in records if one.failure is not None), None)
    if failed is not None:
        raise ResolabError(f"a query failed: {cell}: {failed.failure}: {failed.failure_detail}")
    wanted = cell.handshake if has_handshake(cell.transport) else None
    other = next((one for one in measured if one.handshake_mode != wanted), None)
    if other is not None:
        raise ResolabError(f"a handshake was {other.handshake_mode}: {cell}")
    if len(measured) != count:
        raise ResolabError(f"{len(measured)} queries of {count} have records: {cell}")
    return measured
