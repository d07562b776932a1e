"""A real nats-server: what agents may and may not, what is refused, and that it heals."""

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import nats.errors
import nats.js.errors
import pytest
from nats.aio.client import Client
from nats.js.client import JetStreamContext

from resolab.basics.errors import ConfigurationError, MachineError
from resolab.extras.fleet.connection import connect_agent, connect_operator
from resolab.extras.fleet.invitation import Invitation, invite, read_invitation, withdraw
from resolab.extras.fleet.job import AgentState, Job, encode
from resolab.extras.fleet.operations import FleetOperator
from resolab.extras.fleet.server.folder import ServerFolder
from resolab.extras.fleet.server.process import find_pid
from resolab.extras.fleet.server.server import FleetServer, reload_server
from resolab.extras.fleet.server.streams import prepare_agent, prepare_streams
from resolab.extras.fleet.transfer import AgentClient, UnreachableError, done, format_store_name, not_now

PATIENCE_S = 60.0
REFUSED_S = 0.7
"""How long an answer that must not come is waited for; what the server refuses it never answers."""


@dataclass
class Fleet:
    """A server with two agents and the one who runs it."""

    server: FleetServer
    operator: Client
    agents: dict[str, Client]
    problems: dict[str, list[str]] = field(default_factory=dict)

    @property
    def js(self) -> JetStreamContext:
        return self.operator.jetstream()

    def at(self, vantage: str) -> JetStreamContext:
        return self.agents[vantage].jetstream(timeout=REFUSED_S)

    async def queue(self, job: Job) -> None:
        await self.js.publish(job.subject, encode(job), headers={"Nats-Msg-Id": job.id})


def invitation_of(server: FleetServer, vantage: str) -> Invitation:
    return read_invitation(invite(server.folder, vantage))


@contextlib.asynccontextmanager
async def fleet(folder: Path, *vantages: str) -> AsyncIterator[Fleet]:
    async with contextlib.AsyncExitStack() as ending:
        server = await ending.enter_async_context(FleetServer(folder, look_every_s=0.1))
        invitations = [invitation_of(server, one) for one in vantages]
        await server.reload()
        operator = await connect_operator(server.folder, lambda _problem: None)
        ending.push_async_callback(operator.close)
        one = Fleet(server, operator, {}, {vantage: [] for vantage in vantages})
        for invitation in invitations:
            client = await connect_agent(invitation, one.problems[invitation.vantage].append)
            ending.push_async_callback(client.close)
            one.agents[invitation.vantage] = client
        yield one


async def until(true: Callable[[], Awaitable[bool]]) -> None:
    async def wait() -> None:
        while not await true():
            await asyncio.sleep(0.05)

    await asyncio.wait_for(wait(), PATIENCE_S)


def run(all_of_it: Awaitable[None]) -> None:
    """Run a test, which hangs for so long at most."""
    asyncio.run(asyncio.wait_for(all_of_it, 4 * PATIENCE_S))


JOB = Job(run="r1", vantage="fra", block=0)
STATE = AgentState(vantage="fra", unix_ns=1, versions={}, doing="waiting")


def test_an_agent_takes_its_job_and_gives_its_result(tmp_path: Path) -> None:
    async def go() -> None:
        async with fleet(tmp_path / "f", "fra") as one:
            await (await one.js.key_value("runs")).put("r1", b"{}")
            await one.queue(JOB)
            await one.queue(JOB)
            side = AgentClient(one.agents["fra"], "fra")
            message = await side.next_job(PATIENCE_S)
            assert message is not None
            assert message.data == encode(JOB)
            read = await (await one.at("fra").key_value("runs")).get("r1")
            assert read.value == b"{}"
            assert not await side.has_result(JOB)
            # Twice: a job that comes again is sent again.
            store = await one.agents["fra"].jetstream().object_store(format_store_name("fra"))
            for content in (b"x" * 300_000, b"y" * 300_000):
                await store.put(JOB.result, content)
            assert await side.has_result(JOB)
            await side.tell(STATE)
            await message.in_progress()
            await done(message)
            assert (await one.js.stream_info("JOBS")).state.messages == 0
            assert await side.next_job(0.2) is None
            fetched = await (await one.js.object_store(format_store_name("fra"))).get(JOB.result)
            assert fetched.data == b"y" * 300_000
            assert (await (await one.js.key_value("agents")).get("fra")).value == encode(STATE)
            assert one.problems["fra"] == []

    run(go())


