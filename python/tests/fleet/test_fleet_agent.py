"""An agent against a real server on loopback: every block once, whatever happens; what does not fit is refused."""

import asyncio
import contextlib
import os
import signal
from collections import Counter
from pathlib import Path

import msgspec
import pytest
from fleet_world import a_world
from pretended import PLAN, changed, programs_away, run_of  # noqa: F401 - a fixture by its name

from resolab.basics.errors import ResolabError, StorageError
from resolab.extras.fleet import operations, transfer
from resolab.extras.fleet.agent import agent as agent_module
from resolab.extras.fleet.agent.limits import AgentLimits
from resolab.extras.fleet.connection import connect_operator
from resolab.extras.fleet.job import FleetRun, Job, RunState, encode
from resolab.extras.fleet.operations import JOB_ID, FleetOperator
from resolab.extras.fleet.results.fetch import fetch
from resolab.extras.fleet.results.result_store import ResultStore
from resolab.extras.fleet.server import streams
from resolab.store import find_finished_trials

pytestmark = pytest.mark.usefixtures("hurried")


@pytest.fixture
def hurried(monkeypatch):
    """Waits that are minutes for people are moments here."""
    monkeypatch.setattr(agent_module, "WAIT_FOR_JOB_S", 0.5)
    monkeypatch.setattr(agent_module, "REFUSED_FOR_S", 1.0)
    monkeypatch.setattr(agent_module, "FAILED_FOR_S", 0.2)
    monkeypatch.setattr(agent_module, "RETRY_S", (0.1, 0.5))
    for module in (transfer, operations):
        monkeypatch.setattr(module, "TIMEOUT_S", 3.0)
    monkeypatch.setattr(transfer, "HEARTBEAT_S", 1.0)
    monkeypatch.setattr(streams, "LEASE_S", 6.0)


async def begun(world, run: FleetRun) -> None:
    client = await connect_operator(world.folder, world.said.append)
    await FleetOperator(client).begin(run)
    await client.close()


async def fetched(world, run: FleetRun, out: Path):
    client = await connect_operator(world.folder, world.said.append)
    try:
        return await fetch(client, run, out)
    finally:
        await client.close()


async def state_of(world, vantage: str, until) -> None:
    client = await connect_operator(world.folder, world.said.append)
    try:
        async with asyncio.timeout(30):
            while not until((await FleetOperator(client).states()).get(vantage)):
                await asyncio.sleep(0.1)
    finally:
        await client.close()


@pytest.mark.parametrize("refused_for_s", [0.0, 1000.0])
def test_a_machine_that_was_put_right_is_looked_at_again(monkeypatch, refused_for_s):
    looks = []

    def other_ground(_run, now):
        looks.append(now)
        return "another browser" if len(looks) == 1 else None

    monkeypatch.setattr(agent_module, "REFUSED_FOR_S", refused_for_s)
    monkeypatch.setattr(agent_module, "find_provenance_difference", other_ground)
    place = agent_module.AgentSetup("fra", AgentLimits(), lambda _plan: None, {})
    agent = agent_module.Agent(None, place, None, None, print)
    refusals = [agent._refusal(run_of("fra")) for _ in range(3)]
    if refused_for_s:
        assert [one.why for one in refusals] == ["another browser"] * 3
        assert len(looks) == 1
    else:
        assert (refusals[0].why, refusals[1:]) == ("another browser", [None, None])
        assert len(looks) == 2


def test_two_vantage_points_are_one_dataset(tmp_path):
    async def scene() -> None:
        async with a_world(tmp_path, ["fra", "syd"]) as world:
            run = run_of("fra", "syd")
            await begun(world, run)
            await world.begin_agent("fra")
            await world.begin_agent("syd")
            await world.until_done(run)
            got = await fetched(world, run, tmp_path / "out")
            assert got.refused == []
            assert got.blocks_count == {"fra": 3, "syd": 3}
            assert got.manifest.trials_finished_count == 24
            assert {vantage: worker.ran for vantage, worker in world.workers.items()} == {
                vantage: [("fleet-1", 0), ("fleet-1", 1), ("fleet-1", 2)] for vantage in ("fra", "syd")
            }

    asyncio.run(scene())
    heads = [
        msgspec.json.decode(one.read_bytes().splitlines()[0]) for one in find_finished_trials(tmp_path / "out").values()
    ]
    assert Counter((one["vantage_point"], one["dns_transport"]) for one in heads) == {
        (vantage, transport): 6 for vantage in ("fra", "syd") for transport in ("doudp", "doh")
    }
    assert len({(one["block"], one["vantage_point"]) for one in heads}) == 6


def test_a_job_given_out_twice_is_run_once(tmp_path):
    async def scene() -> None:
        async with a_world(tmp_path, ["fra"]) as world:
            run = run_of("fra", blocks=2)
            await begun(world, run)
            client = await connect_operator(world.folder, world.said.append)
            js = client.jetstream()
            # The same id is dropped by the server; another id for the same block is told by its result.
            await js.publish("jobs.fleet-1.fra", encode(run.jobs()[0]), headers={JOB_ID: run.jobs()[0].id})
            await js.publish("jobs.fleet-1.fra", encode(run.jobs()[0]), headers={JOB_ID: "again"})
            assert (await js.stream_info("JOBS")).state.messages == 3
            await client.close()
            await world.begin_agent("fra")
            await world.until_done(run)
            assert Counter(world.workers["fra"].ran) == {("fleet-1", 0): 1, ("fleet-1", 1): 1}

    asyncio.run(scene())


