"""The process that runs blocks: one asked for in a line on its standard input, and a line on its output when it ended.

For: `python -m resolab.fleet.worker`, which an agent starts. Not for: which block is next (`agent`), the process as its
agent sees it (`worker_process`).

    in   {"run": "SPOOL/RUN/run.json", "spool": "SPOOL", "vantage": "fra", "block": 3, "rest": false}
    out  {"done": 3, "trials": 24}
    out  {"failed": 3, "problem": "one line", "kind": "storage" | "instrument" | "configuration" | "interrupted"}

Its testbed stands from block to block of a run; with `rest` it ends with its block. The process ends when its input
does, and by SIGTERM or SIGINT as a campaign: the trial in flight ends, a second one abandons it. What campaigns say
goes to standard error.
"""

import asyncio
import contextlib
import functools
import os
import stat
import sys
import traceback
from pathlib import Path
from typing import Any

import msgspec
from rich.console import Console

from resolab.campaign.blocks.one_block import carry_out_block
from resolab.campaign.blocks.standing_testbeds import StandingTestbeds
from resolab.campaign.loop import MakeTestbed
from resolab.campaign.run import testbed_of
from resolab.campaign.stopping import StopRequest
from resolab.errors import ConfigurationError, MachineError, ResolabError, StorageError, UnsupportedError, UsageError
from resolab.fleet.at_vantage import plan_at
from resolab.fleet.checks import other_ground
from resolab.fleet.job import Run, decode
from resolab.fleet.spool import Spool
from resolab.store import machine_errors
from resolab.store.manifest import RunStart
from resolab.wording import clean

IDLE_S = 60.0
"""Without a block for so long, nothing is kept standing: browsers wake up beside what others measure."""
STOPPED = "it was stopped before its end; the trials that ended are kept"


class Asked(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """One line of the input."""

    run: str
    """Path of the run's file."""
    spool: str
    vantage: str
    block: int
    rest: bool = False
    """Whether nothing may stand after it: others measure then."""


class Worker:
    """Carries out one block after the other."""

    def __init__(self, console: Console, make_testbed: MakeTestbed, stop: StopRequest) -> None:
        self._console, self._stop = console, stop
        self._testbeds = StandingTestbeds(make_testbed)
        self._run: str | None = None

    async def answer(self, line: bytes) -> dict[str, Any]:
        """Carry out what a line asks for; returns what there is to say of it."""
        try:
            asked = msgspec.json.decode(line, type=Asked)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            return {"failed": None, "problem": f"could not read what is asked: {error}", "kind": "configuration"}
        try:
            return await self._carry_out(asked)
        except (ResolabError, OSError) as error:
            return self._failed(asked.block, error)
        except Exception as error:  # noqa: BLE001 - whatever it is, the agent needs a word, and its log the whole
            for told in traceback.format_exc().splitlines():
                self._console.print(clean(told), highlight=False, markup=False, soft_wrap=True)
            return self._failed(asked.block, error)

    async def rest(self) -> None:
        """End what stands."""
        self._run = None
        await self._testbeds.close()

    async def _carry_out(self, asked: Asked) -> dict[str, Any]:
        run = _run_in(Path(asked.run))
        plan = plan_at(run, asked.vantage)
        if run.id != self._run:
            await self.rest()
            self._run = run.id
        folder = Spool(Path(asked.spool)).dataset(run.id)
        try:
            outcome = await carry_out_block(
                plan,
                folder,
                self._console,
                asked.block,
                self._testbeds,
                fleet_run=run.id,
                stop=self._stop,
                check_ground=functools.partial(_check_ground, run),
            )
        finally:
            if asked.rest or plan.instrument.netlog:
                # A browser's log is whole when its browser has ended, and goes with the block it is of.
                await self.rest()
        if outcome.interrupted:
            return {"failed": asked.block, "problem": STOPPED, "kind": "interrupted"}
        return {"done": asked.block, "trials": outcome.trials_count}

    def _failed(self, block: int, error: Exception) -> dict[str, Any]:
        text = " ".join(str(error).split()) or type(error).__name__
        if self._stop.requested:
            return {"failed": block, "problem": STOPPED, "kind": "interrupted"}
        return {"failed": block, "problem": text, "kind": _kind(error)}


def _check_ground(run: Run, now: RunStart) -> None:
    """Refuse a block where the machine has changed since its agent took the run."""
    difference = other_ground(run, now)
    if difference is not None:
        raise ConfigurationError(f"{difference}; make it the same, or leave the run to others")


def _run_in(file: Path) -> Run:
    with machine_errors(f"read {file}"):
        return decode(file.read_bytes(), Run, what=str(file))


def _kind(error: Exception) -> str:
    if isinstance(error, (StorageError, OSError)):
        return "storage"
    if isinstance(error, (ConfigurationError, UsageError, UnsupportedError)):
        return "configuration"
    return "instrument"


class Input:
    """Lines of standard input, and the wish to be woken while waiting for one."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader
        self._woken = asyncio.Event()

    @classmethod
    async def standard(cls) -> "Input":
        """Read this process's own, which must be an agent's: of what is no pipe the end would never be told."""
        kind = os.fstat(sys.stdin.fileno()).st_mode
        if not (stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind)):
            raise MachineError("a worker's standard input is no pipe: what it runs inside of must leave it alone")
        reader = asyncio.StreamReader()
        loop = asyncio.get_running_loop()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        return cls(reader)

    def wake(self) -> None:
        """Have whoever waits for a line get none."""
        self._woken.set()

    async def next(self, worker: Worker) -> bytes:
        """Wait for a line; empty at the end or when woken. Meanwhile nothing stands for long."""
        reading = asyncio.ensure_future(self._reader.readline())
        waking = asyncio.ensure_future(self._woken.wait())
        try:
            done, _ = await asyncio.wait({reading, waking}, timeout=IDLE_S, return_when=asyncio.FIRST_COMPLETED)
            if not done:
                await worker.rest()
                await asyncio.wait({reading, waking}, return_when=asyncio.FIRST_COMPLETED)
            return reading.result() if reading.done() and not waking.done() else b""
        finally:
            for one in (reading, waking):
                one.cancel()


async def serve(make_testbed: MakeTestbed) -> None:
    """Carry out what standard input asks for, until it ends or a signal comes."""
    console, stop = Console(stderr=True), StopRequest()
    lines = await Input.standard()

    def say(message: str) -> None:
        console.print(message, highlight=False, markup=False, soft_wrap=True)
        lines.wake()

    worker = Worker(console, make_testbed, stop)
    with stop.on_signals(say, several=False):
        try:
            while not stop.requested and (line := await lines.next(worker)):
                answer = await worker.answer(line)
                sys.stdout.write(msgspec.json.encode(answer).decode() + "\n")
                sys.stdout.flush()
        except (asyncio.CancelledError, BrokenPipeError):
            # Asked twice to stop, or nobody hears the answers any more: either way nothing is left to do.
            pass
        finally:
            await worker.rest()


def main(make_testbed: MakeTestbed = testbed_of) -> None:
    """Be a worker; tests give another place for trials."""
    with contextlib.suppress(KeyboardInterrupt):
        try:
            asyncio.run(serve(make_testbed))
        except MachineError as error:
            sys.exit(str(error))


if __name__ == "__main__":
    main()