def test_a_job_given_back_comes_again_and_holds_up_none(tmp_path: Path) -> None:
    async def go() -> None:
        async with fleet(tmp_path / "f", "fra") as one:
            later = Job(run="r2", vantage="fra", block=0)
            await one.queue(JOB)
            await one.queue(later)
            side = AgentClient(one.agents["fra"], "fra")
            refused_one = await side.next_job(PATIENCE_S)
            assert refused_one is not None
            await not_now(refused_one, 1.5)
            next_one = await side.next_job(PATIENCE_S)
            assert next_one is not None
            assert next_one.data == encode(later)
            await done(next_one)
            again = await side.next_job(PATIENCE_S)
            assert again is not None
            assert again.data == refused_one.data
            assert again.metadata.num_delivered == 2

    run(go())


async def refused(attempt: Awaitable[object]) -> None:
    with pytest.raises((nats.errors.Error, nats.js.errors.Error, TimeoutError, UnreachableError)):
        await attempt


def test_an_agent_may_do_nothing_else(tmp_path: Path) -> None:
    async def go() -> None:
        async with fleet(tmp_path / "f", "fra", "syd") as one:
            syd_job = Job(run="r1", vantage="syd", block=0)
            await one.queue(syd_job)
            await (await one.js.key_value("runs")).put("r1", b"RUN")
            await (await one.js.key_value("agents")).put("syd", b"SYD")
            await (await one.js.object_store(format_store_name("syd"))).put("r1.0", b"secret")
            fra = one.at("fra")
            states = await fra.key_value("agents")
            jobs_of_syd = await fra.pull_subscribe_bind("syd", "JOBS")
            attempts = [
                fra.publish("jobs.r1.fra", b"forged"),
                fra.publish("jobs.r1.syd", b"forged"),
                fra.publish("$KV.agents.syd", b"forged"),
                fra.publish("$KV.runs.r1", b"forged"),
                fra.publish(f"$O.{format_store_name('syd')}.M.x", b"forged"),
                fra.object_store(format_store_name("syd")),
                states.get("syd"),
                jobs_of_syd.fetch(1, timeout=REFUSED_S),
                fra.consumer_info("JOBS", "syd"),
                fra.stream_info("JOBS"),
                fra.delete_stream("JOBS"),
                fra.delete_stream(f"OBJ_{format_store_name('fra')}"),
                fra.purge_stream("JOBS"),
                fra.delete_consumer("JOBS", "syd"),
                prepare_agent(fra, "new"),
                # Its own account has no JetStream, whatever is asked of it.
                one.agents["fra"].jetstream(prefix="$JS.API", timeout=REFUSED_S).account_info(),
            ]
            await asyncio.gather(*map(refused, attempts))
            assert await everything_of_syd(one, syd_job)
            assert any("permissions violation" in problem for problem in one.problems["fra"])

    run(go())


async def everything_of_syd(one: Fleet, job: Job) -> bool:
    """Whether what others have is as it was."""
    jobs = await one.js.stream_info("JOBS", subjects_filter=">")
    assert jobs.state.subjects == {job.subject: 1}
    waiting = await one.js.consumer_info("JOBS", "syd")
    assert (waiting.num_pending, waiting.num_ack_pending) in {(1, 0), (0, 1)}
    assert (await (await one.js.key_value("agents")).get("syd")).value == b"SYD"
    assert (await (await one.js.key_value("runs")).get("r1")).value == b"RUN"
    store = await one.js.object_store(format_store_name("syd"))
    assert (await store.get("r1.0")).data == b"secret"
    assert [info.name for info in await store.list()] == ["r1.0"]
    return True


def test_an_answer_cannot_be_sent_into_what_is_anothers(tmp_path: Path) -> None:
    """Whoever asks says where the answer goes: lists of allowed subjects do not hold that, accounts do."""

    async def go() -> None:
        async with fleet(tmp_path / "f", "fra", "syd") as one:
            syd_job = Job(run="r1", vantage="syd", block=0)
            await one.queue(syd_job)
            await (await one.js.key_value("runs")).put("r1", b"RUN")
            await (await one.js.key_value("agents")).put("syd", b"SYD")
            await (await one.js.object_store(format_store_name("syd"))).put("r1.0", b"secret")
            taken = await AgentClient(one.agents["syd"], "syd").next_job(PATIENCE_S)
            assert taken is not None
            fra = one.agents["fra"]
            places = ["$KV.agents.syd", "$KV.runs.r1", "jobs.r1.syd", f"$O.{format_store_name('syd')}.M.x", taken.reply]
            for place in [*places, "$JS.API.STREAM.DELETE.KV_runs"]:
                await fra.publish("FLEET.API.STREAM.INFO.KV_runs", b"", reply=place)
                await fra.publish("FLEET.API.DIRECT.GET.KV_runs.$KV.runs.r1", b"", reply=place)
                nothing = b'{"batch": 1, "no_wait": true}'
                await fra.publish("FLEET.API.CONSUMER.MSG.NEXT.JOBS.fra", nothing, reply=place)
                await fra.publish("$KV.agents.fra", b"x", reply=place)
            # What is asked after these is answered after them.
            await one.at("fra").stream_info("KV_runs")
            await one.at("fra").publish("$KV.agents.fra", b"last")
            assert await everything_of_syd(one, syd_job)

    run(go())


