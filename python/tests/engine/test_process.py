"""A program that answers, is silent, talks rubbish or dies is each told apart, and nothing waits for ever."""

import asyncio
import os
import sys

import pytest

from resolab.basics.errors import ConfigurationError, DeadlineError, MachineError, ResolabError
from resolab.basics.records import EdgeFlush, EdgeReadyRecord, StartRecord
from resolab.lab.engine import CoreProcess

PREAMBLE = """
import json, sys, time
def say(**record): print(json.dumps(record), flush=True)
"""
READY = 'say(record="edge_ready", ca_file="ca.pem", ca_spki_sha256="x", listeners=[])\n'
ANSWER = """
for line in sys.stdin:
    command = json.loads(line)
    say(record="edge_query", dns_transport="doq", peer_address="a:1", received_ns=command["id"], qname="n.", qtype="A",
        query_bytes=1)
    say(record="command_done", id=command["id"], monotonic_ns=1, error=ERROR)
"""


def run(coroutine):
    return asyncio.run(asyncio.wait_for(coroutine, 20))


async def start(program, on_record=lambda record: None):
    return await CoreProcess.start("the edge", [sys.executable, "-u", "-c", PREAMBLE + program], on_record)


def test_records_come_before_the_answer_to_the_command_that_asked_for_them():
    async def scenario():
        seen = []
        process = await start(READY + "ERROR=None" + ANSWER, seen.append)
        assert (await process.first(EdgeReadyRecord, 5)).ca_file == "ca.pem"
        await process.command(lambda number: EdgeFlush(id=number))
        assert [type(record).__name__ for record in seen] == ["EdgeReadyRecord", "EdgeQueryRecord"]
        await process.close()
        assert not process.running

    run(scenario())


def test_a_refused_command_is_an_error_with_its_reason():
    async def scenario():
        process = await start(READY + "ERROR='no such name'" + ANSWER)
        with pytest.raises(ResolabError, match="no such name"):
            await process.command(lambda number: EdgeFlush(id=number))
        await process.close()

    run(scenario())


def test_a_program_that_never_gets_ready_meets_its_deadline_and_is_killed():
    async def scenario():
        process = await start("import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\ntime.sleep(60)")
        with pytest.raises(DeadlineError, match=r"StartRecord within 0\.2 s"):
            await process.first(StartRecord, 0.2)
        pid = process.pid
        await process.close(timeout_s=0.2)
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)

    run(scenario())


@pytest.mark.parametrize(("code", "kind"), [(3, ConfigurationError), (4, MachineError), (70, ResolabError)])
def test_an_exit_code_keeps_its_meaning_and_its_last_line(code, kind):
    async def scenario():
        process = await start(f"print('resolab-core: failed to bind', file=sys.stderr)\nsys.exit({code})")
        with pytest.raises(kind, match="failed to bind"):
            await process.first(StartRecord, 5)
        await process.close()

    run(scenario())


def test_a_program_that_dies_answers_everyone_who_waits():
    async def scenario():
        process = await start("sys.stdin.readline()\nsys.exit(70)")
        with pytest.raises(ResolabError, match="exit code 70"):
            await process.command(lambda number: EdgeFlush(id=number), timeout_s=5)
        with pytest.raises(ResolabError, match="exit code 70"):
            await process.command(lambda number: EdgeFlush(id=number), timeout_s=5)
        await process.close()

    run(scenario())


def test_a_line_that_is_no_record_is_an_error_not_a_silence():
    async def scenario():
        process = await start("print('hello', flush=True)\ntime.sleep(0.3)")
        with pytest.raises(ResolabError, match="no record"):
            await process.first(StartRecord, 5)
        await process.close()

    run(scenario())


def test_a_missing_binary_is_the_machines_lack():
    with pytest.raises(MachineError, match="could not start"):
        run(CoreProcess.start("the edge", ["/nowhere/resolab-core"]))


def test_a_short_program_that_outlives_its_time_is_stopped():
    async def scenario():
        process = await start("time.sleep(60)")
        with pytest.raises(DeadlineError, match="did not end"):
            await process.wait(0.2)
        assert not process.running

    run(scenario())


def test_a_program_has_a_session_of_its_own_so_that_a_terminals_interrupt_is_not_for_it():
    async def scenario():
        process = await start(READY + "sys.stdin.read()")
        await process.first(EdgeReadyRecord, 5)
        assert os.getsid(process.pid) == process.pid != os.getsid(0)
        await process.close()

    run(scenario())
