"""A fleet on loopback for tests: a real server, agents whose blocks are pretended, and ways to disturb them.

Not for: what a block is; trials depend on their condition and identifier alone.
"""

import asyncio
import contextlib
import io
from collections.abc import AsyncIterator, Callable
from pathlib import Path

from msgspec import structs
from pretended import stand_in
from rich.console import Console

import resolab
from resolab.basics.errors import ResolabError
from resolab.campaign.blocks.one_block import carry_out_block
from resolab.campaign.blocks.testbed_pool import TestbedPool
from resolab.extras.fleet.agent.agent import Agent, AgentSetup
from resolab.extras.fleet.agent.block_turns import BlockTurns
from resolab.extras.fleet.agent.limits import AgentLimits
from resolab.extras.fleet.agent.run_check import find_own_provenance
from resolab.extras.fleet.agent.spool import Spool
from resolab.extras.fleet.agent.worker_process import BlockTimeLimit, WorkerProblem
from resolab.extras.fleet.connection import connect_agent, connect_operator
from resolab.extras.fleet.invitation import invite, read_invitation
from resolab.extras.fleet.job import FleetRun, Job, decode
from resolab.extras.fleet.operations import FleetOperator
from resolab.extras.fleet.server.folder import ServerFolder
from resolab.extras.fleet.server.server import FleetServer
from resolab.extras.fleet.transfer import AgentClient, UnreachableError
from resolab.extras.fleet.vantage_run import read_vantage_plan

END_S = 60.0
"""Within which an agent that is stopped has ended, on a machine that is busy with other things."""


class PretendedWorker:
    """Runs blocks in this process by the campaign's own code; counts them and may be told to fail."""

    def __init__(self, spool: Spool) -> None:
        self._spool = spool
        self._testbeds = TestbedPool(stand_in)
        self.ran: list[tuple[str, int]] = []
        self.before: Callable[[Job], None] = lambda _job: None

    async def run(self, job: Job, run_file: Path, patience: BlockTimeLimit) -> WorkerProblem | None:
        run = decode(run_file.read_bytes(), FleetRun, what="a run")
        try:
            self.before(job)
            await carry_out_block(
                read_vantage_plan(run, job.vantage),
                self._spool.dataset(run.id),
                Console(file=io.StringIO()),
                job.block,
                self._testbeds,
                fleet_run=run.id,
            )
        except ResolabError as error:
            return WorkerProblem("instrument", str(error))
        self.ran.append((run.id, job.block))
        return None

    async def end(self) -> None:
        await self._testbeds.close()


class World:
    """A server, its operator, and agents by name."""

    def __init__(self, folder: ServerFolder, server: FleetServer, home: Path) -> None:
        self.folder, self.server, self.home = folder, server, home
        self.said: list[str] = []
        self.turns: Path | None = None
        """File of the turns that agents begun from now on take."""
        self.workers: dict[str, PretendedWorker] = {}
        self._agents: dict[str, tuple[Agent, asyncio.Task[None]]] = {}

    async def invite(self, vantage: str) -> Path:
        file = invite(self.folder, vantage)
        await self.server.reload()
        return file

    async def begin_agent(self, vantage: str, *, limits: AgentLimits | None = None, **otherwise: object) -> None:
        """Begin an agent, with the spool it had before; its ground may differ from the run's."""
        invitation = read_invitation(self.folder.path / f"{vantage}.invitation.toml")
        spool = Spool(self.home / f"spool-{vantage}")
        worker = self.workers.setdefault(vantage, PretendedWorker(spool))
        versions = {"resolab": resolab.__version__}
        place = AgentSetup(
            vantage,
            limits or AgentLimits(),
            lambda plan: structs.replace(find_own_provenance(plan), **otherwise),
            versions,
        )

        client = await connect_agent(invitation, self.said.append, wait=True)
        turns = None if self.turns is None else BlockTurns(self.turns)
        agent = Agent(AgentClient(client, vantage), place, spool, worker, self.said.append, turns=turns)

        async def working() -> None:
            try:
                await agent.run()
            finally:
                await client.close()

        self._agents[vantage] = agent, asyncio.create_task(working())

    async def end_agent(self, vantage: str) -> None:
        agent, task = self._agents.pop(vantage)
        agent.stop()
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.wait_for(task, END_S)

    async def end(self) -> None:
        for vantage in list(self._agents):
            await self.end_agent(vantage)

    def check_agents(self) -> None:
        """Raise what an agent ended by, which by itself none does."""
        for _, task in self._agents.values():
            if task.done():
                task.result()

    async def until_done(self, run: FleetRun, *, limit_s: float = 60.0) -> None:
        """Wait until every result of a run is there and no job is left."""
        client = await connect_operator(self.folder, self.said.append)
        try:
            operations = FleetOperator(client)
            async with asyncio.timeout(limit_s):
                done, queued = 0, 1
                while queued or done < len(run.jobs()):
                    await asyncio.sleep(0.1)
                    self.check_agents()
                    # The server may be what a test has killed.
                    with contextlib.suppress(UnreachableError):
                        done = (await operations.progress(run)).blocks_done_count
                        queued = await operations.count_queued_jobs(run)
        except TimeoutError:
            raise AssertionError(f"not done in {limit_s} s; said: {self.said}") from None
        finally:
            await client.close()


@contextlib.asynccontextmanager
async def a_world(home: Path, vantages: list[str]) -> AsyncIterator[World]:
    """Bring up a server with agents invited, none of them begun."""
    folder = ServerFolder.create(home / "fleet", "127.0.0.1", 0, ["127.0.0.1"])
    async with FleetServer(folder) as server:
        world = World(folder, server, home)
        for vantage in vantages:
            await world.invite(vantage)
        try:
            yield world
        finally:
            await world.end()
