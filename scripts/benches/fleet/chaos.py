"""Rounds of chaos: a run of five vantage points with every fault striking once, and a check of its dataset.

For: the row "every block exactly once" of docs/benchmarks.md. Not for: the faults (`faults`), the speed of a fleet
(`scale`).
"""

import asyncio
import contextlib
import random
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nats.aio.client import Client

from benches.fleet import light
from benches.fleet.faults import FAULTS, Fault, FaultContext
from benches.fleet.verdict import problems
from benches.fleet.world import BenchFleet, a_world
from resolab.basics.errors import ResolabError
from resolab.extras.fleet.connection import connect_operator
from resolab.extras.fleet.job import FleetRun, RunState
from resolab.extras.fleet.operations import FleetOperator
from resolab.extras.fleet.results.fetch import FetchResult, fetch
from resolab.extras.fleet.transfer import UnreachableError

VANTAGES = ("fra", "iad", "nrt", "syd", "gru")
STRIKE_WITHIN_S = 30.0
TRIAL_S = 0.8
ROUND_LIMIT_S = 900.0
TRIES, PAUSE_S = 60, 2.0


@dataclass(frozen=True, slots=True)
class Round:
    """The result of a round."""

    number: int
    seconds: float
    problems: list[str]
    blocks_count: int
    ended_count: int
    """The number of unplanned ends of agents or the server, each followed by a restart."""


async def rounds(home: Path, count: int, blocks: int, seed: int) -> list[Round]:
    """Run `count` rounds, one after the other, in one fleet."""
    gone: list[Round] = []
    async with a_world(home, VANTAGES, TRIAL_S) as world:
        operator = await _connect(world)
        try:
            for number in range(count):
                gone.append(await _round(world, operator, number, blocks, seed))
                print(_line(gone[-1]), flush=True)
        finally:
            await operator.close()
    return gone


async def _connect(world: BenchFleet) -> Client:
    for _ in range(TRIES):
        with contextlib.suppress(ResolabError):
            return await connect_operator(world.folder, lambda _problem: None)
        await asyncio.sleep(PAUSE_S)
    return await connect_operator(world.folder, lambda _problem: None)


async def _round(world: BenchFleet, operator: Client, number: int, blocks: int, seed: int) -> Round:
    chance = random.Random(f"{seed}.{number}")
    run = light.light_run(f"round-{number}", VANTAGES, blocks, seed + number)
    began, ended = time.monotonic(), _count_ended(world)
    operations = FleetOperator(operator)
    await operations.begin(run)
    await asyncio.gather(*(_strike(world, one, run, operator, chance) for one in FAULTS.values()))
    out = world.home / "datasets" / run.id
    try:
        async with asyncio.timeout(ROUND_LIMIT_S):
            await _wait_until_done(world, operations, run)
            fetched = await _fetch(operator, run, out)
        found = problems(run, fetched, out)
    except TimeoutError:
        found = [f"not done within {ROUND_LIMIT_S:g} s"]
    with contextlib.suppress(UnreachableError):
        await operations.end(run, RunState.FETCHED)
    shutil.rmtree(out, ignore_errors=True)
    count = blocks * len(VANTAGES)
    ended = _count_ended(world) - ended
    return Round(number, time.monotonic() - began, found, count, ended)


async def _strike(world: BenchFleet, fault: Fault, run: FleetRun, operator: Client, chance: random.Random) -> None:
    """Start a fault at a random agent and moment."""
    agent = chance.choice(world.agents)
    own = random.Random(chance.random())
    await asyncio.sleep(own.uniform(1.0, STRIKE_WITHIN_S))
    await fault(FaultContext(world, agent, run, operator, own))


async def _wait_until_done(world: BenchFleet, operations: FleetOperator, run: FleetRun) -> None:
    """Wait until every result is there and no job is left, including jobs queued twice."""
    while True:
        world.keep_running()
        with contextlib.suppress(UnreachableError):
            done = (await operations.progress(run)).blocks_done_count
            if done == len(run.jobs()) and not await operations.count_queued_jobs(run):
                return
        await asyncio.sleep(PAUSE_S)


async def _fetch(operator: Client, run: FleetRun, out: Path) -> FetchResult:
    for _ in range(TRIES):
        with contextlib.suppress(UnreachableError):
            return await fetch(operator, run, out)
        await asyncio.sleep(PAUSE_S)
    return await fetch(operator, run, out)


def _count_ended(world: BenchFleet) -> int:
    return sum(one.ended_count for one in world.processes)


def _line(one: Round) -> str:
    """Write the result of a round as a line."""
    verdict = "; ".join(one.problems) or "every block once"
    ended = f"{one.ended_count} processes ended by themselves"
    return f"round {one.number}: {one.blocks_count} blocks in {one.seconds:.0f} s, {ended}; {verdict}"


def summary(gone: Sequence[Round]) -> str:
    """Write the results of all rounds as a line."""
    good = sum(not one.problems for one in gone)
    blocks = sum(one.blocks_count for one in gone)
    return f"{good} of {len(gone)} rounds with every block once; {blocks} blocks"
