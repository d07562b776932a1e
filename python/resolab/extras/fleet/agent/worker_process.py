"""The process for an agent's blocks: started for the first block, kept for the next, ended with the agent.

For: a single question and answer at a time, and an end in any case. Not for: the process's work (`worker`).

The work is in a separate process, so a hanging or dying block ends neither the lease nor the upload of others. `inside`
is a command of this machine's operator, put before the worker's own, to run blocks in another place. The command must
leave standard input and output alone, pass SIGTERM on, and end with the worker.
"""

import asyncio
import contextlib
import os
import signal
import sys
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from resolab.basics.errors import MachineError
from resolab.extras.fleet.job import Job

COMMAND = (sys.executable, "-m", "resolab.extras.fleet.agent.worker")
END_TIMEOUT_S = 90.0
"""The time limit for the end of a worker, in s. The trial in flight ends first: a warm-up and a load, each up to the
plan's limit of usually half a minute."""
ABANDON_AFTER_S = 1.0
LOOK_EVERY_S = 10.0


@dataclass(frozen=True, slots=True)
class BlockTimeLimit:
    """The time limit of a block: no limit as long as trials end."""

    trials_count: Callable[[], int]
    """A function for the number of finished trials."""
    stalled_s: float
    """The time limit for a further trial, in s."""


@dataclass(frozen=True, slots=True)
class WorkerProblem:
    """The reason for a failed block."""

    kind: str
    """The kind: storage, instrument, configuration, interrupted, died, or stalled."""
    why: str
    """The reason, in a line."""


class WorkerProcess:
    """A worker process, running or not."""

    def __init__(
        self,
        spool: Path,
        log: Path,
        command: Sequence[str] = COMMAND,
        *,
        inside: Sequence[str] = (),
        turn: int | None = None,
    ) -> None:
        """Prepare a worker; `turn` is a descriptor kept open by the worker. With `turn` no testbed outlives a block."""
        # Whatever it runs inside of may begin in another folder.
        self._spool, self._log, self._command = spool.resolve(), log, (*inside, *command)
        self._turn = turn
        self._process: Process | None = None

    async def run(self, job: Job, run_file: Path, patience: BlockTimeLimit) -> WorkerProblem | None:
        """Run a block; return `None` when all its trials are on the disk."""
        process = await self._alive()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(self._question(job, run_file))
            await process.stdin.drain()
            line = await _answer(process.stdout, patience)
        except (ConnectionError, OSError, ValueError):
            # Without an end of the line, or with one that comes too late.
            line = b""
        if line is None:
            await self._abandon()
            hours = f"{patience.stalled_s / 3600:g} h"
            return WorkerProblem(
                "stalled", f"no trial of block {job.block} ended within {hours}; its process was ended"
            )
        if not line.strip():
            code = await self._reap()
            return WorkerProblem(
                "died", f"the process of block {job.block} ended with code {code}; {self._log} says why"
            )
        return self._problem_in(line, job)

    def _question(self, job: Job, run_file: Path) -> bytes:
        asked = {
            "run": str(run_file.resolve()),
            "spool": str(self._spool),
            "vantage": job.vantage,
            "block": job.block,
            "rest": self._turn is not None,
        }
        return msgspec.json.encode(asked) + b"\n"

    def _problem_in(self, line: bytes, job: Job) -> WorkerProblem | None:
        try:
            answer: dict[str, Any] = msgspec.json.decode(line, type=dict[str, Any])
        except msgspec.MsgspecError:
            return WorkerProblem("died", f"the process of block {job.block} did not say how it went")
        if answer.get("done") == job.block:
            return None
        return WorkerProblem(str(answer.get("kind", "instrument")), str(answer.get("problem", "it did not say why")))

    async def _alive(self) -> Process:
        if self._process is not None and self._process.returncode is not None:
            await self._reap()
        if self._process is None:
            inherited = () if self._turn is None else (self._turn,)
            try:
                with self._log.open("ab") as log:
                    self._process = await asyncio.create_subprocess_exec(
                        *self._command, stdin=PIPE, stdout=PIPE, stderr=log, start_new_session=True, pass_fds=inherited
                    )
            except OSError as error:
                raise MachineError(f"could not start {self._command[0]}: {error.strerror or error}") from error
        return self._process

    async def _reap(self) -> int | None:
        process, self._process = self._process, None
        if process is None:
            return None
        if process.stdin is not None:
            # A worker whose prefix died before it ends by this.
            process.stdin.close()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), END_TIMEOUT_S)
        if process.returncode is None:
            # With all of its session: what it runs inside of need not end when its first process does.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
        return process.returncode

    async def _abandon(self) -> None:
        """Make the worker abandon its trial, by a second signal."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                self._process.terminate()
            await asyncio.sleep(ABANDON_AFTER_S)
        await self.end()

    async def end(self) -> None:
        """End the worker like a stopped campaign; after a timeout, kill the process."""
        process = self._process
        if process is None or process.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        await self._reap()


async def _answer(output: asyncio.StreamReader, patience: BlockTimeLimit) -> bytes | None:
    """Wait for a line; return `None` when no further trial has ended within the limit."""
    reading = asyncio.ensure_future(output.readline())
    try:
        count, since_s = patience.trials_count(), time.monotonic()
        while True:
            await asyncio.wait([reading], timeout=min(LOOK_EVERY_S, patience.stalled_s))
            if reading.done():
                return reading.result()
            now_there = await asyncio.to_thread(patience.trials_count)
            if now_there != count:
                count, since_s = now_there, time.monotonic()
            elif time.monotonic() - since_s >= patience.stalled_s:
                return None
    finally:
        reading.cancel()
