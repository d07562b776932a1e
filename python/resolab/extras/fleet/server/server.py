"""The fleet's server: nats-server kept running, with the streams needed by the fleet.

For: start to end as an async context, and recovery. Not for: a single process (`process`), its configuration
(`config`).
"""

import asyncio
import contextlib
import fcntl
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

from resolab.basics.errors import ConfigurationError, MachineError, ResolabError
from resolab.extras.fleet.connection import connect_operator
from resolab.extras.fleet.server.folder import ServerFolder
from resolab.extras.fleet.server.process import ServerProcess, find_pid, reload_process
from resolab.extras.fleet.server.storage import StorageWatch
from resolab.extras.fleet.server.streams import prepare_agent, prepare_streams
from resolab.extras.fleet.transfer import UnreachableError

LOCK = "serving.lock"
LOOK_EVERY_S = 1.0
SILENT_LOOKS = 30
"""The number of checks without an answer before the process counts as hung; a machine may be busy."""
UNWELL_LOOKS = 2
PAUSE_S = (1.0, 30.0)
"""The shortest and longest pause between two starts, in s."""
QUIET_S = 60.0
"""The run time after which a restart is immediate again, in s."""


class FleetServer:
    """A server of a folder, during its context."""

    def __init__(
        self,
        folder: ServerFolder | Path,
        *,
        listen: str = "127.0.0.1",
        port: int = 0,
        say: Callable[[str], None] = lambda _line: None,
        look_every_s: float = LOOK_EVERY_S,
    ) -> None:
        """Prepare the server of a fleet's folder; for a path without a fleet make a folder, with this address."""
        if isinstance(folder, Path):
            there = (folder / "ca.pem").exists()
            folder = ServerFolder.open(folder) if there else ServerFolder.create(folder, listen, port, [listen])
        self.folder = folder
        self._say, self._look_every_s = say, look_every_s
        self._process: ServerProcess | None = None
        self._ending = contextlib.AsyncExitStack()

    @property
    def url(self) -> str:
        """Return the server's URL for agents."""
        return self.folder.url

    @property
    def pid(self) -> int:
        """Return the process id of nats-server; changes at a restart."""
        assert self._process is not None
        return self._process.pid

    async def __aenter__(self) -> Self:
        async with contextlib.AsyncExitStack() as ending:
            ending.enter_context(_alone(self.folder))
            self.folder.write_config()
            self._process = await ServerProcess.start(self.folder)
            ending.push_async_callback(self._stop)
            if not self.folder.address.port:
                self.folder.keep_port(self._process.port)
            await self._prepare()
            watching = asyncio.create_task(self._watch())
            ending.push_async_callback(_wait_for_end, watching)
            storage = StorageWatch(self.folder, self._say)
            ending.push_async_callback(_wait_for_end, asyncio.create_task(storage.watch(self._look_every_s)))
            self._ending = ending.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._ending.aclose()

    async def serve_until(self, ended: asyncio.Event) -> None:
        """Serve until the event is set."""
        await ended.wait()

    async def reload(self) -> None:
        """Apply invitations and withdrawals since the last load."""
        await asyncio.to_thread(reload_server, self.folder)
        await self._prepare()

    async def _prepare(self) -> None:
        try:
            await prepare(self.folder, self._say)
        except UnreachableError as error:
            raise MachineError(f"{error}; see nats-server.log in {self.folder.path}") from error

    async def _stop(self) -> None:
        if self._process is not None:
            await self._process.stop()

    async def _watch(self) -> None:
        health, started, pause_s = _HealthHistory(), time.monotonic(), PAUSE_S[0]
        while True:
            await asyncio.sleep(self._look_every_s)
            assert self._process is not None
            trouble = await health.look(self._process)
            if trouble is None:
                continue
            if time.monotonic() - started > QUIET_S:
                pause_s = PAUSE_S[0]
            self._say(f"the fleet's server is started again: {trouble}")
            await self._process.stop()
            # A disk that is full is still full at once after.
            await asyncio.sleep(pause_s * random.uniform(0.5, 1.0))
            pause_s = min(2 * pause_s, PAUSE_S[1])
            await self._start_again()
            health, started = _HealthHistory(), time.monotonic()

    async def _start_again(self) -> None:
        pause_s = PAUSE_S[0]
        while True:
            try:
                self._process = await ServerProcess.start(self.folder)
            except (ResolabError, OSError) as error:
                self._say(str(error))
                await asyncio.sleep(pause_s)
                pause_s = min(2 * pause_s, PAUSE_S[1])
            else:
                return


class _HealthHistory:
    """The results of checks of a process until now."""

    def __init__(self) -> None:
        self._silent = self._unwell = 0

    async def look(self, process: ServerProcess) -> str | None:
        """Return the reason for a restart; `None` when no restart is needed."""
        if process.exit_code is not None:
            return f"nats-server ended with code {process.exit_code}"
        try:
            trouble = await process.trouble()
        except (OSError, LookupError, ValueError) as error:
            self._silent += 1
            return f"nats-server does not answer: {error}" if self._silent >= SILENT_LOOKS else None
        self._silent, self._unwell = 0, 0 if trouble is None else self._unwell + 1
        return f"its storage failed: {trouble}" if self._unwell >= UNWELL_LOOKS else None


async def prepare(folder: ServerFolder, say: Callable[[str], None]) -> None:
    """Make the streams of the fleet and all invited agents at its server; existing streams stay."""
    client = await connect_operator(folder, say)
    try:
        await prepare_streams(client.jetstream())
        for vantage in folder.list_invited():
            await prepare_agent(client.jetstream(), vantage, folder.storage().quota_bytes)
    finally:
        await client.close()


async def prepare_elsewhere(folder: ServerFolder, say: Callable[[str], None]) -> None:
    """Make the same at an external server, which must include the fleet's configuration."""
    try:
        await prepare(folder, say)
    except (UnreachableError, ResolabError) as error:
        hint = f"it has to include {folder.config_file}, and to read it again after every change"
        raise MachineError(f"{error}; {hint}") from error


def reload_server(folder: ServerFolder) -> bool:
    """Apply the current invitations to a server running from this folder.

    Return True once the invitations are in force, False without a server.
    """
    pid = find_pid(folder)
    if pid is None:
        return False
    reload_process(folder, pid)
    return True


@contextlib.contextmanager
def _alone(folder: ServerFolder) -> Iterator[None]:
    """Allow a single serving process per folder; the kernel releases the lock at any end."""
    with (folder.path / LOCK).open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            hint = "another `resolab fleet serve` does; use that, or stop it"
            raise ConfigurationError(f"could not serve from {folder.path}: {hint}") from None
        yield


async def _wait_for_end(task: "asyncio.Task[None]") -> None:
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
