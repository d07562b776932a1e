"""A run's results from the server, as one dataset.

For: taking every block that is there, checking it, and joining them (`assemble`). Not for: a block's own (`bundle`).
"""

import asyncio
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import nats.errors
import nats.js.errors
from nats.aio.client import Client
from nats.js.object_store import ObjectStore

from resolab.errors import ConfigurationError, StorageError
from resolab.fleet.assemble import assemble
from resolab.fleet.job import Job, Run
from resolab.fleet.transfer import TIMEOUT_S, asked, results_of
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
    """Make a dataset of what is there of a run; a result that is none is left out, and said."""
    _check_free(out)
    refused: list[str] = []
    with tempfile.TemporaryDirectory(prefix=f".{out.name}-", dir=out.parent) as place:
        found = await _bundles(client, run, Path(place), refused, taken)
        if not any(found.values()) and not refused:
            hint = "see `resolab fleet status`"
            raise ConfigurationError(f"could not fetch run {run.id}: no block of it is there yet; {hint}")
        count = {vantage: len(blocks) for vantage, blocks in found.items()}

        def left_out(vantage: str, block: int, why: str) -> None:
            refused.append(_refusal(vantage, block, why))
            count[vantage] -= 1

        manifest = await asyncio.to_thread(assemble, run, found, out, left_out=left_out)
    return Fetched(manifest, count, refused)


def _check_free(out: Path) -> None:
    if out.exists():
        raise ConfigurationError(f"could not fetch into {out}: it is there; give another --out")
    with machine_errors(f"make {out.parent}"):
        out.parent.mkdir(parents=True, exist_ok=True)


def _refusal(vantage: str, block: int, why: str) -> str:
    return f"{vantage}, block {block}: {why}"


async def _bundles(client: Client, run: Run, place: Path, refused: list[str], taken: Callable[[], None]) -> Bundles:
    js = client.jetstream(timeout=TIMEOUT_S)
    found: Bundles = {vantage: {} for vantage in run.vantages}
    for vantage in run.vantages:
        async with asked(f"open the results of {vantage}"):
            store = await js.object_store(results_of(vantage))
        for block in range(run.blocks):
            job, file = Job(run=run.id, vantage=vantage, block=block), place / f"{vantage}-{block}.tar.gz"
            try:
                if await _is_taken(store, job, file):
                    found[vantage][block] = file
            except ConfigurationError as error:
                refused.append(_refusal(vantage, block, str(error)))
            taken()
    return found


async def _is_taken(store: ObjectStore, job: Job, file: Path) -> bool:
    """Take a block's bundle; False: it is not there yet.

    Only a result that cannot be had is a block less. A server that is gone or a disk that is full ends the fetch: a
    dataset must not lack blocks for that.
    """
    async with asked(f"fetch block {job.block} of {job.vantage}"):
        try:
            with file.open("wb") as stream:
                await asyncio.wait_for(store.get(job.result, writeinto=stream), BLOCK_TIMEOUT_S)
        except nats.js.errors.NotFoundError:
            return False
        except (nats.js.errors.BadObjectMetaError, nats.js.errors.DigestMismatchError) as error:
            raise ConfigurationError("its result is damaged on the server") from error
        except nats.errors.TimeoutError:
            raise  # The server does not answer.
        except TimeoutError as error:
            raise ConfigurationError(f"its result did not come whole within {BLOCK_TIMEOUT_S:g} s") from error
        except OSError as error:
            if isinstance(error, ConnectionError):
                raise
            raise StorageError(f"failed to write {file}: {error.strerror}; give --out a disk with room") from error
    return True