def test_a_bucket_cannot_be_emptied_by_writing_to_ones_own_key(tmp_path: Path) -> None:
    async def go() -> None:
        async with fleet(tmp_path / "f", "fra") as one:
            await (await one.js.key_value("agents")).put("syd", b"SYD")
            await refused(one.at("fra").publish("$KV.agents.fra", b"x", headers={"Nats-Rollup": "all"}))
            assert (await (await one.js.key_value("agents")).get("syd")).value == b"SYD"

    run(go())


def test_what_is_there_is_listed_though_the_client_takes_the_bucket_for_empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its `keys()` does when they have arrived before it asks how many are to come."""

    async def nothing(*_arguments: object, **_more: object) -> list[str]:
        raise nats.js.errors.NoKeysError

    monkeypatch.setattr("nats.js.kv.KeyValue.keys", nothing)
    monkeypatch.setattr("nats.js.kv.KeyValue.watch", nothing)

    async def go() -> None:
        async with fleet(tmp_path, "syd", "fra") as one:
            operations = FleetOperator(one.operator)
            assert (await operations.states(), await operations.runs()) == ({}, [])
            said = AgentState(vantage="syd", unix_ns=1, versions={}, doing="waiting")
            await AgentClient(one.agents["syd"], "syd").tell(said)
            assert await operations.states() == {"syd": said}

    asyncio.run(go())


def test_a_withdrawn_credential_ends_at_once_and_is_refused(tmp_path: Path) -> None:
    async def go() -> None:
        async with fleet(tmp_path / "f", "syd") as one:
            invitation = invitation_of(one.server, "fra")
            await one.server.reload()
            said: list[str] = []
            fra = await connect_agent(invitation, said.append)
            withdraw(one.server.folder, "fra")
            # As another process does it, which has the folder alone.
            assert await asyncio.to_thread(reload_server, ServerFolder.open(one.server.folder.path))

            async def told() -> bool:
                return any("withdrawn or replaced" in line for line in said)

            await until(told)
            assert not fra.is_connected
            await fra.close()
            with pytest.raises(ConfigurationError, match="withdrawn or replaced"):
                await connect_agent(invitation, said.append)
            # The others stay as they were, and a new invitation is good.
            assert one.agents["syd"].is_connected
            await AgentClient(one.agents["syd"], "syd").tell(STATE)
            again = invitation_of(one.server, "fra")
            await one.server.reload()
            await (await connect_agent(again, said.append)).close()
            with pytest.raises(ConfigurationError, match="withdrawn or replaced"):
                await connect_agent(invitation, said.append)

    run(go())


def test_an_invited_agent_that_was_withdrawn_by_mistake_comes_back_by_itself(tmp_path: Path) -> None:
    """A refusal by the running server is one more reason to try again, for as long as the agent runs."""

    async def go() -> None:
        async with fleet(tmp_path / "f", "fra") as one:
            config = one.server.folder.config_file
            before = config.read_text()
            config.write_text(before.replace("fra.agent.fleet", "nobody.agent.fleet"))
            await asyncio.to_thread(reload_server, one.server.folder)

            async def told() -> bool:
                return bool(one.problems["fra"])

            await until(told)
            config.write_text(before)
            await asyncio.to_thread(reload_server, one.server.folder)

            async def back() -> bool:
                return one.agents["fra"].is_connected

            await until(back)
            await AgentClient(one.agents["fra"], "fra").tell(STATE)
            assert any("reached again" in line for line in one.problems["fra"])

    run(go())


def test_who_is_of_another_fleet_is_refused_in_a_line(tmp_path: Path) -> None:
    async def go() -> None:
        other = ServerFolder.create(tmp_path / "other", "127.0.0.1", 1, [])
        async with FleetServer(tmp_path / "f") as server:
            stranger = read_invitation(invite(other, "fra"))
            own = invitation_of(server, "fra")
            await server.reload()
            url = server.url
            with pytest.raises(ConfigurationError, match="of another authority") as untrusted:
                await connect_agent(
                    Invitation(vantage="fra", url=url, authority=stranger.authority, credential=own.credential), _nobody
                )
            with pytest.raises(ConfigurationError, match="of another fleet") as unknown:
                await connect_agent(
                    Invitation(vantage="fra", url=url, authority=own.authority, credential=stranger.credential), _nobody
                )
            elsewhere = url.replace("127.0.0.1", "localhost")
            with pytest.raises(ConfigurationError, match="not for localhost"):
                await connect_agent(
                    Invitation(vantage="fra", url=elsewhere, authority=own.authority, credential=own.credential),
                    _nobody,
                )
            with pytest.raises(ConfigurationError, match="could not use the credential"):
                await connect_agent(
                    Invitation(vantage="fra", url=url, authority=own.authority, credential="x"), _nobody
                )
            assert "\n" not in str(untrusted.value) + str(unknown.value)

    run(go())


def _nobody(_problem: str) -> None:
    pass


def test_a_server_that_is_not_there_is_said_in_a_line_or_waited_for(tmp_path: Path) -> None:
    async def go() -> None:
        async with FleetServer(tmp_path / "f") as server:
            invitation = invitation_of(server, "fra")
        with pytest.raises(MachineError, match=r"could not reach .*fleet serve"):
            await connect_agent(invitation, _nobody)
        said: list[str] = []
        waiting = asyncio.create_task(connect_agent(invitation, said.append, wait=True))

        async def told() -> bool:
            return bool(said)

        await until(told)
        async with FleetServer(tmp_path / "f"):
            client = await asyncio.wait_for(waiting, PATIENCE_S)
            assert client.is_connected
            await client.close()

    run(go())


def test_a_greeting_in_the_clear_is_not_answered(tmp_path: Path) -> None:
    """Whoever sits between could leave TLS out of it; an agent says nothing but a TLS hello."""

    async def go() -> None:
        folder = ServerFolder.create(tmp_path / "f", "127.0.0.1", 1, [])
        heard = bytearray()

        async def forged(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(b'INFO {"server_id":"x","version":"2.15.1","max_payload":1048576,"headers":true}\r\n')
            heard.extend(await reader.read(64))
            writer.close()

        listening = await asyncio.start_server(forged, "127.0.0.1", 0)
        async with listening:
            port = listening.sockets[0].getsockname()[1]
            invitation = read_invitation(invite(folder, "fra"))
            there = Invitation(
                vantage="fra",
                url=f"tls://127.0.0.1:{port}",
                authority=invitation.authority,
                credential=invitation.credential,
            )
            with pytest.raises(MachineError):
                await connect_agent(there, _nobody)
        assert heard[:2] == b"\x16\x03"

    run(go())


def test_a_killed_server_is_healed_with_its_jobs(tmp_path: Path) -> None:
    async def go() -> None:
        async with fleet(tmp_path / "f", "fra") as one:
            await one.queue(JOB)
            killed, url = one.server.pid, one.server.url
            os.kill(killed, signal.SIGKILL)

            async def another() -> bool:
                return find_pid(one.server.folder) not in {None, killed} and one.agents["fra"].is_connected

            await until(another)
            assert one.server.url == url
            message = None
            while message is None:
                with contextlib.suppress(Exception):
                    message = await AgentClient(one.agents["fra"], "fra").next_job(1.0)
            assert message.data == encode(JOB)
            await done(message)

    run(go())


def test_everything_is_there_at_the_next_start_and_made_once(tmp_path: Path) -> None:
    async def go() -> None:
        async with fleet(tmp_path / "f", "fra") as one:
            await one.queue(JOB)
            await prepare_streams(one.js)
            await prepare_agent(one.js, "fra")
            url, pid = one.server.url, one.server.pid
        assert not Path(f"/proc/{pid}").exists()
        async with FleetServer(tmp_path / "f") as server:
            assert server.url == url
            client = await connect_operator(server.folder, _nobody)
            assert (await client.jetstream().stream_info("JOBS")).state.messages == 1
            assert (await client.jetstream().consumer_info("JOBS", "fra")).num_pending == 1
            await client.close()

    run(go())


def test_the_configuration_of_a_stream_made_otherwise_is_brought_up_to_date(tmp_path: Path) -> None:
    async def go() -> None:
        async with fleet(tmp_path / "f") as one:
            config = (await one.js.stream_info("JOBS")).config
            config.duplicate_window = 60.0
            await one.js.update_stream(config)
            await prepare_streams(one.js)
            assert (await one.js.stream_info("JOBS")).config.duplicate_window == 3600

    run(go())


def test_one_at_a_time_serves_from_a_folder(tmp_path: Path) -> None:
    async def go() -> None:
        async with FleetServer(tmp_path / "f"):
            with pytest.raises(ConfigurationError, match="could not serve from"):
                async with FleetServer(tmp_path / "f"):
                    pass
        assert not reload_server(ServerFolder.open(tmp_path / "f"))

    run(go())


def test_a_port_that_is_taken_is_said(tmp_path: Path) -> None:
    async def go() -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            with pytest.raises(MachineError, match=rf"{port}.*in use"):
                async with FleetServer(tmp_path / "f", port=port):
                    pass

    run(go())


def test_it_listens_at_the_loopback_alone(tmp_path: Path) -> None:
    async def go() -> None:
        async with FleetServer(tmp_path / "f") as server:
            told = subprocess.run(["ss", "-Hltnp"], capture_output=True, text=True, check=True).stdout
            places = [line.split()[3] for line in told.splitlines() if f"pid={server.pid}," in line]
            assert len(places) == 2
            assert all(place.startswith("127.0.0.1:") for place in places)

    run(go())


OWNER = """
import asyncio, sys
from pathlib import Path
from resolab.extras.fleet.server.server import FleetServer

