"""An agent: takes the jobs of its vantage point one by one, runs the blocks, and sends the results.

For: the order of steps, so every block is done once in spite of any end or failure. Not for: running a block
(`worker`), the transferred data (`transfer`), the kept files (`spool`).

A job is acknowledged only after the server has its result. For a new job the agent first checks for an existing result
on the server (after a lost acknowledgement), then for a bundle in the spool. Only without both the agent runs the
block.
"""

import asyncio
import contextlib
import math
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from nats.aio.msg import Msg

from resolab.basics.errors import ResolabError
from resolab.basics.wording import clip_text
from resolab.extras.fleet.agent.block_turns import BlockTurns
from resolab.extras.fleet.agent.limits import AgentLimits, LimitRefusal, refusal
from resolab.extras.fleet.agent.run_check import find_provenance_difference, read_plan
from resolab.extras.fleet.agent.spool import Spool
from resolab.extras.fleet.agent.worker_process import BlockTimeLimit, WorkerProcess
from resolab.extras.fleet.job import AgentState, FleetRun, Job, RunState, decode
from resolab.extras.fleet.results import bundle
from resolab.extras.fleet.transfer import AgentClient, UnreachableError, done, hold_lease, not_now
from resolab.plan import Plan
from resolab.store.manifest import ProcessStart

WAIT_FOR_JOB_S = 20.0
TELL_EVERY_S = 30.0
RETRY_S = (1.0, 30.0)
"""The shortest and longest pause before the server is asked again, in s."""
REFUSED_FOR_S = 300.0
"""The time before a rejected job is offered again, in s: limits and versions change by hand."""
FAILED_FOR_S = 30.0
WAITING_FOR_TURN = "waits for its turn"
STALLED_S = {"lab": 2 * 3600.0, "live": 26 * 3600.0}
"""The time without a further trial before a block counts as stuck, in s. No cap delays a live load for longer than a
day."""
LONGEST_PROBLEM = 1000
"""The maximum length of a problem's text, in letters."""


@dataclass(frozen=True, slots=True)
class AgentSetup:
    """The agent's vantage point, limits and software."""

    vantage: str
    limits: AgentLimits
    find_provenance: Callable[[Plan], ProcessStart]
    """A function for the provenance of a plan's trials on this machine."""
    versions: Mapping[str, str]


