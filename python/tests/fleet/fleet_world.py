"""A fleet on loopback for tests: a real server, agents whose blocks are pretended, and ways to disturb them.

Not for: what a block is; trials depend on their condition and identifier alone.
"""

import asyncio
import contextlib
import functools
import io
import random
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from rich.console import Console

import resolab
from resolab.campaign.blocks.one_block import carry_out_block
from resolab.campaign.blocks.standing_testbeds import StandingTestbeds
from resolab.campaign.ground import ground_now
from resolab.campaign.manifests import versions_now
from resolab.errors import ResolabError
from resolab.fleet.agent import Agent, Place
from resolab.fleet.at_vantage import plan_at
from resolab.fleet.connection import connect_agent, connect_operator
from resolab.fleet.invitation import invite, read_invitation
from resolab.fleet.job import Job, Run, decode
from resolab.fleet.limits import Limits
from resolab.fleet.operations import Operations
from resolab.fleet.server import FleetServer
from resolab.fleet.server_folder import ServerFolder
from resolab.fleet.spool import Spool
from resolab.fleet.streams import prepare_agent, prepare_streams
from resolab.fleet.transfer import AgentSide, UnreachableError
from resolab.fleet.worker_process import Problem
from resolab.plan import Condition, Corpus, Plan, parse_plan
from resolab.records import PageLoadRecord
from resolab.store.manifest import RunStart
from resolab.testbed import TrialResult

PLAN = """
name = "pretended"
question = "Does every block come back once?"
seed = 7
blocks = 3
[factors]
page = ["example"]
profile = ["ideal"]
browser = ["chromium"]
dns_transport = ["doudp", "doh"]
http_version = ["h2"]
requested_handshake_mode = ["full"]
[resolver_path]
doudp = "native"
doh = "native"
[baseline]
dns_transport = "doudp"
"""

END_S = 60.0
"""Within which an agent that is stopped has ended, on a machine that is busy with other things."""


@functools.cache
def ground_here() -> RunStart:
    """What trials of the plan really stand on: results say so, and are held against it."""
    plan = parse_plan(PLAN, "plan", Corpus.of_project())
    return ground_now(plan, Corpus.of_project(), versions_now(plan))


class PretendedTestbed:
    """Takes no time and no browser."""

    def __init__(self, plan: Plan, seed: int, folder: Path, number: int) -> None:
        pass

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        return

    async def run_trial(self, condition: Condition, trial_id: str) -> TrialResult:
        chance = random.Random(f"{condition.id}/{trial_id}")
        load = PageLoadRecord(
            url=f"https://{condition.page}.resolab.test/",
            browser=condition.browser.value,
            browser_version="1",
            measured=True,
            requested_handshake_mode=condition.requested_handshake_mode,
            handshake_mode=condition.requested_handshake_mode,
            plt_ms=400.0 + 20.0 * chance.random(),
            response_start_ms=100.0,
            failure=None,
            limit_ms=30_000.0,
        )
        return TrialResult([load], [], failed=False)


class PretendedWorker:
    """Runs blocks in this process by the campaign's own code; counts them and may be told to fail."""

    def __init__(self, spool: Spool) -> None:
        self._spool = spool
        self._testbeds = StandingTestbeds(PretendedTestbed)
        self.ran: list[tuple[str, int]] = []
        self.before: Callable[[Job], None] = lambda _job: None

    async def run(self, job: Job, run_file: Path) -> Problem | None:
        run = decode(run_file.read_bytes(), Run, what="a run")
        try:
            self.before(job)
            await carry_out_block(
                plan_at(run, job.vantage),
                self._spool.dataset(run.id),
                Console(file=io.StringIO()),
                job.block,
                self._testbeds,
                fleet_run=run.id,
            )
        except ResolabError as error:
            return Problem("instrument", str(error))
        self.ran.append((run.id, job.block))
        return None

    async def end(self) -> None:
        await self._testbeds.close()


def make_run(vantages: list[str], *, blocks: int = 3, name: str = "r1", text: str = PLAN) -> Run:
    return Run(
        id=name, plan_name="pretended", plan_text=text, seed=7, blocks=blocks, ground=ground_here(), vantages=vantages,
        created_unix_ns=1,
    )  # fmt: skip


class World:
    """A server, its operator, and agents by name."""

    def __init__(self, folder: ServerFolder, server: FleetServer, home: Path) -> None:
        self.folder, self.server, self.home = folder, server, home
        self.said: list[str] = []
        self.workers: dict[str, PretendedWorker] = {}
        self._agents: dict[str, tuple[Agent, asyncio.Task[None]]] = {}

    async def invite(self, vantage: str) -> Path:
        file = invite(self.folder, vantage)
        await self.server.reload()
        client = await connect_operator(self.folder, self.said.append)
        await prepare_agent(client.jetstream(), vantage)
        await client.close()
        return file

    async def begin_agent(self, vantage: str, *, limits: Limits | None = None, ground: RunStart | None = None) -> None:
        """Begin an agent, with the spool it had before."""
        invitation = read_invitation(self.folder.path / f"{vantage}.invitation.toml")
        spool = Spool(self.home / f"spool-{vantage}")
        worker = self.workers.setdefault(vantage, PretendedWorker(spool))
        place = Place(
            vantage, limits or Limits(), lambda _plan: ground or ground_here(), {"resolab": resolab.__version__}
        )

        client = await connect_agent(invitation, self.said.append, wait=True)
        agent = Agent(AgentSide(client, vantage), place, spool, worker, self.said.append)

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

    async def until_done(self, run: Run, *, limit_s: float = 60.0) -> None:
        """Wait until no job of a run is left."""
        client = await connect_operator(self.folder, self.said.append)
        try:
            operations = Operations(client)
            async with asyncio.timeout(limit_s):
                done = 0
                while done < len(run.jobs()):
                    await asyncio.sleep(0.1)
                    self.check_agents()
                    # The server may be what a test has killed.
                    with contextlib.suppress(UnreachableError):
                        done = (await operations.progress(run)).blocks_done_count
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
        client = await connect_operator(folder, world.said.append)
        await prepare_streams(client.jetstream())
        await client.close()
        for vantage in vantages:
            await world.invite(vantage)
        try:
            yield world
        finally:
            await world.end()
