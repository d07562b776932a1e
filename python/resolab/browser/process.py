"""The browser's process: started behind a prefix, spoken to over a pipe, ended for certain.

For: file descriptors, process groups, and no process left after any end of the run. Not for: the messages on the pipe
(`cdp`) or the flags (`settings`).

Chromium reads its debugging pipe from descriptor 3 and writes to 4. Any prefix passes descriptors 0 and 1 on. So the
pipe travels as standard input and output, and a shell inside the prefix moves the pipe to 3 and 4 before its exec of
Chromium.

When this process dies, the pipe closes and Chromium ends itself. Should Chromium hang, the kernel kills the outermost
process at the end of its parent thread. Therefore browsers are started from a thread with a longer life (the event
loop's).
"""

import asyncio
import collections
import contextlib
import os
import shutil
import signal
from collections.abc import Sequence
from pathlib import Path

from resolab.basics.errors import MachineError

MOVE_PIPE = 'exec "$@" 3<&0 4>&1 </dev/null >&2'
STDERR_LINES_KEPT = 20
NOT_PASSED_ON = ("XDG_", "SSLKEYLOGFILE")
"""Prefixes of removed environment variables: paths of files outside HOME, and the path for a log of TLS keys."""


def tie() -> list[str]:
    """Return the words before a command for tying its life to its parent: the kernel kills both together."""
    return ["setpriv", "--pdeathsig", "KILL", "--"] if shutil.which("setpriv") else []


def build_piped_command(prefix: Sequence[str], browser: Sequence[str]) -> list[str]:
    """Build the whole command: tied to this process, through the prefix, with the pipe at 3 and 4."""
    return [*tie(), *prefix, "/bin/sh", "-c", MOVE_PIPE, "sh", *browser]


class BrowserProcess:
    """One running browser process with its process group."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._stderr: collections.deque[str] = collections.deque(maxlen=STDERR_LINES_KEPT)
        self._drain = asyncio.create_task(self._read_stderr())
        self._ended = asyncio.Event()
        self._watch()

    @classmethod
    async def start(cls, command: Sequence[str], home: Path, temporary_folder: Path | None = None) -> "BrowserProcess":
        """Start the command in its own session; HOME is `home`, temporary files go into their own folder."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith(NOT_PASSED_ON)}
        environment["HOME"] = str(home)
        if temporary_folder is not None:
            environment["TMPDIR"] = str(temporary_folder)
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                start_new_session=True,
                env=environment,
            )
        except OSError as error:
            raise MachineError(f"could not start the browser ({command[0]}): {error.strerror}") from error
        return cls(process)

    @property
    def streams(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """The debugging pipe: from the browser, to the browser."""
        if self._process.stdout is None or self._process.stdin is None:
            raise AssertionError("started with pipes")
        return self._process.stdout, self._process.stdin

    @property
    def pid(self) -> int:
        """Process id of the outermost process, equal to the id of its group."""
        return self._process.pid

    @property
    def running(self) -> bool:
        """Return True while the outermost process runs."""
        return self._process.returncode is None

    def last_words(self) -> str:
        """Find the last line on standard error, except lines about the missing desktop bus."""
        return next((line for line in reversed(self._stderr) if line and "dbus" not in line), "it said nothing")

    async def wait_for_end(self) -> None:
        """Wait for the outermost process to end by itself."""
        await self._process.wait()

    async def end(self, timeout_s: float) -> None:
        """Wait for the end requested over the pipe; then kill the rest of the group."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._process.wait(), timeout_s)
        if not self._ended.is_set():
            self._kill_group()
        await self._process.wait()
        await self._ended.wait()
        self._drain.cancel()
        await asyncio.gather(self._drain, return_exceptions=True)

    def _watch(self) -> None:
        """Kill the rest of the group at the end of its first process: later the kernel may reuse the group's number."""
        loop = asyncio.get_running_loop()
        try:
            descriptor = os.pidfd_open(self.pid)
        except ProcessLookupError:  # It has ended just now.
            self._kill_group()
            self._ended.set()
            return

        def on_end() -> None:
            loop.remove_reader(descriptor)
            os.close(descriptor)
            self._kill_group()
            self._ended.set()

        loop.add_reader(descriptor, on_end)

    def _kill_group(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)

    async def _read_stderr(self) -> None:
        stderr = self._process.stderr
        if stderr is None:
            return
        while True:
            try:
                line = await stderr.readline()
            except ValueError:  # Beyond the limit, and thrown away: who stopped reading would stop the browser.
                continue
            if not line:
                return
            self._stderr.append(line.decode(errors="replace").strip())
