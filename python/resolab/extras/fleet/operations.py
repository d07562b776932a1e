"""The operator's actions on a fleet: begin a run, check its progress, stop the run.

For: the server's side of a run's life, over an operator's connection. Not for: fetching its dataset (`fetch`),
membership (`invitation`), output for people (`cli`).
"""

import asyncio
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import msgspec
from nats.aio.client import Client

from resolab.basics.errors import ConfigurationError
from resolab.basics.wording import clip_text
from resolab.extras.fleet.job import AgentState, FleetRun, Job, RunState, decode, encode
from resolab.extras.fleet.results.result_store import ResultStore, StoreUse, decode_content, read_message
from resolab.extras.fleet.transfer import AGENTS, JOBS, RUNS, TIMEOUT_S, UnreachableError, call_server

PUBLISHED_AT_ONCE = 500
JOB_ID = "Nats-Msg-Id"
"""The header used by JetStream to drop duplicates."""


@dataclass(frozen=True, slots=True)
class UnreadableState:
    """A replacement for an agent's unreadable state."""

    why: str
    """The reason, in a line."""


@dataclass(frozen=True, slots=True)
class VantageProgress:
    """The progress of a run at a vantage point."""

    vantage: str
    blocks_done_count: int
    blocks_count: int
    said: AgentState | UnreadableState | None
    """The agent's last report; `None`: no report yet."""
    use: StoreUse
    """The storage used by its results at the server."""


@dataclass(frozen=True, slots=True)
class RunProgress:
    """The progress of a run over all vantage points."""

    run: FleetRun
    places: list[VantageProgress]

    @property
    def blocks_done_count(self) -> int:
        """Return the number of finished blocks over all vantage points."""
        return sum(one.blocks_done_count for one in self.places)

    @property
    def blocks_count(self) -> int:
        """Return the number of ordered blocks."""
        return sum(one.blocks_count for one in self.places)

    def estimate_left_s(self, now_unix_ns: int) -> float | None:
        """Return the estimated seconds until the slowest vantage point is done; `None` if unknown.

        The estimate is from each vantage point's pace so far.
        """
        passed_s = (now_unix_ns - self.run.created_unix_ns) / 1e9
        if any(not one.blocks_done_count for one in self.places):
            return None
        return max(passed_s / one.blocks_done_count * (one.blocks_count - one.blocks_done_count) for one in self.places)