class Agent:
    """An agent at a vantage point, until stopped."""

    def __init__(
        self,
        side: AgentClient,
        place: AgentSetup,
        spool: Spool,
        worker: WorkerProcess,
        say: Callable[[str], None],
        *,
        turns: BlockTurns | None = None,
    ) -> None:
        """Prepare an agent; with `turns`, all agents of the machine sharing `turns` run one block at a time."""
        self._side, self._place, self._spool, self._worker, self._say = side, place, spool, worker, say
        self._turns = turns
        self._grounds: dict[str, tuple[str | None, float]] = {}
        """The differences of this machine by run, with the time of the last check."""
        self._doing, self._done = "starting", 0
        self._job: Job | None = None
        self._problem: str | None = None
        self._pause_s = RETRY_S[0]
        self._task: asyncio.Task[None] | None = None
        self._stopping = False

    def stop(self) -> None:
        """Make `run` end soon, like a cancelled task.

        Cancelling alone is not enough: `asyncio.wait_for`, used by the client, loses a cancellation arriving together
        with the answer (until Python 3.12).
        """
        self._stopping = True
        if self._task is not None:
            self._task.cancel()

    async def run(self) -> None:
        """Take and run jobs until stopped."""
        self._task = asyncio.current_task()
        telling = asyncio.create_task(self._tell_now_and_then())
        try:
            while not self._stopping:
                try:
                    await self._turn()
                    self._pause_s = RETRY_S[0]
                except UnreachableError as error:
                    self._trouble(str(error))
                    await asyncio.sleep(self._pause_s * random.uniform(0.5, 1.0))
                    self._pause_s = min(2 * self._pause_s, RETRY_S[1])
        finally:
            telling.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await telling
            await self._worker.end()
            if self._turns is not None:
                self._turns.close()

    async def _turn(self) -> None:
        """Send the bundles in the spool, then take one job."""
        await self._send_waiting()
        if self._doing != "refusing":
            await self._now("waiting", None)
        message = await self._side.next_job(WAIT_FOR_JOB_S)
        if message is not None:
            await self._take(message)
        else:
            await self._now("waiting", None)
            await self._tidy()

    async def _tidy(self) -> None:
        """Remove the files of ended runs."""
        for run in self._spool.runs():
            with contextlib.suppress(ResolabError):
                if (await self._side.fetch_run(run)).state is not RunState.OPEN:
                    self._spool.forget(run)

    async def _take(self, message: Msg) -> None:
        try:
            async with hold_lease(message):
                problem = await self._outcome(message)
        except asyncio.CancelledError:
            # Whoever goes on here need not wait for the end of our lease.
            with contextlib.suppress(UnreachableError):
                await not_now(message, 0.0)
            raise
        if isinstance(problem, LimitRefusal):
            await self._refuse(message, problem)
        elif problem is not None:
            self._trouble(problem)
            await not_now(message, FAILED_FOR_S)
        else:
            await done(message)

    async def _outcome(self, message: Msg) -> LimitRefusal | str | None:
        """Carry out a fitting job; return the reason for a rejection or a failure."""
        try:
            job = decode(message.data, Job, what="a job")
            if job.vantage != self._place.vantage:
                return LimitRefusal(f"job {job.id} is for another vantage point than {self._place.vantage}")
            run = await self._side.fetch_run(job.run)
        except ResolabError as error:
            return LimitRefusal(str(error))
        if run.state is not RunState.OPEN:
            self._spool.forget(run.id)
            return None
        # Pages are read and summed for it, which takes its time: leases are kept meanwhile.
        refused = await asyncio.to_thread(self._judge_run, run)
        if refused is not None:
            return refused
        failed = None if await self._side.has_result(job) else await self._make(job, run)
        return None if failed is None else f"block {job.block} of {run.id}: {failed}"

    async def _make(self, job: Job, run: FleetRun) -> str | None:
        """Run a block without a bundle, and send the bundle; return the reason for a failed run."""
        file = self._spool.bundle(job)
        if not file.exists():
            try:
                async with self._wait_for_turn(job):
                    failed = await self._run_block(job, run, file)
            except ResolabError as error:
                failed = str(error)
            if failed is not None:
                return failed
            self._done += 1
            self._problem = None
            self._say(f"block {job.block} of {run.id} is done")
        await self._now("sending", job)
        await self._send(job)
        return None

    def _wait_for_turn(self, job: Job) -> contextlib.AbstractAsyncContextManager[None]:
        """Wait until no other agent of this machine runs a block; the job's lease is held meanwhile."""
        if self._turns is None:
            return contextlib.nullcontext()
        return self._turns.mine(lambda: self._now(WAITING_FOR_TURN, job))

    async def _run_block(self, job: Job, run: FleetRun, file: Path) -> str | None:
        await self._now("running", job)
        if self._stopping:
            raise asyncio.CancelledError
        self._spool.check_space()
        patience = BlockTimeLimit(
            lambda: self._spool.trials_count(run.id), await asyncio.to_thread(_find_stall_limit_s, run)
        )
        problem = await self._worker.run(job, self._spool.keep(run), patience)
        if problem is not None:
            return problem.why
        await asyncio.to_thread(bundle.pack, self._spool.dataset(run.id), job.block, file)
        return None

    async def _send_waiting(self) -> None:
        """Send bundles left by an earlier agent process; their jobs come again and find the results."""
        for job in self._spool.list_unsent(self._place.vantage):
            if await self._side.has_result(job):
                self._spool.bundle(job).unlink(missing_ok=True)
            else:
                await self._now("sending", job)
                await self._send(job)

    async def _send(self, job: Job) -> None:
        file = self._spool.bundle(job)
        await self._side.put_result(job, file, await asyncio.to_thread(bundle.compute_sha256, file))
        file.unlink(missing_ok=True)

    def _judge_run(self, run: FleetRun) -> LimitRefusal | None:
        """Check a run, and reject unreadable runs too: the agent continues after any run."""
        try:
            return self._refusal(run)
        except ResolabError as error:
            return LimitRefusal(str(error))
        except Exception as error:  # noqa: BLE001 -- a plan may break its reader in ways nobody thought of.
            return LimitRefusal(f"the plan of run {run.id} cannot be read: {type(error).__name__}: {error}")

    def _refusal(self, run: FleetRun) -> LimitRefusal | None:
        plan = read_plan(run)
        refused = refusal(self._place.limits, plan, datetime.now().astimezone())
        if refused is not None:
            return refused
        other, looked_s = self._grounds.get(run.id, ("not looked at yet", -math.inf))
        # What was wrong may have been mended since; that of the same run's other jobs is the same for now.
        if other is not None and time.monotonic() - looked_s >= REFUSED_FOR_S:
            other = find_provenance_difference(run, self._place.find_provenance(plan))
            self._grounds[run.id] = other, time.monotonic()
        return None if other is None else LimitRefusal(other)

    async def _refuse(self, message: Msg, refused: LimitRefusal) -> None:
        is_new = self._trouble(f"refused: {refused.why}")
        await not_now(message, refused.again_in_s or REFUSED_FOR_S)
        # All jobs of a run are refused in a row: one word is enough, and other runs are behind them.
        if is_new:
            await self._now("refusing", None)

    def _trouble(self, problem: str) -> bool:
        """Report a problem once; return True when the problem is new."""
        problem = clip_text(problem, longest=LONGEST_PROBLEM)
        is_new = problem != self._problem
        if is_new:
            self._say(problem)
        self._problem = problem
        return is_new

    async def _now(self, doing: str, job: Job | None) -> None:
        self._doing, self._job = doing, job
        with contextlib.suppress(UnreachableError):
            await self._side.tell(self._state())

    async def _tell_now_and_then(self) -> None:
        while True:
            await asyncio.sleep(TELL_EVERY_S)
            with contextlib.suppress(UnreachableError):
                await self._side.tell(self._state())

    def _state(self) -> AgentState:
        return AgentState(
            vantage=self._place.vantage,
            unix_ns=time.time_ns(),
            versions=dict(self._place.versions),
            doing=self._doing,
            run=None if self._job is None else self._job.run,
            block=None if self._job is None else self._job.block,
            problem=self._problem,
            blocks_done_count=self._done,
        )


def _find_stall_limit_s(run: FleetRun) -> float:
    return STALLED_S["lab" if read_plan(run).live is None else "live"]
