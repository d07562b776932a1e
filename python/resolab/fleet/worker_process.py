"""The process that runs an agent's blocks: started when the first comes, kept for the next, ended with the agent.

For: one question and one answer at a time, and an end in any case. Not for: what it does (`worker`).

It is a process of its own so that a block that hangs or dies takes neither the lease nor the upload of others with it.
"""

import asyncio
import contextlib
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from resolab.fleet.job import Job

COMMAND = (sys.executable, "-m", "resolab.fleet.worker")
END_TIMEOUT_S = 90.0
"""The trial in flight ends first: a warm-up and a load, each up to the plan's limit of usually half a minute."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a block was not carried out."""

    kind: str
    """storage, instrument, configuration, interrupted, or died."""
    why: str
    """One line."""


class WorkerProcess:
    """A worker, alive or not."""

    def __init__(self, spool: Path, log: Path, command: Sequence[str] = COMMAND) -> None:
        self._spool, self._log, self._command = spool, log, command
        self._process: Process | None = None

    async def run(self, job: Job, run_file: Path) -> Problem | None:
        """Carry a block out; None when all its trials are on the disk."""
        process = await self._alive()
        assert process.stdin is not None
        assert process.stdout is not None
        asked = {"run": str(run_file), "spool": str(self._spool), "vantage": job.vantage, "block": job.block}
        try:
            process.stdin.write(msgspec.json.encode(asked) + b"\n")
            await process.stdin.drain()
            line = await process.stdout.readline()
        except (ConnectionError, OSError):
            line = b""
        if not line.strip():
            code = await self._reap()
            return Problem("died", f"the process of block {job.block} ended with code {code}; {self._log} says why")
        return self._problem_in(line, job)

    def _problem_in(self, line: bytes, job: Job) -> Problem | None:
        try:
            answer: dict[str, Any] = msgspec.json.decode(line, type=dict[str, Any])
        except msgspec.MsgspecError:
            return Problem("died", f"the process of block {job.block} did not say how it went")
        if answer.get("done") == job.block:
            return None
        return Problem(str(answer.get("kind", "instrument")), str(answer.get("problem", "it did not say why")))

    async def _alive(self) -> Process:
        if self._process is None or self._process.returncode is not None:
            with self._log.open("ab") as log:
                self._process = await asyncio.create_subprocess_exec(
                    *self._command, stdin=PIPE, stdout=PIPE, stderr=log, start_new_session=True
                )
        return self._process

    async def _reap(self) -> int | None:
        process, self._process = self._process, None
        if process is None:
            return None
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), END_TIMEOUT_S)
        if process.returncode is None:
            process.kill()
            await process.wait()
        return process.returncode

    async def end(self) -> None:
        """Let it end as a stopped campaign does; after a while, end it."""
        process = self._process
        if process is None or process.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        if process.stdin is not None:
            process.stdin.close()
        await self._reap()
