"""The faults in a round of chaos; each fault is a coroutine for starting and mending the fault.

For: the faults to be survived by a fleet, at moments drawn by the round. Not for: the verdict (`verdict`).
"""

import asyncio
import contextlib
import os
import random
import signal
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from nats.aio.client import Client

from benches.fleet.world import BenchFleet, VantageAgent
from resolab.extras.fleet.job import FleetRun, Job, encode
from resolab.extras.fleet.transfer import UnreachableError, call_server

CUT_S = 60.0
CLOCK_OFF_S = 600
Fault = Callable[["FaultContext"], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class FaultContext:
    """The context of a fault."""

    world: BenchFleet
    agent: VantageAgent
    """The agent struck by the fault, for faults of agents."""
    run: FleetRun
    operator: Client
    random: random.Random


async def kill_agent(moment: FaultContext) -> None:
    """Kill an agent, and restart the agent a little later."""
    process = moment.agent.process
    assert process is not None
    await process.kill()
    await asyncio.sleep(moment.random.uniform(0.5, 8.0))
    process.start()


async def kill_nats(moment: FaultContext) -> None:
    """Kill nats-server; `fleet serve` restarts nats-server."""
    pid = moment.world.nats_pid
    if pid is not None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


async def kill_serve(moment: FaultContext) -> None:
    """Kill `fleet serve` with nats-server, and restart both a little later."""
    await moment.world.server.kill()
    await asyncio.sleep(moment.random.uniform(0.5, 5.0))
    moment.world.server.start()


async def cut_link(moment: FaultContext) -> None:
    """Stop all bytes between an agent and the server for a minute."""
    moment.agent.link.cut()
    await asyncio.sleep(CUT_S)
    moment.agent.link.mend()


async def fill_agents_disk(moment: FaultContext) -> None:
    """Fill an agent's disk for a while."""
    moment.agent.disk.fill()
    await asyncio.sleep(moment.random.uniform(3.0, 12.0))
    moment.agent.disk.free()


async def fill_servers_disk(moment: FaultContext) -> None:
    """Fill the server's disk for a while."""
    moment.world.disk.fill()
    await asyncio.sleep(moment.random.uniform(3.0, 12.0))
    moment.world.disk.free()


async def deliver_twice(moment: FaultContext) -> None:
    """Queue finished, running or waiting jobs again as new jobs."""
    js = moment.operator.jetstream()
    for block in moment.random.sample(range(moment.run.blocks), min(4, moment.run.blocks)):
        job = Job(run=moment.run.id, vantage=moment.agent.vantage, block=block)
        for _ in range(5):
            with contextlib.suppress(UnreachableError):
                async with call_server("queue a job again"):
                    await js.publish(job.subject, encode(job))
                break
            await asyncio.sleep(1.0)


async def put_clock_off(moment: FaultContext) -> None:
    """Put an agent's clock ten minutes forward or back during the run, and correct the clock later."""
    moment.agent.clock.set(moment.random.choice((-CLOCK_OFF_S, CLOCK_OFF_S)))
    await asyncio.sleep(moment.random.uniform(5.0, 30.0))
    moment.agent.clock.set(0)


FAULTS: dict[str, Fault] = {
    "agent killed": kill_agent,
    "nats-server killed": kill_nats,
    "server killed": kill_serve,
    f"link cut {CUT_S:g} s": cut_link,
    "agent's disk full": fill_agents_disk,
    "server's disk full": fill_servers_disk,
    "jobs queued twice": deliver_twice,
    "clock 10 min off": put_clock_off,
}
