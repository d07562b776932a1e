"""One agent of three is hostile: what it says and sends is told as its own, and costs the others nothing.

Not for: what an agent may ask of the server at all (`test_fleet_server`), or forged trials one by one
(`test_fleet_bundle`).
"""

import asyncio
import base64
import contextlib
import hashlib
import json
from argparse import Namespace

import nats.errors
import nats.js.errors
import pytest
from fleet_world import World, a_world
from hypothesis import given, settings
from hypothesis import strategies as st
from nats.aio.client import Client
from pretended import programs_away, run_of  # noqa: F401 - a fixture by its name
from test_fleet_agent import begun, hurried  # noqa: F401 - a fixture by its name

from resolab.basics.errors import MachineError
from resolab.cli.fleet import runs
from resolab.extras.fleet import operations as operations_module
from resolab.extras.fleet.connection import connect_agent, connect_operator
from resolab.extras.fleet.invitation import read_invitation, withdraw
from resolab.extras.fleet.job import AgentState, FleetRun, Job, RunState
from resolab.extras.fleet.operations import FleetOperator, RunProgress, UnreadableState, VantageProgress
from resolab.extras.fleet.results import result_store
from resolab.extras.fleet.results.fetch import ResultFetcher
from resolab.extras.fleet.results.result_store import ResultStore, StoreUse
from resolab.extras.fleet.server import storage, streams
from resolab.extras.fleet.server.folder import StorageLimits
from resolab.extras.fleet.server.storage import StorageWatch
from resolab.extras.fleet.transfer import UnreachableError, format_digest, format_store_name

pytestmark = pytest.mark.usefixtures("hurried")
MB = 1_000_000
GOOD = {"vantage": "evil", "unix_ns": 1, "versions": {"resolab": "1"}, "doing": "waiting"}
STATES = [
    b"",
    b"{",
    b"null",
    b"[]",
    b"\xff\xfe\x00",
    b"{}",
    b"[" * 60_000,
    b'"' + b"x" * 60_000 + b'"',
    json.dumps(GOOD | {"vantage": "fra"}).encode(),
    json.dumps({key: GOOD[key] for key in GOOD if key != "vantage"}).encode(),
    json.dumps(GOOD | {"unix_ns": 10**400}).encode(),
    json.dumps(GOOD | {"unix_ns": -1}).encode(),
    json.dumps(GOOD | {"unix_ns": 1.5}).encode(),
    b'{"vantage":"evil","unix_ns":1e999,"versions":{},"doing":"x"}',
    json.dumps(GOOD | {"blocks_done_count": 2**70}).encode(),
    json.dumps(GOOD | {"versions": {"resolab": 5}}).encode(),
    json.dumps(GOOD | {"doing": "\ud800"}).encode(),
    json.dumps(GOOD | {"doing": "b[/x]", "problem": "[red]caps[/] [link=https://x.test]y"}).encode(),
    json.dumps(GOOD | {"doing": "\x1b]0;owned\x07", "problem": "\x1b[2J\r\nfra 9 of 9 \u202e"}).encode(),
    json.dumps(GOOD | {"versions": {"resolab": "\x9b31m" * 2_000}, "problem": "p" * 30_000}).encode(),
    json.dumps(GOOD | {"unix_ns": 2**63 - 1}).encode(),
]
HEADERS: list[dict[str, str] | None] = [
    None,
    {"KV-Operation": "DEL"},
    {"Status": "503"},
    {"Nats-Sequence": "x", "a" * 500: "b"},
]


async def hostile(world: World) -> Client:
    return await connect_agent(read_invitation(world.folder.path / "evil.invitation.toml"), world.said.append)


async def status(world: World, *more: str) -> int:
    words = Namespace(fleet=world.folder.path, name=None, wait="--wait" in more, json="--json" in more)
    return await asyncio.to_thread(runs.status, words)


def check_shown(text: str) -> None:
    assert all(one.isprintable() for one in text.splitlines()), ascii(text)