class FleetOperator:
    """The operator's requests to the server."""

    def __init__(self, client: Client) -> None:
        self._client, self._js = client, client.jetstream(timeout=TIMEOUT_S)

    async def begin(self, run: FleetRun, published: Callable[[int], None] = lambda _count: None) -> None:
        """Put a run and its jobs into their queues; a repetition changes nothing and queues no job twice.

        A run not queued completely is stopped: a part of a run would be useless.
        """
        try:
            async with call_server(f"begin run {run.id}"):
                await (await self._js.key_value(RUNS)).put(run.id, encode(run))
                jobs = run.jobs()
                for begin in range(0, len(jobs), PUBLISHED_AT_ONCE):
                    some = jobs[begin : begin + PUBLISHED_AT_ONCE]
                    await asyncio.gather(*map(self._publish, some))
                    published(begin + len(some))
        except UnreachableError as error:
            try:
                await self.end(run, RunState.STOPPED)
            except UnreachableError:
                hint = f"part of it may be queued: `resolab fleet stop {run.id}`, then begin it anew"
                raise UnreachableError(f"{error}; {hint}") from error
            raise

    async def _publish(self, job: Job) -> None:
        await self._js.publish(job.subject, encode(job), headers={JOB_ID: job.id})

    async def ask_again(self, jobs: Iterable[Job]) -> None:
        """Put jobs back into their queues; their rejected results are removed."""
        for job in jobs:
            await ResultStore(self._client, job.vantage).remove(job)
            async with call_server(f"queue {job.id} again"):
                # Under its old number the server would take it for a duplicate.
                again = {JOB_ID: f"{job.id}.{time.time_ns()}"}
                await self._js.publish(job.subject, encode(job), headers=again)

    async def list_lost_jobs(self, run: FleetRun) -> list[Job]:
        """List an open run's jobs without a result, at vantage points with fewer jobs in the queue.

        The queue does not say which jobs are lost; a job queued twice is done once.
        """
        if run.state is not RunState.OPEN:
            return []
        # First the queue: a job that is done meanwhile has its result when these are looked at.
        queued = await self._count_queued(run)
        lost: list[Job] = []
        for vantage in run.vantages:
            jobs = [Job(run=run.id, vantage=vantage, block=block) for block in range(run.blocks)]
            there = (await ResultStore(self._client, vantage).use([job.result for job in jobs])).names
            missing = [job for job in jobs if job.result not in there]
            if queued.get(f"jobs.{run.id}.{vantage}", 0) < len(missing):
                lost += missing
        return lost

    async def runs(self) -> list[FleetRun]:
        """List every run of the fleet, the latest first."""
        values = await self._values(RUNS)
        runs = [decode(value, FleetRun, what="a run") for value in values.values()]
        return sorted(runs, key=lambda one: one.created_unix_ns, reverse=True)

    async def run(self, name: str | None) -> FleetRun:
        """Find a run by its name or, without a name, the latest."""
        runs = await self.runs()
        found = next((one for one in runs if name in {None, one.id}), None)
        if found is None:
            there = f"there are {', '.join(one.id for one in runs)}" if runs else "there is none"
            raise ConfigurationError(f"could not find {'a run' if name is None else f'run {name}'}: {there}")
        return found

    async def states(self) -> dict[str, AgentState | UnreadableState]:
        """Return every agent's last report, by the vantage point known to the server."""
        return {vantage: _state(vantage, value) for vantage, value in (await self._values(AGENTS)).items()}

    async def progress(self, run: FleetRun) -> RunProgress:
        """Return a run's progress, from the results on the server."""
        states = await self.states()
        return RunProgress(run, [await self._place(run, vantage, states.get(vantage)) for vantage in run.vantages])

    async def _place(self, run: FleetRun, vantage: str, said: AgentState | UnreadableState | None) -> VantageProgress:
        ours = {Job(run=run.id, vantage=vantage, block=block).result for block in range(run.blocks)}
        use = await ResultStore(self._client, vantage).use(ours)
        return VantageProgress(vantage, len(ours & use.names), run.blocks, said, use)

    async def count_queued_jobs(self, run: FleetRun) -> int:
        """Count a run's jobs waiting or taken by an agent."""
        return sum((await self._count_queued(run)).values())

    async def _count_queued(self, run: FleetRun) -> dict[str, int]:
        """Count the jobs by their subjects."""
        async with call_server("count jobs"):
            info = await self._js.stream_info(JOBS, subjects_filter=f"jobs.{run.id}.*")
        return dict(info.state.subjects or {})

    async def end(self, run: FleetRun, state: RunState) -> None:
        """Remove a run's remaining jobs from the queues; running blocks finish, and their results are kept."""
        async with call_server(f"stop run {run.id}"):
            ended = encode(msgspec.structs.replace(run, state=state))
            await (await self._js.key_value(RUNS)).put(run.id, ended)
            await self._js.purge_stream(JOBS, subject=f"jobs.{run.id}.>")

    async def _values(self, name: str) -> dict[str, bytes]:
        """Read all values of a bucket, by their keys; values deleted meanwhile are left out.

        The keys come from the server's own count of subjects. The client's `keys()` is not reliable: after asking for
        the remaining keys, arrived but unread keys make the bucket look empty.
        """
        stream, before = f"KV_{name}", f"$KV.{name}."
        async with call_server(f"read the {name}"):
            info = await self._js.stream_info(stream, subjects_filter=f"{before}>")
        values = {}
        for subject in info.state.subjects or {}:
            message = await read_message(self._client, stream, {"last_by_subj": subject})
            if message is not None and message.data:
                values[subject.removeprefix(before)] = decode_content(message)
        return values


def _state(vantage: str, value: bytes) -> AgentState | UnreadableState:
    """Decode an agent's report; an agent may report only for itself."""
    try:
        state = decode(value, AgentState, what="its state")
    except ConfigurationError as error:
        return UnreadableState(clip_text(str(error.__cause__ or error)))
    return state if state.vantage == vantage else UnreadableState(f"it calls itself {clip_text(state.vantage)}")


def new_run_id(plan_name: str, taken: Iterable[str], now: float) -> str:
    """Make a run's name from its plan's name and its start time."""
    stem = "".join(one if one.isalnum() and one.isascii() else "-" for one in plan_name.lower()).strip("-") or "plan"
    name = f"{stem[:50]}-{time.strftime('%Y%m%d-%H%M%S', time.localtime(now))}"
    taken = set(taken)
    return next(one for one in (name, *(f"{name}-{number}" for number in range(2, 1000))) if one not in taken)


def check_vantages(asked_for: Sequence[str] | None, invited: Sequence[str]) -> list[str]:
    """Return the vantage points of a run: the named vantage points, or all invited."""
    if not invited:
        raise ConfigurationError(
            "could not begin a run: nobody is invited; `resolab fleet invite NAME` makes an invitation"
        )
    wrong = next((one for one in asked_for or () if one not in invited), None)
    if wrong is not None:
        raise ConfigurationError(f"could not begin a run: {wrong} is not invited; invited are {', '.join(invited)}")
    return list(dict.fromkeys(asked_for)) if asked_for else list(invited)