def test_the_servers_death_loses_nothing(tmp_path):
    async def scene() -> None:
        async with a_world(tmp_path, ["fra", "syd"]) as world:
            run = run_of("fra", "syd", blocks=4)
            await begun(world, run)
            killed = []

            def kill_once(job: Job) -> None:
                if job.block == 1 and job.vantage not in killed:
                    killed.append(job.vantage)
                    with contextlib.suppress(ProcessLookupError):  # The other agent was first.
                        os.kill(world.server.pid, signal.SIGKILL)

            for vantage in run.vantages:
                await world.begin_agent(vantage)
                world.workers[vantage].before = kill_once
            await world.until_done(run)
            got = await fetched(world, run, tmp_path / "out")
            assert got.blocks_count == {"fra": 4, "syd": 4}
            assert got.refused == []
            assert killed

    asyncio.run(scene())


def test_an_agent_that_ended_in_a_block_goes_on_with_it(tmp_path):
    async def scene() -> None:
        async with a_world(tmp_path, ["fra"]) as world:
            run = run_of("fra")
            await begun(world, run)
            reached = asyncio.Event()

            def stop(_job: Job) -> None:
                reached.set()
                raise StorageError("no space left")

            await world.begin_agent("fra")
            world.workers["fra"].before = stop
            await asyncio.wait_for(reached.wait(), 60)
            await state_of(world, "fra", lambda one: one is not None and "no space left" in (one.problem or ""))
            await world.end_agent("fra")
            world.workers["fra"].before = lambda _job: None
            await world.begin_agent("fra")
            await world.until_done(run)
            assert (await fetched(world, run, tmp_path / "out")).blocks_count == {"fra": 3}

    asyncio.run(scene())


@pytest.mark.parametrize(
    ("text", "limits", "otherwise", "says"),
    [
        (PLAN, AgentLimits(kinds=("live",)), {}, "limits allow live plans"),
        (PLAN, AgentLimits(trials_per_block=1), {}, "has 4 trials"),
        (PLAN, AgentLimits(), {"git_commit": "1" * 40}, "here is 111111111111"),
        (PLAN, AgentLimits(), {"versions": {"resolab": "9"}}, "is for resolab"),
        (PLAN, AgentLimits(), {"pages_sha256": {}}, "page example of run fleet-1 is another one here"),
        (PLAN.replace('["example"]', '["/etc"]'), AgentLimits(), {}, "names the page /etc"),
        (PLAN.replace('["example"]', '["../x.page.json"]'), AgentLimits(), {}, "names the page ../x.page.json"),
    ],
)
def test_what_does_not_fit_is_refused_in_a_line_and_stays(tmp_path, text, limits, otherwise, says):
    async def scene() -> None:
        async with a_world(tmp_path, ["fra"]) as world:
            run = changed(run_of("fra", blocks=2), plan_text=text)
            await begun(world, run)
            await world.begin_agent("fra", limits=limits, **otherwise)
            await state_of(world, "fra", lambda one: one is not None and says in (one.problem or ""))
            client = await connect_operator(world.folder, world.said.append)
            queued = await FleetOperator(client).count_queued_jobs(run)
            await client.close()
            assert queued == 2
            assert world.workers["fra"].ran == []
            refusals = [line for line in world.said if says in line]
            assert len(refusals) == 1
            assert "\n" not in refusals[0]

    asyncio.run(scene())


def test_a_stopped_run_leaves_the_queue_and_the_spool(tmp_path):
    async def scene() -> None:
        async with a_world(tmp_path, ["fra"]) as world:
            run = run_of("fra")
            await begun(world, run)
            client = await connect_operator(world.folder, world.said.append)
            desk = FleetOperator(client)
            await desk.end(run, RunState.STOPPED)
            assert await desk.count_queued_jobs(run) == 0
            stopped = await desk.progress(await desk.run(run.id))
            assert (stopped.run.state, stopped.blocks_done_count) == (RunState.STOPPED, 0)
            await client.close()
            await world.begin_agent("fra")
            later = changed(run_of("fra", blocks=1), id="fleet-2")
            await begun(world, later)
            await world.until_done(later)
            assert world.workers["fra"].ran == [("fleet-2", 0)]

    asyncio.run(scene())


def test_nothing_there_is_no_dataset(tmp_path):
    async def scene() -> None:
        async with a_world(tmp_path, ["fra"]) as world:
            run = run_of("fra")
            await begun(world, run)
            with pytest.raises(ResolabError, match="no block of it is there yet"):
                await fetched(world, run, tmp_path / "out")
        assert not (tmp_path / "out").exists()

    asyncio.run(scene())


def test_a_full_disk_ends_a_fetch_and_is_no_missing_block(tmp_path):
    async def scene() -> None:
        async with a_world(tmp_path, ["fra"]) as world:
            run = run_of("fra", blocks=1)
            await begun(world, run)
            await world.begin_agent("fra")
            await world.until_done(run)
            client = await connect_operator(world.folder, world.said.append)
            with pytest.raises(StorageError, match="No space left"):
                await ResultStore(client, "fra").download(run.jobs()[0], Path("/dev/full"))
            await client.close()

    asyncio.run(scene())
