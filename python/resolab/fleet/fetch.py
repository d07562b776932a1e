"""A run's results from the server, as one dataset.

For: taking every block that is there, checking it, and joining them (`assemble`). Not for: a block's own (`bundle`).
"""

import asyncio
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import nats.js.errors
from nats.aio.client import Client
from nats.js.object_store import ObjectStore

from resolab.errors import ConfigurationError, ResolabError
from resolab.fleet.assemble import assemble
from resolab.fleet.bundle import check
from resolab.fleet.job import Job, Run
from resolab.fleet.transfer import UnreachableError, asked, results_of
from resolab.store import Manifest
from resolab.store.files import machine_errors

BLOCK_TIMEOUT_S = 120.0
"""What is not whole within this is not whole on the server: the client would wait for its rest for ever."""
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


async def fetch(client: Client, run: Run, out: Path, taken: Callable[[], None] = lambda: None) -> Fetched:
    """Make a dataset of what is there of a run."""
    _check_free(out)
    refused: list[str] = []
    with tempfile.TemporaryDirectory(prefix=f".{out.name}-", dir=out.parent) as place:
        found = await _bundles(client, run, Path(place), refused, taken)
        good = {vantage: _good(run, vantage, blocks, refused) for vantage, blocks in found.items()}
        if not any(good.values()):
            hint = "see `resolab fleet status`"
            raise ConfigurationError(f"could not fetch run {run.id}: no block of it is there yet; {hint}")
        manifest = await asyncio.to_thread(assemble, run, good, out)
    return Fetched(manifest, {vantage: len(blocks) for vantage, blocks in good.items()}, refused)


def _check_free(out: Path) -> None:
    if out.exists():
        raise ConfigurationError(f"could not fetch into {out}: it is there; give another --out")
    with machine_errors(f"make {out.parent}"):
        out.parent.mkdir(parents=True, exist_ok=True)


def _good(run: Run, vantage: str, blocks: dict[int, Path], refused: list[str]) -> dict[int, Path]:
    """Leave out what is no result of its job, whoever sent it."""
    good = {}
    for block, file in blocks.items():
        try:
            check(file, run, vantage, block)
        except ResolabError as error:
            refused.append(f"{vantage}, block {block}: {error}")
        else:
            good[block] = file
    return good


async def _bundles(client: Client, run: Run, place: Path, refused: list[str], taken: Callable[[], None]) -> Bundles:
    js = client.jetstream(timeout=30.0)
    found: Bundles = {vantage: {} for vantage in run.vantages}
    for vantage in run.vantages:
        async with asked(f"open the results of {vantage}"):
            store = await js.object_store(results_of(vantage))
        for block in range(run.blocks):
            job, file = Job(run=run.id, vantage=vantage, block=block), place / f"{vantage}-{block}.tar.gz"
            try:
                if await _taken(store, job, file):
                    found[vantage][block] = file
            except UnreachableError as error:
                refused.append(f"{vantage}, block {block}: {error}")
            taken()
    return found


async def _taken(store: ObjectStore, job: Job, file: Path) -> bool:
    """Take a block's bundle; False: it is not there yet."""
    async with asked(f"fetch block {job.block} of {job.vantage}"):
        try:
            with file.open("wb") as stream:
                await asyncio.wait_for(store.get(job.result, writeinto=stream), BLOCK_TIMEOUT_S)
        except nats.js.errors.NotFoundError:
            return False
    return True
