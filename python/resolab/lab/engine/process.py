"""A running resolab-core program: records, commands, end.

For: long-running programs (path, edge, stub) and short programs (query) alike. Not for: each program's arguments
(`programs`).
"""

import asyncio
import collections
import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import msgspec

from resolab.basics.errors import ConfigurationError, DeadlineError, MachineError, ResolabError, UsageError
from resolab.basics.records import CommandDoneRecord, Record

RecordT = TypeVar("RecordT", bound=msgspec.Struct)
ERRORS_BY_EXIT_CODE: dict[int, type[ResolabError]] = {
    error.exit_code: error for error in (UsageError, ConfigurationError, MachineError, DeadlineError)
}
LINE_LIMIT_BYTES = 1 << 20
STDERR_LINES_KEPT = 20


class CoreProcess:
    """A program with JSON Lines on the standard output and commands on the standard input."""

    def __init__(
        self,
        name: str,
        process: asyncio.subprocess.Process,
        on_record: Callable[[Record], None],
        on_stderr: Callable[[str], None],
    ) -> None:
        self.name = name
        self._process = process
        self._on_record = on_record
        self._on_stderr = on_stderr
        self._decoder = msgspec.json.Decoder(Record)
        self._waiting: dict[int, asyncio.Future[CommandDoneRecord]] = {}
        self._first: dict[type[msgspec.Struct], asyncio.Future[msgspec.Struct]] = {}
        self._next_id = 1
        self._stderr: collections.deque[str] = collections.deque(maxlen=STDERR_LINES_KEPT)
        self._tasks = [asyncio.create_task(self._read_records()), asyncio.create_task(self._read_stderr())]
        self._broken: ResolabError | None = None

    @classmethod
    async def start(
        cls,
        name: str,
        command: Sequence[str],
        on_record: Callable[[Record], None] = lambda _record: None,
        *,
        on_stderr: Callable[[str], None] = lambda _line: None,
        line_limit_bytes: int = LINE_LIMIT_BYTES,
        environment: Mapping[str, str] | None = None,
    ) -> "CoreProcess":
        """Start the program; hand records to `on_record` in written order, stderr lines to `on_stderr`.

        Without an `environment` the program inherits this process's environment.
        """
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                limit=line_limit_bytes,
                # What a terminal's Ctrl-C says is for us: a program that ended by itself would be a failure of ours.
                start_new_session=True,
                env=environment,
            )
        except OSError as error:
            raise MachineError(f"could not start {name} ({command[0]}): {error.strerror}") from error
        return cls(name, process, on_record, on_stderr)

    @property
    def pid(self) -> int:
        """The program's process id."""
        return self._process.pid

    @property
    def running(self) -> bool:
        """Return True when the program has not ended."""
        return self._process.returncode is None

    async def first(self, kind: type[RecordT], timeout_s: float) -> RecordT:
        """Wait for the first record of one kind, e.g. the ready line."""
        future = self._first.setdefault(kind, asyncio.get_running_loop().create_future())
        record = await self._wait(asyncio.shield(future), timeout_s, f"its {kind.__name__}")
        if not isinstance(record, kind):
            raise ResolabError(f"{self.name} wrote a {type(record).__name__} where a {kind.__name__} was due")
        return record

    async def command(self, make: Callable[[int], msgspec.Struct], timeout_s: float = 5.0) -> CommandDoneRecord:
        """Send the command built by `make` for an id and wait until the program has carried out the command."""
        number, self._next_id = self._next_id, self._next_id + 1
        future: asyncio.Future[CommandDoneRecord] = asyncio.get_running_loop().create_future()
        self._waiting[number] = future
        command = make(number)
        stdin = self._process.stdin
        if stdin is None or self._broken or not self.running:
            raise self._build_end_error()
        try:
            stdin.write(msgspec.json.encode(command) + b"\n")
            await stdin.drain()
        except (BrokenPipeError, ConnectionResetError):
            raise self._build_end_error() from None
        done = await self._wait(future, timeout_s, f"the answer to {type(command).__name__}")
        if done.error:
            raise ResolabError(f"{self.name} could not carry out {type(command).__name__}: {done.error}")
        return done

    async def wait(self, timeout_s: float) -> None:
        """Wait for the program's own end; raise the matching error for an exit code other than 0."""
        try:
            await asyncio.wait_for(self._end(), timeout_s)
        except TimeoutError:
            await self.close()
            raise DeadlineError(f"{self.name} did not end within {timeout_s:g} s and was stopped") from None
        if self._process.returncode != 0:
            raise self._build_end_error()

    async def _end(self) -> None:
        await self._process.wait()
        await asyncio.gather(*self._tasks)

    async def close(self, timeout_s: float = 3.0) -> None:
        """End the program: close the standard input, then kill the process by process id after the timeout."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            await asyncio.wait_for(self._process.wait(), timeout_s)
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _wait(self, future: "asyncio.Future[RecordT]", timeout_s: float, what: str) -> RecordT:
        try:
            return await asyncio.wait_for(future, timeout_s)
        except TimeoutError:
            if not self.running:
                raise self._build_end_error() from None
            raise DeadlineError(f"{self.name} did not write {what} within {timeout_s:g} s") from None

    async def _read_records(self) -> None:
        stdout = self._process.stdout
        if stdout is None:
            return
        try:
            while line := await stdout.readline():
                self._take(self._decoder.decode(line))
        except (msgspec.DecodeError, ValueError) as error:
            self._broken = ResolabError(f"{self.name} wrote a line that is no record: {error}")
        await self._process.wait()
        await asyncio.gather(self._tasks[1], return_exceptions=True)
        self._fail_waiting()

    def _take(self, record: Record) -> None:
        if isinstance(record, CommandDoneRecord):
            waiting = self._waiting.pop(record.id, None)
            if waiting is not None and not waiting.done():
                waiting.set_result(record)
            return
        first = self._first.setdefault(type(record), asyncio.get_running_loop().create_future())
        if not first.done():
            first.set_result(record)
        self._on_record(record)

    def _fail_waiting(self) -> None:
        for answer in self._waiting.values():
            _fail(answer, self._build_end_error())
        for first in self._first.values():
            _fail(first, self._build_end_error())
        self._waiting.clear()

    def _build_end_error(self) -> ResolabError:
        if self._broken:
            return self._broken
        code = self._process.returncode
        # Of a refused command line the reason comes first, of everything else last.
        reasons = [line.removeprefix("error: ") for line in self._stderr if line.startswith("error: ")]
        last = next((line for line in [*reasons, *reversed(self._stderr)] if line), "it said nothing")
        error = ERRORS_BY_EXIT_CODE.get(code or 0, ResolabError)
        return error(f"{self.name} ended with exit code {code}: {last.removeprefix('resolab-core: ')}")

    async def _read_stderr(self) -> None:
        stderr = self._process.stderr
        while stderr is not None and (line := await stderr.readline()):
            text = line.decode(errors="replace").strip()
            self._stderr.append(text)
            self._on_stderr(text)


def _fail(future: "asyncio.Future[RecordT]", error: ResolabError) -> None:
    if not future.done():
        future.set_exception(error)
        future.exception()  # Seen: nobody may be waiting any more.
