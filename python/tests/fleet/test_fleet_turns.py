"""Agents of one machine take turns: one block at a time, whoever dies; a worker's command may stand inside another."""

import asyncio
import fcntl
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fleet_world import a_world
from pretended import programs_away, run_of  # noqa: F401 - a fixture by its name
from test_fleet_agent import begun, fetched, hurried, state_of  # noqa: F401 - a fixture by its name

from resolab.basics.errors import MachineError, UsageError
from resolab.cli.fleet import agent
from resolab.cli.fleet.agent import _prefix
from resolab.cli.main import main
from resolab.extras.fleet.agent.block_turns import BlockTurns
from resolab.extras.fleet.agent.spool import Spool
from resolab.extras.fleet.agent.worker_process import COMMAND, BlockTimeLimit, WorkerProcess
from resolab.extras.fleet.job import Job
from resolab.store import find_finished_trials

PROGRAM = Path(__file__).with_name("pretended.py")
WORKER = (sys.executable, str(PROGRAM), "worker")
LIMIT_S = 60.0
PREFIX = """
import os, signal, subprocess, sys
os.chdir("/")
print("up", file=sys.stderr, flush=True)
inside = subprocess.Popen(sys.argv[1:])
signal.signal(signal.SIGTERM, lambda *_: inside.terminate())
code = inside.wait()
print("down", file=sys.stderr, flush=True)
sys.exit(code)
"""


PATIENT = BlockTimeLimit(lambda: 0, LIMIT_S)


async def never() -> None:
    raise AssertionError("nobody else has the turn")


def is_free(file: Path) -> bool:
    with file.open() as opened:
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


async def until(holds) -> None:
    async with asyncio.timeout(LIMIT_S):
        while not holds():
            await asyncio.sleep(0.02)


def test_one_has_the_turn_and_the_others_hear_that_they_wait(tmp_path):
    async def scene() -> None:
        first, second = BlockTurns(tmp_path / "turns"), BlockTurns(tmp_path / "turns")
        order: list[str] = []
        waiting = asyncio.Event()

        async def wait() -> None:
            waiting.set()

        async def second_block() -> None:
            async with second.mine(wait):
                order.append("second")

        async with first.mine(never):
            other = asyncio.create_task(second_block())
            await asyncio.wait_for(waiting.wait(), LIMIT_S)
            order.append("first")
        # Whoever had a turn lets the others look before it asks again.
        async with first.mine(wait):
            order.append("first again")
        await other
        assert order == ["first", "second", "first again"]
        first.close()
        second.close()

    asyncio.run(scene())


def test_an_error_ends_a_turn_and_a_stop_keeps_it_until_the_worker_has_ended(tmp_path):
    async def scene() -> None:
        file = tmp_path / "turns"
        turns = BlockTurns(file)
        with pytest.raises(MachineError):
            async with turns.mine(never):
                raise MachineError("full")
        assert is_free(file)
        with pytest.raises(asyncio.CancelledError):
            async with turns.mine(never):
                raise asyncio.CancelledError
        assert not is_free(file)
        turns.close()
        assert is_free(file)

    asyncio.run(scene())


@pytest.mark.usefixtures("hurried")
def test_blocks_of_agents_that_take_turns_never_overlap(tmp_path):

    async def scene() -> None:
        async with a_world(tmp_path, ["fra", "syd", "ohio"]) as world:
            world.turns = tmp_path / "turns"
            run = run_of("fra", "syd", "ohio", blocks=2)
            running: set[str] = set()
            most = 0

            def overseen(worker):
                own = worker.run

                async def run_alone(job, run_file, patience):
                    nonlocal most
                    running.add(job.vantage)
                    most = max(most, len(running))
                    assert not is_free(tmp_path / "turns")
                    await asyncio.sleep(0.05)
                    try:
                        return await own(job, run_file, patience)
                    finally:
                        running.discard(job.vantage)

                worker.run = run_alone

            for vantage in run.vantages:
                await world.begin_agent(vantage)
                overseen(world.workers[vantage])
            await begun(world, run)
            await world.until_done(run)
            assert most == 1
            assert (await fetched(world, run, tmp_path / "out")).blocks_count == {"fra": 2, "syd": 2, "ohio": 2}

    asyncio.run(scene())


