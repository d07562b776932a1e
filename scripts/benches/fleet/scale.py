"""Hundreds of agents with light jobs: blocks per second, the server's cost, and its growth with the run.

For: the row of 200 agents and 20,000 blocks of docs/benchmarks.md. Not for: failures (`chaos`).
"""

import asyncio
import contextlib
import shutil
import sys
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from nats.aio.client import Client

from benches.fleet import light
from benches.fleet.verdict import problems
from benches.fleet.world import ManagedProcess
from resolab.extras.fleet.connection import connect_operator
from resolab.extras.fleet.invitation import invite
from resolab.extras.fleet.job import FleetRun, RunState
from resolab.extras.fleet.operations import FleetOperator
from resolab.extras.fleet.results.fetch import fetch
from resolab.extras.fleet.server.server import FleetServer
from resolab.extras.fleet.transfer import UnreachableError

PROCESSES = 2
LOOK_EVERY_S = 1.0
STANDSTILL_S = 600.0


@dataclass(frozen=True, slots=True)
class Size:
    """The cost of a run of a given size."""

    blocks_count: int
    queued_s: float
    """The time until all jobs were queued."""
    done_s: float
    """The time from then until every result was there."""
    fetched_s: float
    server_mb: float
    """The peak of nats-server's resident memory during the run, in MB."""
    problems: list[str]


async def sizes(home: Path, agents_count: int, counts: Sequence[int], seed: int) -> list[Size]:
    """Run a run of each size in one fleet."""
    vantages = [f"v{number}" for number in range(agents_count)]
    async with FleetServer(home / "fleet") as server:
        for vantage in vantages:
            invite(server.folder, vantage)
        await server.reload()
        async with _agents(home, server, vantages):
            operator = await connect_operator(server.folder, lambda _problem: None)
            try:
                return [await _size(home, server, operator, vantages, count, seed) for count in counts]
            finally:
                await operator.close()


@contextlib.asynccontextmanager
async def _agents(home: Path, server: FleetServer, vantages: Sequence[str]) -> AsyncIterator[None]:
    """Run all agents, in a few processes."""
    async with contextlib.AsyncExitStack() as ending:
        for number in range(PROCESSES):
            files = [str(server.folder.path / f"{one}.invitation.toml") for one in vantages[number::PROCESSES]]
            command = [sys.executable, "-m", "benches.fleet.agents", "--here", "--spools", str(home / "spools")]
            child = ManagedProcess([*command, *files], home / f"agents{number}.log")
            child.start()
            ending.push_async_callback(child.stop)
        yield


async def _size(home: Path, server: FleetServer, operator: Client, vantages: list[str], count: int, seed: int) -> Size:
    run = light.light_run(f"size-{count}", vantages, count // len(vantages), seed)
    operations, began = FleetOperator(operator), time.monotonic()
    await operations.begin(run)
    queued = time.monotonic()
    server_mb = await _wait_until_done(server, operations, run)
    done = time.monotonic()
    out = home / "datasets" / run.id
    fetched = await fetch(operator, run, out)
    ended = time.monotonic()
    found = problems(run, fetched, out)
    await operations.end(run, RunState.FETCHED)
    shutil.rmtree(out)
    size = Size(len(run.jobs()), queued - began, done - queued, ended - done, server_mb, found)
    print(line(size), flush=True)
    return size


async def _wait_until_done(server: FleetServer, operations: FleetOperator, run: FleetRun) -> float:
    """Wait until no job is left; return the server's peak memory, in MB."""
    most, left, moved = 0.0, len(run.jobs()), time.monotonic()
    while left:
        await asyncio.sleep(LOOK_EVERY_S)
        most = max(most, _resident_mb(server.pid))
        with contextlib.suppress(UnreachableError):
            now = await operations.count_queued_jobs(run)
            if now != left:
                left, moved = now, time.monotonic()
        if time.monotonic() - moved > STANDSTILL_S:
            raise TimeoutError(f"no block in {STANDSTILL_S:g} s; {left} are left")
    return most


def _resident_mb(pid: int) -> float:
    fields = dict(one.split(":", 1) for one in Path(f"/proc/{pid}/status").read_text().splitlines())
    return int(fields["VmRSS"].split()[0]) / 1000


def line(size: Size) -> str:
    """Write the cost of a size as a line."""
    rate, queueing = size.blocks_count / size.done_s, size.blocks_count / size.queued_s
    return (
        f"{size.blocks_count:,} blocks: queued at {queueing:,.0f}/s, done at {rate:.1f}/s in {size.done_s:.0f} s, "
        f"fetched in {size.fetched_s:.0f} s; nats-server {size.server_mb:.0f} MB; "
        + ("; ".join(size.problems[:3]) or "every block once")
    )