async def go():
    async with FleetServer(Path(sys.argv[1])) as server:
        print(server.pid, flush=True)
        await asyncio.Event().wait()

asyncio.run(go())
"""


def test_it_does_not_outlive_a_killed_owner(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", OWNER, str(tmp_path / "f")], stdout=subprocess.PIPE, text=True
    ) as owner:
        assert owner.stdout is not None
        pid = int(owner.stdout.readline())
        assert Path(f"/proc/{pid}").exists()
        owner.kill()
        owner.wait()

        async def gone() -> bool:
            return find_pid(ServerFolder.open(tmp_path / "f")) is None

        asyncio.run(until(gone))


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=12m", "tmpfs", place], capture_output=True, text=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"a full disk needs a mount: {mounted.stderr.strip()}")
    yield place
    subprocess.run(["umount", "-l", place], check=True)


def test_a_full_disk_is_healed_once_there_is_space(small_disk: Path) -> None:
    async def go() -> None:
        async with fleet(small_disk / "f", "fra") as one:
            await one.queue(JOB)
            first = one.server.pid
            ballast = small_disk / "ballast"
            with contextlib.suppress(OSError), ballast.open("wb") as file:
                while True:
                    file.write(b"x" * 4096)
                    file.flush()
            store = await one.agents["fra"].jetstream(timeout=5).object_store(format_store_name("fra"))
            with pytest.raises((nats.errors.Error, nats.js.errors.Error)):
                await store.put("r1.0", b"x" * 1_000_000)
            ballast.unlink()

            async def whole() -> bool:
                try:
                    await store.put("r1.0", b"y" * 1_000_000)
                    fetched = await asyncio.wait_for(
                        (await one.js.object_store(format_store_name("fra"))).get("r1.0"), 10
                    )
                except (nats.errors.Error, nats.js.errors.Error, TimeoutError):
                    return False
                return fetched.data == b"y" * 1_000_000

            await until(whole)
            assert (await one.js.stream_info("JOBS")).state.messages == 1
            assert find_pid(one.server.folder) not in {None, first}

    run(go())


def test_a_server_that_starts_on_a_full_disk_says_so_and_starts_once_there_is_space(small_disk: Path) -> None:
    async def go() -> None:
        async with fleet(small_disk / "f", "fra"):
            pass
        ballast = small_disk / "ballast"
        with contextlib.suppress(OSError), ballast.open("wb", buffering=0) as file:
            while file.write(b"x" * 4096):
                pass
        # It does not wait out the time a start may take: a server without its ports' file never gets ready.
        with pytest.raises(MachineError, match="no space left on device"):
            async with FleetServer(small_disk / "f"):
                pass
        assert find_pid(ServerFolder.open(small_disk / "f")) is None
        ballast.unlink()
        async with FleetServer(small_disk / "f"):
            pass

    run(go())