@pytest.mark.usefixtures("hurried")
def test_whoever_waits_says_so_and_keeps_its_job(tmp_path):
    async def scene() -> None:
        async with a_world(tmp_path, ["fra"]) as world:
            world.turns = tmp_path / "turns"
            other = BlockTurns(world.turns)
            run = run_of("fra", blocks=1)
            async with other.mine(never):
                await begun(world, run)
                await world.begin_agent("fra")
                await state_of(world, "fra", lambda one: one is not None and one.doing == "waits for its turn")
                # Longer than the lease: the job is not given out again.
                await asyncio.sleep(8)
                await state_of(world, "fra", lambda one: one is not None and one.doing == "waits for its turn")
                assert world.workers["fra"].ran == []
            await world.until_done(run)
            assert world.workers["fra"].ran == [("fleet-1", 0)]
            await world.end_agent("fra")
            other.close()
            assert is_free(world.turns)

    asyncio.run(scene())


def worker_of(folder: Path, *inside: str, turns: BlockTurns | None = None, trial_s: str = "0") -> WorkerProcess:
    turn = None if turns is None else turns.descriptor
    return WorkerProcess(folder / "spool", folder / "log", (*WORKER, trial_s), inside=inside, turn=turn)


def test_a_worker_answers_from_inside_another_command_and_both_end(tmp_path, monkeypatch):
    """The prefix begins in another folder, takes a while to come up, and notes that it has come down."""
    monkeypatch.chdir(tmp_path)
    prefix = tmp_path / "inside.py"
    prefix.write_text(PREFIX)

    async def scene() -> None:
        run = run_of(blocks=1)
        worker = worker_of(Path(), sys.executable, str(prefix))
        file = Spool(Path("spool")).keep(run)
        async with asyncio.timeout(LIMIT_S):
            assert await worker.run(Job(run=run.id, vantage="fra", block=0), file, PATIENT) is None
        assert len(find_finished_trials(Spool(Path("spool")).dataset(run.id))) == 4
        await worker.end()
        log = (tmp_path / "log").read_text()
        assert log.startswith("up")
        assert log.endswith("down\n")

    asyncio.run(scene())


def test_a_prefix_that_does_not_start_is_a_problem_in_a_line(tmp_path):
    async def scene() -> None:
        run = run_of(blocks=1)
        file, job = Spool(tmp_path / "spool").keep(run), Job(run=run.id, vantage="fra", block=0)
        failed = await worker_of(tmp_path, "false").run(job, file, PATIENT)
        assert failed is not None
        assert "ended with code 1" in failed.why
        # It would wait for ever for the end of what is no pipe.
        failed = await worker_of(tmp_path, "sh", "-c", 'exec "$@" < /dev/null', "--").run(job, file, PATIENT)
        assert failed is not None
        assert (tmp_path / "log").read_text().endswith("must leave it alone\n")
        with pytest.raises(MachineError, match="could not start /nowhere/box"):
            await worker_of(tmp_path, "/nowhere/box").run(job, file, PATIENT)

    asyncio.run(scene())


def test_a_block_without_a_further_trial_is_ended_and_said(tmp_path):
    async def scene() -> None:
        run = run_of(blocks=1)
        spool = Spool(tmp_path / "spool")
        file, job = spool.keep(run), Job(run=run.id, vantage="fra", block=0)
        worker = worker_of(tmp_path, trial_s="3600")
        running = asyncio.ensure_future(worker.run(job, file, BlockTimeLimit(lambda: spool.trials_count(run.id), 8.0)))
        await until(lambda: (tmp_path / "log").exists() and "begins" in (tmp_path / "log").read_text())
        pid = worker._process.pid
        failed = await asyncio.wait_for(running, 2 * LIMIT_S)
        assert (failed.kind, "no trial of block 0 ended within" in failed.why) == ("stalled", True)
        assert not Path(f"/proc/{pid}").exists()

    asyncio.run(scene())


def test_a_block_whose_trials_end_now_and_then_may_take_long(tmp_path):
    async def scene() -> None:
        run, spool = run_of(blocks=1), Spool(tmp_path / "spool")
        file, job = spool.keep(run), Job(run=run.id, vantage="fra", block=0)
        counts = iter(range(1_000_000))
        worker = worker_of(tmp_path, trial_s="0.6")
        assert await worker.run(job, file, BlockTimeLimit(lambda: next(counts), 0.2)) is None
        await worker.end()

    asyncio.run(scene())