def test_what_an_agent_says_of_itself_is_its_own_row_and_no_end_of_others(tmp_path, capsys):
    async def scene() -> None:
        async with a_world(tmp_path, ["fra", "evil", "syd"]) as world:
            run = run_of("fra", "evil", "syd", blocks=1)
            await begun(world, run)
            for vantage in ("fra", "syd"):
                await world.begin_agent(vantage)
            agent = await hostile(world)
            js = agent.jetstream(timeout=5)
            capsys.readouterr()
            for number, state in enumerate(STATES):
                headers = HEADERS[number % len(HEADERS)]
                await js.publish("$KV.agents.evil", state, headers=headers)
                assert await status(world) == 0
                out = capsys.readouterr().out
                check_shown(out)
                rows = [line for line in out.splitlines() if line.startswith(("fra", "syd"))]
                assert len(rows) == 2
                assert all("of 1" in row and "evil" not in row for row in rows)
            with pytest.raises((nats.errors.Error, nats.js.errors.Error)):
                await js.publish("$KV.agents.evil", b"x" * 70_000)
            await js.publish("$KV.agents.evil", b"{}")
            withdraw(world.folder, "evil")
            await world.server.reload()
            # It waits for those alone who take part.
            assert await asyncio.wait_for(status(world, "--wait", "--json"), 60) == 0
            rows = {row["vantage_point"]: row for row in map(json.loads, capsys.readouterr().out.splitlines())}
            assert (rows["evil"]["agent"], "vantage" in rows["evil"]["agent_problem"]) == (None, True)
            assert [rows[one]["blocks_done_count"] for one in ("fra", "syd", "evil")] == [1, 1, 0]
            assert await status(world) == 0
            assert "withdrawn" in capsys.readouterr().out
            await agent.close()

    asyncio.run(scene())


def described(**changes: object) -> bytes:
    content = b"x" * 100
    found = {
        "name": "x",
        "bucket": "results-evil",
        "nuid": "n1",
        "size": 100,
        "chunks": 1,
        "digest": format_digest(hashlib.sha256(content).hexdigest()),
    }
    return json.dumps(found | changes).encode()  # fmt: skip


DESCRIPTIONS = [
    b"",
    b"nonsense",
    b"\xff",
    described(size=10**30),
    described(size=3 * 10**9),
    described(size="100"),
    described(size=200),
    described(nuid=">"),
    described(nuid=None),
    described(digest=None),
    described(digest=format_digest("0" * 64)),
    described(options={"link": {"bucket": "results-fra", "name": "fleet-1.0"}}, nuid="none"),
    described(nuid="crumbs", size=40_000),
    described(),
]


async def send_forged(js, run: FleetRun) -> None:
    """Answer every job of evil's with something that is no block."""
    await js.publish("$O.results-evil.C.n1", b"x" * 100)
    for _ in range(5):
        await js.publish("$O.results-evil.C.crumbs", b"y")
    for block, text in enumerate(DESCRIPTIONS):
        name = Job(run=run.id, vantage="evil", block=block).result
        subject = f"$O.results-evil.M.{base64.urlsafe_b64encode(name.encode()).decode()}"
        await js.publish(subject, text, headers=HEADERS[block % len(HEADERS)])
    for name in ("***", "\u00ff", base64.urlsafe_b64encode(b"\xff\xfe").decode()):
        await js.publish(f"$O.results-evil.M.{name}", b"{}")


async def taken_by(js) -> None:
    """Take the jobs of evil's and acknowledge them, as an agent does whose results are there."""
    jobs = await js.pull_subscribe_bind("evil", "JOBS")
    with contextlib.suppress(TimeoutError):
        while True:
            for message in await jobs.fetch(50, timeout=1):
                await message.ack_sync()


def test_forged_results_cost_nobody_else_a_block_and_are_asked_for_again(tmp_path):
    async def scene() -> None:
        async with a_world(tmp_path, ["fra", "evil", "syd"]) as world:
            run = run_of("fra", "evil", "syd", blocks=len(DESCRIPTIONS))
            await begun(world, run)
            for vantage in ("fra", "syd"):
                await world.begin_agent(vantage)
            agent = await hostile(world)
            js = agent.jetstream(timeout=5)
            await send_forged(js, run)
            await taken_by(js)
            await agent.close()
            operator = await connect_operator(world.folder, world.said.append)
            desk = FleetOperator(operator)
            async with asyncio.timeout(120):
                while any(one.blocks_done_count < run.blocks for one in (await desk.progress(run)).places):
                    await asyncio.sleep(0.2)
            fetching = ResultFetcher(operator, run)
            got = await fetching.make_dataset(tmp_path / "first")
            assert got.blocks_count == {"fra": run.blocks, "evil": 0, "syd": run.blocks}
            assert got.manifest.trials_finished_count == 2 * 4 * run.blocks
            assert [line.partition(":")[0] for line in got.refused] == [
                f"evil, block {one}" for one in range(run.blocks)
            ]
            check_shown("\n".join(got.refused))
            assert {(one.vantage, one.block) for one in fetching.asked_again} == {
                ("evil", one) for one in range(run.blocks)
            }
            assert (await ResultStore(operator, "evil").use()).names & {
                f"fleet-1.{one}" for one in range(run.blocks)
            } == set()
            # The machine was put right: its blocks are run, and nobody else's again.
            await world.begin_agent("evil")
            await world.until_done(run, limit_s=120)
            again = await ResultFetcher(operator, run).make_dataset(tmp_path / "second")
            assert (again.blocks_count, again.refused) == (dict.fromkeys(run.vantages, run.blocks), [])
            assert [len(world.workers[one].ran) for one in ("fra", "syd")] == [run.blocks] * 2
            some = await ResultFetcher(operator, run).make_dataset(tmp_path / "some", ["syd"])
            assert some.blocks_count == {"syd": run.blocks}
            await operator.close()

    asyncio.run(scene())


