"""What the one who runs a fleet does with it: begin a run, look how far it is, stop it.

For: the server's side of a run's life, over an operator's connection. Not for: fetching its dataset (`fetch`), who may
join (`invitation`), what a person reads of it (cli).
"""

import asyncio
import base64
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import msgspec
from nats.aio.client import Client

from resolab.errors import ConfigurationError
from resolab.fleet.job import AgentState, Job, Run, RunState, decode, encode
from resolab.fleet.transfer import AGENTS, JOBS, RUNS, TIMEOUT_S, asked, results_of

PUBLISHED_AT_ONCE = 500
JOB_ID = "Nats-Msg-Id"
"""Header by which JetStream drops what it has already."""


@dataclass(frozen=True, slots=True)
class PlaceProgress:
    """How far a run has come at one vantage point."""

    vantage: str
    blocks_done_count: int
    blocks_count: int
    state: AgentState | None
    """What its agent last said; None: nothing yet."""


@dataclass(frozen=True, slots=True)
class RunProgress:
    """How far a run has come."""

    run: Run
    places: list[PlaceProgress]

    @property
    def blocks_done_count(self) -> int:
        """Count them over all vantage points."""
        return sum(one.blocks_done_count for one in self.places)

    @property
    def blocks_count(self) -> int:
        """Count what was asked for."""
        return sum(one.blocks_count for one in self.places)

    def left_s(self, now_unix_ns: int) -> float | None:
        """Guess the seconds until the slowest vantage point is done, from what each has taken; None: nobody knows."""
        passed_s = (now_unix_ns - self.run.created_unix_ns) / 1e9
        if any(not one.blocks_done_count for one in self.places):
            return None
        return max(passed_s / one.blocks_done_count * (one.blocks_count - one.blocks_done_count) for one in self.places)


class Operations:
    """An operator's dealings with the server."""

    def __init__(self, client: Client) -> None:
        self._js = client.jetstream(timeout=TIMEOUT_S)

    async def begin(self, run: Run, published: Callable[[int], None] = lambda _count: None) -> None:
        """Put a run and its jobs into their queues; said twice, it is the same run, and no job is there twice."""
        async with asked(f"begin run {run.id}"):
            await (await self._js.key_value(RUNS)).put(run.id, encode(run))
            jobs = run.jobs()
            for begin in range(0, len(jobs), PUBLISHED_AT_ONCE):
                some = jobs[begin : begin + PUBLISHED_AT_ONCE]
                await asyncio.gather(*map(self._publish, some))
                published(begin + len(some))

    async def _publish(self, job: Job) -> None:
        await self._js.publish(job.subject, encode(job), headers={JOB_ID: job.id})

    async def runs(self) -> list[Run]:
        """List every run of the fleet, the latest first."""
        async with asked("list runs"):
            values = await self._values(RUNS)
        runs = [decode(one, Run, what="a run") for one in values]
        return sorted(runs, key=lambda one: one.created_unix_ns, reverse=True)

    async def run(self, name: str | None) -> Run:
        """Find a run by its name or, without one, the latest."""
        runs = await self.runs()
        found = next((one for one in runs if name in {None, one.id}), None)
        if found is None:
            there = f"there are {', '.join(one.id for one in runs)}" if runs else "there is none"
            raise ConfigurationError(f"could not find {'a run' if name is None else f'run {name}'}: {there}")
        return found

    async def states(self) -> dict[str, AgentState]:
        """Ask what every agent last said, by vantage point."""
        async with asked("read what agents say"):
            values = await self._values(AGENTS)
        states = [decode(one, AgentState, what="an agent's state") for one in values]
        return {one.vantage: one for one in states}

    async def progress(self, run: Run) -> RunProgress:
        """Look how far a run is, by the results that the server has."""
        states = await self.states()
        places = [
            PlaceProgress(
                vantage=one,
                blocks_done_count=await self._results_count(run, one),
                blocks_count=run.blocks,
                state=states.get(one),
            )
            for one in run.vantages
        ]
        return RunProgress(run, places)

    async def queued_count(self, run: Run) -> int:
        """Count a run's jobs that are waiting or in somebody's hands."""
        async with asked("count jobs"):
            info = await self._js.stream_info(JOBS, subjects_filter=f"jobs.{run.id}.*")
        return sum((info.state.subjects or {}).values())

    async def _results_count(self, run: Run, vantage: str) -> int:
        store = results_of(vantage)
        ours = {Job(run=run.id, vantage=vantage, block=block).result for block in range(run.blocks)}
        async with asked(f"count the results of {vantage}"):
            info = await self._js.stream_info(f"OBJ_{store}", subjects_filter=f"$O.{store}.M.>")
        return sum(_object_name(one) in ours for one in info.state.subjects or {})

    async def end(self, run: Run, state: RunState) -> None:
        """Take what is left of a run out of the queues; blocks that are running end, and their results are kept."""
        async with asked(f"stop run {run.id}"):
            ended = encode(msgspec.structs.replace(run, state=state))
            await (await self._js.key_value(RUNS)).put(run.id, ended)
            await self._js.purge_stream(JOBS, subject=f"jobs.{run.id}.>")

    async def _values(self, name: str) -> list[bytes]:
        """Read all of a bucket.

        Its keys come from the server's own count of subjects: the client's `keys()` takes a bucket for empty whose
        keys have arrived and were not read yet when it asks how many are still to come.
        """
        bucket, before = await self._js.key_value(name), f"$KV.{name}."
        info = await self._js.stream_info(f"KV_{name}", subjects_filter=f"{before}>")
        entries = [await bucket.get(subject.removeprefix(before)) for subject in info.state.subjects or {}]
        return [one.value for one in entries if one.value is not None]


def _object_name(subject: str) -> str:
    """Read an object's name from the subject of its description."""
    return base64.urlsafe_b64decode(subject.rpartition(".")[2]).decode(errors="replace")


def new_run_id(plan_name: str, taken: Iterable[str], now: float) -> str:
    """Name a run after its plan and the time it was begun."""
    stem = "".join(one if one.isalnum() and one.isascii() else "-" for one in plan_name.lower()).strip("-") or "plan"
    name = f"{stem[:50]}-{time.strftime('%Y%m%d-%H%M%S', time.localtime(now))}"
    taken = set(taken)
    return next(one for one in (name, *(f"{name}-{number}" for number in range(2, 1000))) if one not in taken)


def check_vantages(asked_for: Sequence[str] | None, invited: Sequence[str]) -> list[str]:
    """Take the vantage points a run is for: those named, or all that are invited."""
    if not invited:
        raise ConfigurationError(
            "could not begin a run: nobody is invited; `resolab fleet invite NAME` makes an invitation"
        )
    wrong = next((one for one in asked_for or () if one not in invited), None)
    if wrong is not None:
        raise ConfigurationError(f"could not begin a run: {wrong} is not invited; invited are {', '.join(invited)}")
    return list(dict.fromkeys(asked_for)) if asked_for else list(invited)
