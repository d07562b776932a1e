"""Fetch a run's results from the server into a single dataset.

For: downloading every existing block, checking and joining (`assemble`). Not for: a single block (`bundle`).
"""

import asyncio
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from nats.aio.client import Client

from resolab.basics.errors import ConfigurationError
from resolab.basics.wording import clip_text
from resolab.extras.fleet.job import FleetRun, Job, RunState
from resolab.extras.fleet.operations import FleetOperator
from resolab.extras.fleet.results.assemble import assemble
from resolab.extras.fleet.results.result_store import ResultStore
from resolab.store import Manifest
from resolab.store.files import machine_errors

AT_ONCE = 8
"""The number of parallel downloads: each waits for one chunk after another."""
Bundles = dict[str, dict[int, Path]]
"""The bundle files by vantage point and block."""


@dataclass(frozen=True, slots=True)
class FetchResult:
    """The result of fetching a run's blocks."""

    manifest: Manifest
    blocks_count: dict[str, int]
    """The number of downloaded blocks by vantage point; the dataset uses only the smallest number from each."""
    refused: list[str]
    """The rejected results, a line each."""


async def fetch(client: Client, run: FleetRun, out: Path) -> FetchResult:
    """Make a dataset of a run's existing results."""
    return await ResultFetcher(client, run).make_dataset(out)


class ResultFetcher:
    """A fetch of a run, with the messages even when no dataset is made."""

    def __init__(self, client: Client, run: FleetRun, taken: Callable[[], None] = lambda: None) -> None:
        """Prepare a fetch; `taken` is called for each block searched."""
        self._client, self._run, self._taken = client, run, taken
        self._refused: dict[tuple[str, int], str] = {}
        self.asked_again: list[Job] = []
        """The jobs put back into their queues, after a rejected result or a lost job."""

    @property
    def refused(self) -> list[str]:
        """Return the rejected results, a line each, in the order of the run's vantage points."""
        places = {vantage: position for position, vantage in enumerate(self._run.vantages)}
        refused = sorted(self._refused.items(), key=lambda one: (places[one[0][0]], one[0][1]))
        return [f"{vantage}, block {block}: {why}" for (vantage, block), why in refused]

    async def make_dataset(self, out: Path, vantages: Sequence[str] | None = None) -> FetchResult:
        """Make a dataset of the existing results, of all or some vantage points; rejected results are left out.

        The blocks left out are queued again, as long as the run is open.
        """
        _check_free(out)
        wanted = _choose_vantages(self._run, vantages)
        try:
            found, manifest = await self._dataset(out, wanted)
        except ConfigurationError:
            await self._ask_again()
            raise
        await self._ask_again()
        there = {vantage: [one for one in found[vantage] if (vantage, one) not in self._refused] for vantage in wanted}
        return FetchResult(manifest, {vantage: len(blocks) for vantage, blocks in there.items()}, self.refused)

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
                    if await ResultStore(self._client, vantage).download(job, file):
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
        self._refused[vantage, block] = clip_text(why)

    async def _ask_again(self) -> None:
        if self._run.state is not RunState.OPEN:
            return
        operations = FleetOperator(self._client)
        refused = [Job(run=self._run.id, vantage=vantage, block=block) for vantage, block in self._refused]
        lost = [job for job in await operations.list_lost_jobs(self._run) if job not in refused]
        await operations.ask_again([*refused, *lost])
        self.asked_again = [*refused, *lost]


def _choose_vantages(run: FleetRun, vantages: Sequence[str] | None) -> list[str]:
    """Return the chosen vantage points, in the run's order."""
    other = next((one for one in vantages or () if one not in run.vantages), None)
    if other is not None:
        raise ConfigurationError(f"could not fetch {other}: run {run.id} is of {', '.join(run.vantages)}")
    return [one for one in run.vantages if not vantages or one in vantages]


def _check_free(out: Path) -> None:
    if out.exists():
        raise ConfigurationError(f"could not fetch into {out}: it is there; give another --out")
    with machine_errors(f"make {out.parent}"):
        out.parent.mkdir(parents=True, exist_ok=True)
