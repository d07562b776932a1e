"""A fleet of real processes on loopback: the server, a link for each agent, the agents, each with a disk of its own.

For: starting, ending and disturbing them, by their ids. Not for: when (`chaos`).
"""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

from benches.fleet.clock import Clock, build_library
from benches.fleet.relay import Relay
from resolab.errors import MachineError
from resolab.fleet.invitation import invite
from resolab.fleet.server_folder import ServerFolder
from resolab.fleet.server_process import running_pid

DISK_MB = 320
"""Of an agent: no block is begun below 256 MB."""
START_S, END_S = 120.0, 120.0
SERVE = (sys.executable, "-m", "resolab", "fleet", "serve")


class Disk:
    """A file system of its own, which can be filled."""

    def __init__(self, place: Path) -> None:
        self.place = place
        place.mkdir(parents=True)
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_MB}m", "resolab-bench", place], check=True)

    def fill(self) -> None:
        """Leave no byte."""
        with contextlib.suppress(OSError), (self.place / "filler").open("wb", buffering=0) as file:
            while file.write(bytes(1024**2)):
                pass

    def free(self) -> None:
        """Take away what filled it."""
        (self.place / "filler").unlink(missing_ok=True)

    def end(self) -> None:
        """Unmount it."""
        subprocess.run(["umount", "-l", self.place], check=False)


class Child:
    """A process that is started, ended, killed and started again."""

    def __init__(self, command: Sequence[str], log: Path, environment: dict[str, str] | None = None) -> None:
        self._command, self._log = list(command), log
        self._environment = {**os.environ, **(environment or {})}
        self._process: subprocess.Popen[bytes] | None = None
        self.ended_count = 0
        """How often it ended by itself."""

    def start(self) -> None:
        """Start it, its words at the end of its log."""
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self._environment
            )

    def keep_running(self) -> None:
        """Start it again if it ended by itself, as a service manager does, and count that."""
        if self._process is not None and self._process.poll() is not None:
            self.ended_count += 1
            self.start()

    async def kill(self) -> None:
        """End it without a word of warning."""
        await self._end(signal.SIGKILL)

    async def stop(self) -> None:
        """End it in order."""
        await self._end(signal.SIGTERM)

    async def _end(self, number: signal.Signals) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.send_signal(number)
            try:
                await asyncio.to_thread(process.wait, END_S)
            except subprocess.TimeoutExpired:
                process.kill()
                await asyncio.to_thread(process.wait)
                raise MachineError(f"a process of the fleet did not end in {END_S:g} s; see {self._log}") from None


class AgentAt:
    """One vantage point."""

    def __init__(self, world: "World", vantage: str, clock: Clock, trial_s: float) -> None:
        self.vantage, self.clock = vantage, clock
        self.disk = Disk(world.home / "disks" / vantage)
        self.link = Relay(world.folder.address.port)
        self.log = world.home / f"{vantage}.log"
        self._world, self._trial_s = world, trial_s
        self.process: Child | None = None

    async def begin(self) -> None:
        """Bring up the link and start the agent."""
        await self.link.begin()
        command = [
            *(sys.executable, "-m", "benches.fleet.agents", "--spools", str(self.disk.place)),
            *("--port", str(self.link.port), "--trial-s", str(self._trial_s)),
            str(self._world.folder.path / f"{self.vantage}.invitation.toml"),
        ]
        self.process = Child(command, self.log, self.clock.environment)
        self.process.start()

    async def end(self) -> None:
        """End all of it."""
        if self.process is not None:
            await self.process.stop()
        await self.link.end()
        self.disk.end()


class World:
    """The server and its agents."""

    def __init__(self, home: Path, folder: ServerFolder, server: Child, disk: Disk) -> None:
        self.home, self.folder, self.server, self.disk = home, folder, server, disk
        self.agents: list[AgentAt] = []

    @property
    def processes(self) -> list[Child]:
        """All that must run."""
        return [self.server, *(agent.process for agent in self.agents if agent.process is not None)]

    def keep_running(self) -> None:
        """Start what ended and nobody ended."""
        for one in self.processes:
            one.keep_running()

    @property
    def nats_pid(self) -> int | None:
        """Find the process of nats-server, whichever it is now."""
        return running_pid(self.folder)


@contextlib.asynccontextmanager
async def a_world(home: Path, vantages: Sequence[str], trial_s: float) -> AsyncIterator[World]:
    """Bring a fleet up; whatever happens, it is ended."""
    async with contextlib.AsyncExitStack() as ending:
        disk = Disk(home / "disks" / "server")
        ending.callback(disk.end)
        fleet = disk.place / "fleet"
        first = Child([*SERVE, "--port", "0", "--fleet", str(fleet)], home / "server.log")
        first.start()
        try:
            folder = await _served(fleet, first)
        finally:
            await first.stop()
        for vantage in vantages:
            invite(folder, vantage)
        # A server that starts makes what everybody invited needs, and has the port it had.
        server = Child([*SERVE, "--fleet", str(fleet)], home / "server.log")
        server.start()
        ending.push_async_callback(server.stop)
        world = World(home, folder, server, disk)
        library = build_library(home)
        for vantage in vantages:
            agent = AgentAt(world, vantage, Clock(library, home / f"{vantage}.clock"), trial_s)
            ending.push_async_callback(agent.end)
            await agent.begin()
            world.agents.append(agent)
        yield world


async def _served(fleet: Path, server: Child) -> ServerFolder:
    """Wait until it serves."""
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        server.keep_running()
        if (fleet / "ca.pem").exists():
            folder = ServerFolder.open(fleet)
            if folder.address.port and running_pid(folder) is not None:
                return folder
        await asyncio.sleep(0.1)
    raise MachineError(f"the fleet's server was not there within {START_S:g} s")
