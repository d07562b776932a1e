"""A fleet of real processes on loopback: the server, a link for each agent, the agents, each with a separate disk.

For: starting, ending and disturbing processes, by their ids. Not for: the moments (`chaos`).
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
from resolab.basics.errors import MachineError
from resolab.extras.fleet.invitation import invite
from resolab.extras.fleet.server.folder import ServerFolder
from resolab.extras.fleet.server.process import find_pid

DISK_MB = 320
"""The size of an agent's disk: no block begins below 256 MB."""
START_S, END_S = 120.0, 120.0
SERVE = (sys.executable, "-m", "resolab", "fleet", "serve")


class Disk:
    """A separate file system, for filling up."""

    def __init__(self, place: Path) -> None:
        self.place = place
        place.mkdir(parents=True)
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_MB}m", "resolab-bench", place], check=True)

    def fill(self) -> None:
        """Fill the disk completely."""
        with contextlib.suppress(OSError), (self.place / "filler").open("wb", buffering=0) as file:
            while file.write(bytes(1024**2)):
                pass

    def free(self) -> None:
        """Remove the filling file."""
        (self.place / "filler").unlink(missing_ok=True)

    def end(self) -> None:
        """Unmount the file system."""
        subprocess.run(["umount", "-l", self.place], check=False)


class ManagedProcess:
    """A process to start, end, kill and start again."""

    def __init__(self, command: Sequence[str], log: Path, environment: dict[str, str] | None = None) -> None:
        self._command, self._log = list(command), log
        self._environment = {**os.environ, **(environment or {})}
        self._process: subprocess.Popen[bytes] | None = None
        self.ended_count = 0
        """The number of unplanned ends."""

    def start(self) -> None:
        """Start the process; its output goes to the end of its log."""
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self._environment
            )

    def keep_running(self) -> None:
        """Restart and count a process after an unplanned end, like a service manager."""
        if self._process is not None and self._process.poll() is not None:
            self.ended_count += 1
            self.start()

    async def kill(self) -> None:
        """Kill the process without warning."""
        await self._end(signal.SIGKILL)

    async def stop(self) -> None:
        """Stop the process in order."""
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


class VantageAgent:
    """A vantage point with its agent."""

    def __init__(self, world: "BenchFleet", vantage: str, clock: Clock, trial_s: float) -> None:
        self.vantage, self.clock = vantage, clock
        self.disk = Disk(world.home / "disks" / vantage)
        self.link = Relay(world.folder.address.port)
        self.log = world.home / f"{vantage}.log"
        self._world, self._trial_s = world, trial_s
        self.process: ManagedProcess | None = None

    async def begin(self) -> None:
        """Bring up the link and start the agent."""
        await self.link.begin()
        command = [
            *(sys.executable, "-m", "benches.fleet.agents", "--spools", str(self.disk.place)),
            *("--port", str(self.link.port), "--trial-s", str(self._trial_s)),
            str(self._world.folder.path / f"{self.vantage}.invitation.toml"),
        ]
        self.process = ManagedProcess(command, self.log, self.clock.environment)
        self.process.start()

    async def end(self) -> None:
        """Stop the agent, the link and the disk."""
        if self.process is not None:
            await self.process.stop()
        await self.link.end()
        self.disk.end()


class BenchFleet:
    """The server with its agents."""

    def __init__(self, home: Path, folder: ServerFolder, server: ManagedProcess, disk: Disk) -> None:
        self.home, self.folder, self.server, self.disk = home, folder, server, disk
        self.agents: list[VantageAgent] = []

    @property
    def processes(self) -> list[ManagedProcess]:
        """The processes required to run."""
        return [self.server, *(agent.process for agent in self.agents if agent.process is not None)]

    def keep_running(self) -> None:
        """Restart processes after unplanned ends."""
        for one in self.processes:
            one.keep_running()

    @property
    def nats_pid(self) -> int | None:
        """Return the current process id of nats-server."""
        return find_pid(self.folder)


@contextlib.asynccontextmanager
async def a_world(home: Path, vantages: Sequence[str], trial_s: float) -> AsyncIterator[BenchFleet]:
    """Start a fleet; end the fleet after any outcome."""
    async with contextlib.AsyncExitStack() as ending:
        disk = Disk(home / "disks" / "server")
        ending.callback(disk.end)
        fleet = disk.place / "fleet"
        first = ManagedProcess([*SERVE, "--port", "0", "--fleet", str(fleet)], home / "server.log")
        first.start()
        try:
            folder = await _wait_until_served(fleet, first)
        finally:
            await first.stop()
        for vantage in vantages:
            invite(folder, vantage)
        # A server that starts makes what everybody invited needs, and has the port it had.
        server = ManagedProcess([*SERVE, "--fleet", str(fleet)], home / "server.log")
        server.start()
        ending.push_async_callback(server.stop)
        world = BenchFleet(home, folder, server, disk)
        library = build_library(home)
        for vantage in vantages:
            agent = VantageAgent(world, vantage, Clock(library, home / f"{vantage}.clock"), trial_s)
            ending.push_async_callback(agent.end)
            await agent.begin()
            world.agents.append(agent)
        yield world


async def _wait_until_served(fleet: Path, server: ManagedProcess) -> ServerFolder:
    """Wait until the server serves."""
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        server.keep_running()
        if (fleet / "ca.pem").exists():
            folder = ServerFolder.open(fleet)
            if folder.address.port and find_pid(folder) is not None:
                return folder
        await asyncio.sleep(0.1)
    raise MachineError(f"the fleet's server was not there within {START_S:g} s")
