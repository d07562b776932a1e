"""A run's results from the server, as one dataset.

For: taking every block that is there, checking it, and joining them (`assemble`). Not for: a block's own (`bundle`).
"""

import asyncio
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from nats.aio.client import Client

from resolab.errors import ConfigurationError
from resolab.fleet.assemble import assemble
from resolab.fleet.job import Job, Run, RunState
from resolab.fleet.operations import Operations
from resolab.fleet.results import Results
from resolab.store import Manifest
from resolab.store.files import machine_errors
from resolab.wording import shown

AT_ONCE = 8
"""Blocks on their way at a time: each waits for one chunk after the other."""
Bundles = dict[str, dict[int, Path]]
"""By vantage point and block."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """What became of a run's blocks."""

    manifest: Manifest
    blocks_count: dict[str, int]
    """Taken from the server, by vantage point; those beyond the least are left out of the dataset."""
    refused: list[str]
    """Results that were none, a line each."""


async def fetch(client: Client, run: Run, out: Path) -> Fetched:
    """Make a dataset of what is there of a run."""
    return await Fetch(client, run).into(out)


class Fetch:
    """One fetch of a run, and what is to be said of it even where no dataset comes of it."""

    def __init__(self, client: Client, run: Run, taken: Callable[[], None] = lambda: None) -> None:
        """`taken` hears of each block that was looked for."""
        self._client, self._run, self._taken = client, run, taken
        self._refused: dict[tuple[str, int], str] = {}
        self.asked_again: list[Job] = []
        """Jobs that were put back into their queues: their results were none, or nobody had them any more."""

    @property
    def refused(self) -> list[str]:
        """Results that were none, a line each, in the order of the run's vantage points."""
        places = {vantage: position for position, vantage in enumerate(self._run.vantages)}
        refused = sorted(self._refused.items(), key=lambda one: (places[one[0][0]], one[0][1]))
        return [f"{vantage}, block {block}: {why}" for (vantage, block), why in refused]

    async def into(self, out: Path, vantages: Sequence[str] | None = None) -> Fetched:
        """Make a dataset of what is there, of all vantage points or some; a result that is none is left out.

        Blocks that were left out are asked for again, as long as the run is open.
        """
        _check_free(out)
        wanted = _wanted(self._run, vantages)
        try:
            found, manifest = await self._dataset(out, wanted)
        except ConfigurationError:
            await self._ask_again()
            raise
        await self._ask_again()
        there = {vantage: [one for one in found[vantage] if (vantage, one) not in self._refused] for vantage in wanted}
        return Fetched(manifest, {vantage: len(blocks) for vantage, blocks in there.items()}, self.refused)

    async def _dataset(self, out: Path, vantages: Sequence[str]) -> tuple[Bundles, Manifest]:
        with tempfile.TemporaryDirectory(prefix=f".{out.name}-", dir=out.parent) as place:
            found = await self._bundles(vantages, Path(place))
            if not any(found.values()) and not self._refused:
                hint = "see `resolab fleet status`"
                raise ConfigurationError(f"could not fetch run {self._run.id}: no block of it is there yet; {hint}")
            return found, await asyncio.to_thread(assemble, self._run, found, out, left_out=self._refuse)

    async def _bundles(self, vantages: Sequence[str], place: Path) -> Bundles:
        found: Bundles = {vantage: {} for vantage in vantages}
        free = asyncio.Semaphore(AT_ONCE)

        async def take(vantage: str, block: int) -> None:
            job, file = Job(run=self._run.id, vantage=vantage, block=block), place / f"{vantage}-{block}.tar.gz"
            async with free:
                try:
                    if await Results(self._client, vantage).download(job, file):
                        found[vantage][block] = file
                except ConfigurationError as error:
                    file.unlink(missing_ok=True)
                    self._refuse(vantage, block, str(error))
            self._taken()

        blocks = range(self._run.blocks)
        tasks = [asyncio.ensure_future(take(vantage, block)) for block in blocks for vantage in vantages]
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        return found

    def _refuse(self, vantage: str, block: int, why: str) -> None:
        self._refused[vantage, block] = shown(why)

    async def _ask_again(self) -> None:
        if self._run.state is not RunState.OPEN:
            return
        operations = Operations(self._client)
        refused = [Job(run=self._run.id, vantage=vantage, block=block) for vantage, block in self._refused]
        lost = [job for job in await operations.lost(self._run) if job not in refused]
        await operations.ask_again([*refused, *lost])
        self.asked_again = [*refused, *lost]


def _wanted(run: Run, vantages: Sequence[str] | None) -> list[str]:
    """Take the vantage points that are wanted, in the run's order."""
    other = next((one for one in vantages or () if one not in run.vantages), None)
    if other is not None:
        raise ConfigurationError(f"could not fetch {other}: run {run.id} is of {', '.join(run.vantages)}")
    return [one for one in run.vantages if not vantages or one in vantages]


def _check_free(out: Path) -> None:
    if out.exists():
        raise ConfigurationError(f"could not fetch into {out}: it is there; give another --out")
    with machine_errors(f"make {out.parent}"):
        out.parent.mkdir(parents=True, exist_ok=True)
