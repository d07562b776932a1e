"""Run third-party servers as processes in the box's hosts: start, wait for listening, end.

For: the lifetime of a server. Not for: its configuration (`servers`), or resolab-core's own programs (`engine`).
"""

import asyncio
import contextlib
import socket
import time
from collections.abc import Sequence
from pathlib import Path

from resolab.basics.errors import MachineError
from resolab.basics.servers.programs import find_program, search_program
from resolab.extras.internet.servers import ServerProgram

LISTEN_TIMEOUT_S = 20.0
END_TIMEOUT_S = 3.0
OUTPUT = "output"
_LOOK_EVERY_S = 0.02


class ServerHandle:
    """A process in a host, with its output in a file of its folder."""

    def __init__(self, name: str, folder: Path, process: asyncio.subprocess.Process) -> None:
        self.name = name
        self._folder = folder
        self._process = process

    @classmethod
    async def start(cls, program: ServerProgram, folder: Path, prefix: Sequence[str]) -> "ServerHandle":
        """Write the server's files and start the server."""
        for file, text in program.files.items():
            (folder / file).write_text(text, "utf-8")
        command = [find_program(program.command[0], folder), *program.command[1:]]
        return await cls.run(program.name, folder, [*prefix, *command])

    @classmethod
    async def run(cls, name: str, folder: Path, command: Sequence[str]) -> "ServerHandle":
        """Start a command in a folder."""
        with (folder / OUTPUT).open("wb") as output:
            try:
                process = await asyncio.create_subprocess_exec(
                    *command,
                    cwd=folder,
                    stdin=asyncio.subprocess.DEVNULL,
                    stdout=output,
                    stderr=asyncio.subprocess.STDOUT,
                    start_new_session=True,
                )
            except OSError as error:
                raise MachineError(f"could not start {name} ({command[0]}): {error.strerror}") from error
        return cls(name, folder, process)

    @property
    def pid(self) -> int:
        """Return the process id of the prefix's program."""
        return self._process.pid

    async def wait_until_listening(self, address: str, ports: Sequence[tuple[str, int]]) -> None:
        """Wait until the host's kernel has the server's sockets; each port is of `udp` or `tcp`."""
        deadline = time.monotonic() + LISTEN_TIMEOUT_S
        while not all(_listens(self._process.pid, address, *port) for port in ports):
            if self._process.returncode is not None:
                raise MachineError(f"{self.name} ended with code {self._process.returncode}: {self.last_words()}")
            if time.monotonic() > deadline:
                raise MachineError(f"{self.name} did not listen within {LISTEN_TIMEOUT_S:g} s: {self.last_words()}")
            await asyncio.sleep(_LOOK_EVERY_S)

    def last_words(self) -> str:
        """Return the last line of the server's output."""
        lines = (self._folder / OUTPUT).read_text("utf-8", errors="replace").strip().splitlines()
        return lines[-1] if lines else "it said nothing"

    async def close(self) -> None:
        """End the server, by force after a timeout."""
        if self._process.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            self._process.terminate()
        try:
            await asyncio.wait_for(self._process.wait(), END_TIMEOUT_S)
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()


def list_missing_programs(programs: Sequence[ServerProgram]) -> list[str]:
    """List the programs missing on this machine."""
    wanted = dict.fromkeys([*(program.command[0] for program in programs), "openssl"])
    return [name for name in wanted if search_program(name) is None]


def _listens(pid: int, address: str, protocol: str, port: int) -> bool:
    """Return True when the network of a process has such a socket (proc(5), /proc/PID/net/tcp)."""
    host = socket.inet_aton(address)[::-1].hex().upper()
    try:
        table = Path(f"/proc/{pid}/net/{protocol}").read_text("utf-8")
    except OSError:
        return False
    return f" {host}:{port:04X} 00000000:0000 " in table
