"""An agent's requests to the fleet's server, over JetStream.

For: jobs, runs, results and states as calls with a single meaning, in any state of the connection. Not for: permissions
(`server.config`), carrying a job out (`agent`).

Every call may fail with `UnreachableError`; the caller tries again. Nothing is lost: an unacknowledged job comes again,
and a repeated result has the same name.
"""

import asyncio
import base64
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING

import nats.errors
import nats.js.errors
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.js.object_store import ObjectStore

from resolab.basics.errors import ConfigurationError, ResolabError
from resolab.extras.fleet.job import AgentState, FleetRun, Job, decode, encode

if TYPE_CHECKING:
    from nats.js.client import JetStreamContext

TIMEOUT_S = 10.0
LEASE_S = 60.0
"""The lease of a job, in s: without a sign of the agent for this time, the job is offered again, to the same vantage
point."""
HEARTBEAT_S = 15.0
JOBS = "JOBS"
RUNS, AGENTS = "runs", "agents"


class UnreachableError(Exception):
    """A temporary failure of requests to the server."""


def format_store_name(vantage: str) -> str:
    """Return the store's name for a vantage point's results."""
    return f"results-{vantage}"


@contextlib.asynccontextmanager
async def call_server(what: str) -> AsyncIterator[None]:
    """Turn any error of the client into `UnreachableError`.

    All exceptions are included: a connection lost during a write also shows as an `AttributeError` of the TLS
    transport.
    """
    try:
        yield
    except (ResolabError, UnreachableError):
        raise
    except Exception as error:
        raise UnreachableError(f"could not {what}: {str(error) or type(error).__name__}") from error


class AgentClient:
    """An agent's requests to the server."""

    def __init__(self, client: Client, vantage: str) -> None:
        self._client, self._vantage = client, vantage
        self._js: JetStreamContext = client.jetstream(timeout=TIMEOUT_S)
        self._jobs: JetStreamContext.PullSubscription | None = None

    async def next_job(self, wait_s: float) -> Msg | None:
        """Wait for a job; return `None` without a job.

        After any error the subscription is made anew: the client's old subscription may wait for ever.
        """
        try:
            async with call_server("ask for a job"):
                if self._jobs is None:
                    self._jobs = await self._js.pull_subscribe_bind(self._vantage, JOBS)
                try:
                    return (await self._jobs.fetch(1, timeout=wait_s))[0]
                except (nats.errors.TimeoutError, TimeoutError):
                    # Nothing there, or nobody: told apart by asking for something.
                    await self._jobs.consumer_info()
                    return None
        except UnreachableError:
            await self._drop_subscription()
            raise

    async def count_waiting(self) -> int:
        """Count the jobs waiting for this vantage point or taken by its agent."""
        async with call_server("look into the queue"):
            jobs = await self._js.pull_subscribe_bind(self._vantage, JOBS)
            info = await jobs.consumer_info()
            await jobs.unsubscribe()
        return (info.num_pending or 0) + (info.num_ack_pending or 0)

    async def _drop_subscription(self) -> None:
        jobs, self._jobs = self._jobs, None
        if jobs is not None:
            with contextlib.suppress(UnreachableError):
                async with call_server("leave the queue"):
                    await jobs.unsubscribe()

    async def fetch_run(self, run: str) -> FleetRun:
        """Return a run by its name."""
        async with call_server(f"read run {run}"):
            try:
                entry = await (await self._js.key_value(RUNS)).get(run)
            except nats.js.errors.KeyNotFoundError as error:
                raise ConfigurationError(f"could not read run {run}: the fleet's server does not know it") from error
        return decode(entry.value or b"", FleetRun, what=f"run {run}")

    async def has_result(self, job: Job) -> bool:
        """Return True when the server already has this block."""
        async with call_server(f"ask for the result of {job.id}"):
            try:
                return not (await (await self._store()).get_info(job.result)).deleted
            except nats.js.errors.NotFoundError:
                return False

    async def put_result(self, job: Job, file: Path, sha256: str) -> None:
        """Send a block to the server; stored whole with this digest, or not at all."""
        async with call_server(f"send the result of {job.id}"):
            with file.open("rb") as stream:
                info = await (await self._store()).put(job.result, stream)
        if info.digest != format_digest(sha256):
            raise UnreachableError(f"could not send the result of {job.id}: {file} changed on its way")

    async def tell(self, state: AgentState) -> None:
        """Report the agent's state; the last report is kept."""
        async with call_server("tell the agent's state"):
            await (await self._js.key_value(AGENTS)).put(self._vantage, encode(state))

    async def _store(self) -> ObjectStore:
        return await self._js.object_store(format_store_name(self._vantage))


def format_digest(sha256: str) -> str:
    """Return a digest in the object store's form."""
    return f"SHA-256={base64.urlsafe_b64encode(bytes.fromhex(sha256)).decode()}"


async def done(message: Msg) -> None:
    """Acknowledge a job, and wait for the server's confirmation."""
    async with call_server("acknowledge a job"):
        await message.ack_sync(timeout=TIMEOUT_S)


async def not_now(message: Msg, again_in_s: float) -> None:
    """Leave a job in its queue for a later attempt."""
    async with call_server("give a job back"):
        await message.nak(delay=again_in_s)


@contextlib.asynccontextmanager
async def hold_lease(message: Msg) -> AsyncIterator[None]:
    """Keep the lease of a job while its block runs."""

    async def beat() -> None:
        while True:
            await asyncio.sleep(HEARTBEAT_S)
            with contextlib.suppress(UnreachableError):
                async with call_server("keep a lease"):
                    await message.in_progress()

    beating = asyncio.create_task(beat())
    try:
        yield
    finally:
        beating.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await beating