async def send_without_end(js, names: list[str], size: int) -> None:
    for number in range(1_000):
        await js.publish(f"$O.results-evil.C.{names[number % len(names)]}", b"x" * size)


def test_uploads_without_end_end_at_the_quota_and_are_removed(tmp_path, monkeypatch):
    monkeypatch.setattr(streams, "LEAST_MESSAGES", 100)

    async def scene() -> None:
        async with a_world(tmp_path, ["fra", "evil"]) as world:
            world.folder.set_storage(StorageLimits(quota_bytes=3 * MB))
            await world.server.reload()
            run = run_of("fra", "evil", blocks=2)
            await begun(world, run)
            await world.begin_agent("fra")
            agent = await hostile(world)
            js = agent.jetstream(timeout=5)
            for size, names in ((128 * 1024, ["big"]), (1, [f"small{number}" for number in range(200)])):
                with pytest.raises((nats.errors.Error, nats.js.errors.Error), match="maximum"):
                    await send_without_end(js, names, size)
            operator = await connect_operator(world.folder, world.said.append)
            use = await ResultStore(operator, "evil").use()
            assert 2 * MB < use.size_bytes <= use.quota_bytes == 3 * MB
            assert sum(use.chunks.values()) <= 3 * MB // streams.BYTES_A_MESSAGE
            async with asyncio.timeout(60):
                while len((await ResultStore(operator, "fra").use()).names) < 2:
                    await asyncio.sleep(0.1)
            watch = StorageWatch(world.folder, world.said.append)
            await watch._sweep()
            assert (await ResultStore(operator, "evil").use()).size_bytes == use.size_bytes, "it may still be sending"
            await watch._sweep()
            assert (await ResultStore(operator, "evil").use()).size_bytes == 0
            assert len((await ResultStore(operator, "fra").use()).names) == 2
            assert (await ResultFetcher(operator, run).make_dataset(tmp_path / "out")).blocks_count == {
                "fra": 2,
                "evil": 0,
            }
            await operator.close()
            await agent.close()

    asyncio.run(scene())


def test_names_without_end_are_not_listed_and_hide_no_result(tmp_path, monkeypatch):
    monkeypatch.setattr(result_store, "MOST_LISTED", 10)

    async def scene() -> None:
        async with a_world(tmp_path, ["evil"]) as world:
            run = run_of("evil", blocks=2)
            await begun(world, run)
            agent = await hostile(world)
            for number in range(20):
                await agent.jetstream().publish(f"$O.results-evil.M.{'x' * 3_000}{number}", b"")
            await agent.close()
            await world.begin_agent("evil")
            await world.until_done(run)
            operator = await connect_operator(world.folder, world.said.append)
            (place,) = (await FleetOperator(operator).progress(run)).places
            assert (place.blocks_done_count, place.use.names) == (2, {"fleet-1.0", "fleet-1.1"})
            assert (await ResultFetcher(operator, run).make_dataset(tmp_path / "out")).blocks_count == {"evil": 2}
            await operator.close()

    asyncio.run(scene())


def test_below_the_reserve_no_result_is_taken_and_above_it_all_go_on(tmp_path, monkeypatch):
    async def scene() -> None:
        async with a_world(tmp_path, ["fra"]) as world:
            low = asyncio.Event()
            watch = StorageWatch(world.folder, world.said.append)
            monkeypatch.setattr(StorageWatch, "_disk_is_low", lambda _self: low.is_set())
            client = await connect_agent(read_invitation(world.folder.path / "fra.invitation.toml"), world.said.append)
            store = await client.jetstream(timeout=5).object_store(format_store_name("fra"))
            await store.put("r.0", b"x" * 300_000)
            low.set()
            await watch.look(1.0)
            with pytest.raises((nats.errors.Error, nats.js.errors.Error), match="maximum bytes"):
                await store.put("r.1", b"y" * 300_000)
            low.clear()
            await watch.look(2.0)
            await store.put("r.1", b"y" * 300_000)
            operator = await connect_operator(world.folder, world.said.append)
            there = await operator.jetstream().object_store(format_store_name("fra"))
            assert [(await there.get(name)).data[:1] for name in ("r.0", "r.1")] == [b"x", b"y"]
            await operator.close()
            assert any("no result is taken" in line for line in world.said)
            assert any("results are taken again" in line for line in world.said)
            await client.close()

    asyncio.run(scene())


