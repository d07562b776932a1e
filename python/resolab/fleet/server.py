"""The fleet's server while it serves: nats-server kept running, with what the fleet needs in it.

For: start to end as an async context, and its healing. Not for: one process (`server_process`), its configuration
(`server_config`).
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

from resolab.errors import ConfigurationError, MachineError, ResolabError
from resolab.fleet.connection import connect_operator
from resolab.fleet.server_folder import ServerFolder
from resolab.fleet.server_process import ServerProcess, reload_process, running_pid
from resolab.fleet.storage import StorageWatch
from resolab.fleet.streams import prepare_agent, prepare_streams
from resolab.fleet.transfer import UnreachableError

LOCK = "serving.lock"
LOOK_EVERY_S = 1.0
SILENT_LOOKS = 30
"""A machine may be busy: only so many looks without an answer mean that the process hangs."""
UNWELL_LOOKS = 2
PAUSE_S = (1.0, 30.0)
"""Least and most of a pause between two starts."""
QUIET_S = 60.0
"""What ran for so long is started again at once."""


class FleetServer:
    """Serves from a folder for as long as its context is open."""

    def __init__(
        self,
        folder: ServerFolder | Path,
        *,
        listen: str = "127.0.0.1",
        port: int = 0,
        say: Callable[[str], None] = lambda _line: None,
        look_every_s: float = LOOK_EVERY_S,
    ) -> None:
        """Serve from a fleet's folder; for a path without one make it, listening where it is said."""
        if isinstance(folder, Path):
            there = (folder / "ca.pem").exists()
            folder = ServerFolder.open(folder) if there else ServerFolder.create(folder, listen, port, [listen])
        self.folder = folder
        self._say, self._look_every_s = say, look_every_s
        self._process: ServerProcess | None = None
        self._ending = contextlib.AsyncExitStack()

    @property
    def url(self) -> str:
        """Where agents reach it."""
        return self.folder.url

    @property
    def pid(self) -> int:
        """Process id of nats-server; another after it was started again."""
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
            ending.push_async_callback(_ended, watching)
            storage = StorageWatch(self.folder, self._say)
            ending.push_async_callback(_ended, asyncio.create_task(storage.watch(self._look_every_s)))
            self._ending = ending.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._ending.aclose()

    async def until(self, ended: asyncio.Event) -> None:
        """Serve until the event."""
        await ended.wait()

    async def reload(self) -> None:
        """Put in force who was invited and withdrawn since."""
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
        health, started, pause_s = _Health(), time.monotonic(), PAUSE_S[0]
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
            health, started = _Health(), time.monotonic()

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


class _Health:
    """What looks at a process have shown so far."""

    def __init__(self) -> None:
        self._silent = self._unwell = 0

    async def look(self, process: ServerProcess) -> str | None:
        """Say why it has to be started again, if it has."""
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
    """Make what the fleet and everybody invited needs at its server; what is there stays."""
    client = await connect_operator(folder, say)
    try:
        await prepare_streams(client.jetstream())
        for vantage in folder.invited():
            await prepare_agent(client.jetstream(), vantage, folder.storage().quota_bytes)
    finally:
        await client.close()


async def prepare_elsewhere(folder: ServerFolder, say: Callable[[str], None]) -> None:
    """Make the same at a server of somebody else's, who has it include the fleet's configuration."""
    try:
        await prepare(folder, say)
    except (UnreachableError, ResolabError) as error:
        hint = f"it has to include {folder.config_file}, and to read it again after every change"
        raise MachineError(f"{error}; {hint}") from error


def reload_server(folder: ServerFolder) -> bool:
    """Put in force who is invited, if a server runs from this folder; returns when it is so."""
    pid = running_pid(folder)
    if pid is None:
        return False
    reload_process(folder, pid)
    return True


@contextlib.contextmanager
def _alone(folder: ServerFolder) -> Iterator[None]:
    """Let one process serve from a folder; the kernel lets go however it ends."""
    with (folder.path / LOCK).open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            hint = "another `resolab fleet serve` does; use that, or stop it"
            raise ConfigurationError(f"could not serve from {folder.path}: {hint}") from None
        yield


async def _ended(task: "asyncio.Task[None]") -> None:
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