def test_a_worker_in_turns_leaves_nothing_standing_after_a_block(tmp_path):
    async def scene() -> None:
        run, turns = run_of(blocks=2), BlockTurns(tmp_path / "turns")
        worker, file = worker_of(tmp_path, turns=turns), Spool(tmp_path / "spool").keep(run)
        for block in (0, 1):
            assert await worker.run(Job(run=run.id, vantage="fra", block=block), file, PATIENT) is None
            assert (tmp_path / "log").read_text().count("testbed ends") == block + 1
        await worker.end()
        turns.close()

    asyncio.run(scene())


def test_a_worker_that_outlives_its_agent_ends_its_block_within_the_turn(tmp_path):
    program = f"""
import asyncio, pathlib, sys
sys.path.insert(0, {str(PROGRAM.parent)!r})
from test_fleet_turns import PATIENT, never, worker_of
from resolab.extras.fleet.agent.block_turns import BlockTurns
from resolab.extras.fleet.job import Job
async def agent():
    folder = pathlib.Path({str(tmp_path)!r})
    turns = BlockTurns(folder / "turns")
    async with turns.mine(never):
        job = Job(run="fleet-1", vantage="fra", block=0)
        await worker_of(folder, turns=turns, trial_s="0.5").run(job, folder / "spool/fleet-1/run.json", PATIENT)
asyncio.run(agent())
"""
    run = run_of(blocks=1)
    Spool(tmp_path / "spool").keep(run)
    agent = subprocess.Popen([sys.executable, "-c", program])

    def said(text: str) -> bool:
        assert agent.poll() in (None, -signal.SIGKILL)
        return (tmp_path / "log").exists() and text in (tmp_path / "log").read_text()

    async def scene() -> None:
        await until(lambda: said("trial b000-t000 begins"))
        os.kill(agent.pid, signal.SIGKILL)
        agent.wait()
        assert not is_free(tmp_path / "turns")
        await until(lambda: is_free(tmp_path / "turns"))
        assert said("testbed ends")
        assert len(find_finished_trials(Spool(tmp_path / "spool").dataset(run.id))) == 4

    asyncio.run(scene())


@pytest.mark.parametrize(("inside", "says"), [("no-such-program x", "no program"), ("'", "quote"), ("", "no program")])
def test_a_prefix_that_means_nothing_is_refused(inside, says):
    with pytest.raises(UsageError, match=says):
        _prefix(inside)


def test_a_prefix_is_read_as_by_a_shell():
    assert _prefix("sh -c 'exec \"$@\"' --") == ["sh", "-c", 'exec "$@"', "--"]
    assert _prefix(None) == []


def test_the_command_puts_the_prefix_before_its_worker_and_gives_it_the_turns(tmp_path, monkeypatch):
    made: dict[str, Any] = {}

    class Client:
        async def close(self) -> None:
            made["closed"] = True

    class Recorded:
        def __init__(self, _side, _place, _spool, worker, _say, *, turns) -> None:
            made.update(worker=worker, turns=turns)

        def stop(self) -> None:
            """Nothing runs."""

        async def run(self) -> None:
            """End at once."""

    async def connected(_invitation, _say, *, wait):
        return Client()

    monkeypatch.setattr(agent, "connect_agent", connected)
    monkeypatch.setattr(agent, "read_invitation", lambda _file: SimpleNamespace(vantage="fra", url="tls://x"))
    monkeypatch.setattr(agent, "AgentClient", lambda _client, _vantage: None)
    monkeypatch.setattr(agent, "Agent", Recorded)
    command = ["fleet", "agent", "--invitation", "x", "--spool", str(tmp_path / "spool")]
    assert main([*command, "--inside", "nice -n 1", "--turns", str(tmp_path / "turns")]) == 0
    assert made["worker"]._command == ("nice", "-n", "1", *COMMAND)
    assert made["worker"]._turn == made["turns"].descriptor
    made["turns"].close()
    assert main(command) == 0
    assert (made["worker"]._command, made["worker"]._turn, made["turns"]) == (COMMAND, None, None)