def test_what_is_the_reserve_depends_on_the_disk(tmp_path, monkeypatch):
    async def scene() -> None:
        async with a_world(tmp_path, []) as world:
            watch = StorageWatch(world.folder, world.said.append)
            for free, total, is_low in [
                (2e9, 1e12, False),
                (0.9e9, 1e12, True),
                (0.9e9, 2e9, False),
                (0.1e9, 2e9, True),
            ]:
                monkeypatch.setattr(
                    storage.shutil,
                    "disk_usage",
                    lambda _path, f=free, t=total: type("Disk", (), {"free": f, "total": t}),
                )
                assert watch._disk_is_low() is is_low
            monkeypatch.undo()

    asyncio.run(scene())


def test_a_run_that_cannot_be_queued_whole_is_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr(operations_module, "PUBLISHED_AT_ONCE", 2)

    async def scene() -> None:
        async with a_world(tmp_path, ["fra"]) as world:
            operator = await connect_operator(world.folder, world.said.append)
            desk, run = FleetOperator(operator), run_of("fra", blocks=6)
            whole = desk._publish

            async def publish(job: Job) -> None:
                if job.block == 3:
                    raise nats.errors.TimeoutError
                await whole(job)

            monkeypatch.setattr(desk, "_publish", publish)
            with pytest.raises(UnreachableError, match="could not begin run fleet-1"):
                await desk.begin(run)
            assert (await desk.run(run.id)).state is RunState.STOPPED
            assert await desk.count_queued_jobs(run) == 0
            await operator.close()

    asyncio.run(scene())


def test_a_wait_for_blocks_that_are_in_no_queue_ends_and_fetch_queues_them(tmp_path, monkeypatch):
    monkeypatch.setattr(runs, "LOOK_EVERY_S", 0.1)

    async def scene() -> None:
        async with a_world(tmp_path, ["fra"]) as world:
            run = run_of("fra", blocks=3)
            await begun(world, run)
            operator = await connect_operator(world.folder, world.said.append)
            desk = FleetOperator(operator)
            await operator.jetstream().purge_stream("JOBS", keep=1)
            with pytest.raises(MachineError, match="blocks of fleet-1 at fra are neither done nor in a queue"):
                await asyncio.wait_for(status(world, "--wait"), 60)
            await world.begin_agent("fra")
            async with asyncio.timeout(60):
                while not (await desk.progress(run)).blocks_done_count:
                    await asyncio.sleep(0.1)
            fetching = ResultFetcher(operator, run)
            assert (await fetching.make_dataset(tmp_path / "out")).blocks_count == {"fra": 1}
            assert sorted(one.block for one in fetching.asked_again) == [0, 1]
            await world.until_done(run)
            await operator.close()

    asyncio.run(scene())


TEXT = st.text(max_size=300) | st.sampled_from(["[/x]", "[red]", "\x1b]0;owned\x07", "\u202e", "\r\n", "\x9b1m"])
SAID = st.none() | st.builds(UnreadableState, TEXT) | st.builds(
    AgentState,
    vantage=st.just("evil"), unix_ns=st.integers(0, 2**63 - 1), versions=st.dictionaries(st.just("resolab"), TEXT),
    doing=TEXT, problem=st.none() | TEXT, blocks_done_count=st.integers(0, 2**63 - 1),
)  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(SAID)
def test_no_text_of_an_agent_commands_a_terminal_or_moves_a_row(said):
    run = run_of("evil", blocks=2)
    use = StoreUse(frozenset(), 5, None, {})
    with contextlib.redirect_stdout(Capture()) as out:
        runs._print(RunProgress(run, [VantageProgress("evil", 1, 2, said, use)]), ["evil"])
    check_shown(out.text)
    assert "1 of 2" in out.text


class Capture:
    """Standard output as text."""

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> int:
        self.text += text
        return len(text)

    def flush(self) -> None:
        pass

    def isatty(self) -> bool:
        return False
