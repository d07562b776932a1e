"""The process running blocks: a request line on its standard input, a result line on its output.

For: `python -m resolab.extras.fleet.agent.worker`, started by an agent.
Not for: the choice of the next block (`agent`), the process from the agent's side (`worker_process`).

    in   {"run": "SPOOL/RUN/run.json", "spool": "SPOOL", "vantage": "fra", "block": 3, "rest": false}
    out  {"done": 3, "trials": 24}
    out  {"failed": 3, "problem": "one line", "kind": "storage" | "instrument" | "configuration" | "interrupted"}

The testbed is kept from block to block of a run; with `rest` the testbed ends with the block. The process ends at the
end of its input. SIGTERM or SIGINT stop the process like a campaign: the trial in flight ends, a second signal abandons
the trial. Messages of campaigns go to standard error.
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

from resolab.basics.errors import (
    ConfigurationError,
    MachineError,
    ResolabError,
    StorageError,
    UnsupportedError,
    UsageError,
)
from resolab.basics.wording import clean
from resolab.campaign.blocks.one_block import carry_out_block
from resolab.campaign.blocks.testbed_pool import TestbedPool
from resolab.campaign.loop import MakeTestbed
from resolab.campaign.run import make_trial_runner
from resolab.campaign.stop_request import StopRequest
from resolab.extras.fleet.agent.run_check import find_provenance_difference
from resolab.extras.fleet.agent.spool import Spool
from resolab.extras.fleet.job import FleetRun, decode
from resolab.extras.fleet.vantage_run import read_vantage_plan
from resolab.store import machine_errors
from resolab.store.manifest import ProcessStart

IDLE_S = 60.0
"""The time without a block before all testbeds end, in s: browsers wake up beside other measurements."""
STOPPED = "it was stopped before its end; the trials that ended are kept"


class WorkerRequest(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """A line of the input."""

    run: str
    """The path of the run's file."""
    spool: str
    vantage: str
    block: int
    rest: bool = False
    """True when no testbed may be kept after the block, as other agents measure then."""


class Worker:
    """A worker running blocks one after another."""

    def __init__(self, console: Console, make_testbed: MakeTestbed, stop: StopRequest) -> None:
        self._console, self._stop = console, stop
        self._testbeds = TestbedPool(make_testbed)
        self._run: str | None = None

    async def answer(self, line: bytes) -> dict[str, Any]:
        """Run the block requested by a line; return the result."""
        try:
            asked = msgspec.json.decode(line, type=WorkerRequest)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            return {"failed": None, "problem": f"could not read what is asked: {error}", "kind": "configuration"}
        try:
            return await self._carry_out(asked)
        except (ResolabError, OSError) as error:
            return self._build_failure(asked.block, error)
        except Exception as error:  # noqa: BLE001 - whatever it is, the agent needs a word, and its log the whole
            for told in traceback.format_exc().splitlines():
                self._console.print(clean(told), highlight=False, markup=False, soft_wrap=True)
            return self._build_failure(asked.block, error)

    async def rest(self) -> None:
        """End the kept testbeds."""
        self._run = None
        await self._testbeds.close()

    async def _carry_out(self, asked: WorkerRequest) -> dict[str, Any]:
        run = _run_in(Path(asked.run))
        plan = read_vantage_plan(run, asked.vantage)
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
                check_ground=functools.partial(_check_provenance, run),
            )
        finally:
            if asked.rest or plan.instrument.netlog:
                # A browser's log is whole when its browser has ended, and goes with the block it is of.
                await self.rest()
        if outcome.interrupted:
            return {"failed": asked.block, "problem": STOPPED, "kind": "interrupted"}
        return {"done": asked.block, "trials": outcome.trials_count}

    def _build_failure(self, block: int, error: Exception) -> dict[str, Any]:
        text = " ".join(str(error).split()) or type(error).__name__
        if self._stop.requested:
            return {"failed": block, "problem": STOPPED, "kind": "interrupted"}
        return {"failed": block, "problem": text, "kind": _kind(error)}


def _check_provenance(run: FleetRun, now: ProcessStart) -> None:
    """Raise when the machine has changed since its agent accepted the run."""
    difference = find_provenance_difference(run, now)
    if difference is not None:
        raise ConfigurationError(f"{difference}; make it the same, or leave the run to others")


def _run_in(file: Path) -> FleetRun:
    with machine_errors(f"read {file}"):
        return decode(file.read_bytes(), FleetRun, what=str(file))


def _kind(error: Exception) -> str:
    if isinstance(error, (StorageError, OSError)):
        return "storage"
    if isinstance(error, (ConfigurationError, UsageError, UnsupportedError)):
        return "configuration"
    return "instrument"


class WorkerInput:
    """The lines of standard input, with a way to wake the waiting reader."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader
        self._woken = asyncio.Event()

    @classmethod
    async def standard(cls) -> "WorkerInput":
        """Open this process's standard input, which must be a pipe from an agent: other inputs never report an end."""
        kind = os.fstat(sys.stdin.fileno()).st_mode
        if not (stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind)):
            raise MachineError("a worker's standard input is no pipe: what it runs inside of must leave it alone")
        reader = asyncio.StreamReader()
        loop = asyncio.get_running_loop()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        return cls(reader)

    def wake(self) -> None:
        """Make the waiting reader return without a line."""
        self._woken.set()

    async def next(self, worker: Worker) -> bytes:
        """Wait for a line; return empty bytes at the end or when woken. After an idle time, kept testbeds end."""
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
    """Run the blocks requested on standard input, until its end or a signal."""
    console, stop = Console(stderr=True), StopRequest()
    lines = await WorkerInput.standard()

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


def main(make_testbed: MakeTestbed = make_trial_runner) -> None:
    """Run the worker; tests give another maker of testbeds."""
    with contextlib.suppress(KeyboardInterrupt):
        try:
            asyncio.run(serve(make_testbed))
        except MachineError as error:
            sys.exit(str(error))


if __name__ == "__main__":
    main()
