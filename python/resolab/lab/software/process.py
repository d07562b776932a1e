"""One running program of a plan's software: start, last words, processor time, memory and end.

For: the lifetime of a process with all its children. Not for: its readiness (`readiness`) or its files (`rack`).

Each program runs in a separate process namespace. The end of the first process ends all processes of the namespace.
"""

import asyncio
import collections
import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from resolab.basics.errors import MachineError
from resolab.lab.engine.programs import build_environment

LINES_KEPT = 20
END_TIMEOUT_S = 3.0
LONGEST_LINE = 300
_LINE_LIMIT_BYTES = 1 << 20
_SIGNS = ("error", "fatal", "fail", "cannot", "could not", "denied", "invalid", "unknown", "not found", "no such")
_ENTERING = "resolab-core"
"""The name of the processes between the lab and the program."""


class SoftwareProcess:
    """A program in the server's host, with the last lines of its output."""

    def __init__(self, name: str, process: asyncio.subprocess.Process) -> None:
        self.name = name
        self._process = process
        self.lines: collections.deque[str] = collections.deque(maxlen=LINES_KEPT)
        self._reading = asyncio.create_task(self._read())

    @classmethod
    async def start(cls, name: str, command: Sequence[str], folder: Path) -> "SoftwareProcess":
        """Start a command in a folder."""
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                cwd=folder,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
                start_new_session=True,
                limit=_LINE_LIMIT_BYTES,
                env=build_environment(),
            )
        except OSError as error:
            raise MachineError(f"could not start software {name}: {error.strerror}") from error
        return cls(name, process)

    @property
    def running(self) -> bool:
        """Return True when the program has not ended."""
        return self._process.returncode is None

    async def read_last_words(self) -> list[str]:
        """Wait for all output of a program that ended, and return its last lines."""
        await self._process.wait()
        await asyncio.gather(self._reading, return_exceptions=True)
        return list(self.lines)

    async def describe_end(self) -> str:
        """Return the exit code and the telling line of a program that ended."""
        words = await self.read_last_words()
        return f"it ended with exit code {self._process.returncode}: {find_telling_line(words)}"

    def read_processor_time_ns(self) -> int | None:
        """Return the processor time so far of all living threads of the program and its children, in ns.

        `None` after its end.
        """
        times = [time for pid in self._list_programs() if (time := _read_running_ns(pid)) is not None]
        return sum(times) if times else None

    def read_memory_bytes(self) -> int | None:
        """Return the memory of the program and its children; `None` after its end or without permission."""
        sizes = [size for pid in self._list_programs() if (size := _read_pss_bytes(pid)) is not None]
        return sum(sizes) if sizes else None

    async def close(self) -> None:
        """End the program with all its children, by force after a timeout."""
        if self.running:
            with contextlib.suppress(ProcessLookupError):
                self._process.terminate()
            try:
                await asyncio.wait_for(self._process.wait(), END_TIMEOUT_S)
            except TimeoutError:
                with contextlib.suppress(ProcessLookupError):
                    self._process.kill()
                await self._process.wait()
        self._reading.cancel()
        await asyncio.gather(self._reading, return_exceptions=True)

    def _list_programs(self) -> Iterator[int]:
        waiting = [self._process.pid] if self.running else []
        while waiting:
            pid = waiting.pop()
            waiting += _list_children(pid)
            if _read(f"/proc/{pid}/comm").strip() != _ENTERING:
                yield pid

    async def _read(self) -> None:
        stdout = self._process.stdout
        while stdout is not None:
            try:
                line = await stdout.readline()
            except ValueError:  # A longer line than the limit is passed over.
                continue
            if not line:
                return
            self.lines.append(line.decode(errors="replace").strip())


def find_telling_line(lines: Sequence[str]) -> str:
    """Return the last line with a word of failure, or else the last line."""
    told = [line for line in lines if line]
    failing = [line for line in told if any(sign in line.lower() for sign in _SIGNS)]
    line = (failing or told or ["it said nothing"])[-1]
    return line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}..."


def _list_children(pid: int) -> list[int]:
    """List the children of a process: each belongs to the thread that started it."""
    return [int(word) for thread in _list_threads(pid) for word in _read(f"{thread}/children").split()]


def _read_running_ns(pid: int) -> int | None:
    """Return the time of all threads of a process on a processor (the first number of /proc/PID/task/TID/schedstat)."""
    told = [_read(f"{thread}/schedstat").split() for thread in _list_threads(pid)]
    return sum(int(words[0]) for words in told if words) if any(told) else None


def _list_threads(pid: int) -> list[Path]:
    try:
        return list(Path(f"/proc/{pid}/task").iterdir())
    except OSError:
        return []


def _read_pss_bytes(pid: int) -> int | None:
    for line in _read(f"/proc/{pid}/smaps_rollup").splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024
    return None


def _read(file: str) -> str:
    try:
        return Path(file).read_text("utf-8", errors="replace")
    except OSError:
        return ""
