"""The end of a command: any error becomes one line and an exit code, for any output.

For: the only place converting exceptions, closed streams and full disks to messages. Not for: the list of errors
(`resolab.basics.errors`) or any command's work.
"""

import io
import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TextIO

from resolab.basics.errors import ConfigurationError, MachineError, ResolabError, UsageError, is_interruption
from resolab.basics.wording import clean

EXIT_INTERRUPTED, EXIT_BROKEN_PIPE = 130, 141
_STREAMS = (0, 1, 2)
_OTHERS: tuple[tuple[type[BaseException], type[ResolabError], str], ...] = (
    (MemoryError, MachineError, "there is not enough memory for it: free some, or give it less at a time"),
    (RecursionError, ConfigurationError, "what was given is nested too deeply to be read"),
    (UnicodeEncodeError, UsageError, "a word or a file's name is no text: {}"),
)


class TrackedOutput(io.TextIOWrapper):
    """A standard output with a memory of failed writes, even when the error is caught elsewhere."""

    problem: OSError | None = None

    @classmethod
    def from_stream(cls, stream: io.TextIOWrapper) -> "TrackedOutput":
        """Replace the interpreter's own stream, with the same encoding and settings."""
        below = open(stream.fileno(), "wb", 0 if stream.write_through else -1, closefd=False)  # noqa: SIM115
        return cls(
            below,
            stream.encoding,
            stream.errors,
            line_buffering=stream.line_buffering,
            write_through=stream.write_through,
        )

    def write(self, text: str, /) -> int:
        """Write text, noting any error."""
        with self._note_problem():
            return super().write(text)

    def flush(self) -> None:
        """Flush the stream, noting any error."""
        with self._note_problem():
            super().flush()

    @contextmanager
    def _note_problem(self) -> Iterator[None]:
        try:
            yield
        except OSError as problem:
            self.problem = problem
            raise


class LossyOutput(TrackedOutput):
    """A standard error ignoring failed writes: no result is lost for a message."""

    @contextmanager
    def _note_problem(self) -> Iterator[None]:
        with suppress(OSError):
            yield

    def write(self, text: str, /) -> int:
        """Write text, ignoring any error."""
        with self._note_problem():
            super().write(text)
        return len(text)


def begin_streams() -> None:
    """Make the three streams usable; raises `MachineError` when the output has no reader.

    A closed stream is replaced by the null device. Otherwise the next opened file would get the stream's number, and
    children would write into the file.
    """
    is_closed = sys.stdout is None
    for number in _STREAMS:
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # noqa: FBT003 - its own signature
    if sys.stdin is None:
        sys.stdin = open(0, encoding="utf-8")  # noqa: SIM115 - for as long as the process
    sys.stdout, sys.stderr = _usable(sys.stdout, 1, TrackedOutput), _usable(sys.stderr, 2, LossyOutput)
    if is_closed:
        raise MachineError("standard output is closed: nobody could read what is said; send it to a file or /dev/null")


def _usable(stream: TextIO | None, number: int, kind: type[TrackedOutput]) -> TextIO:
    """Return a stream escaping characters not in its encoding; a stream of another type, as in a test, is unchanged."""
    stream = stream or open(number, "w", encoding="utf-8")  # noqa: SIM115 - for as long as the process
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")
    return kind.from_stream(stream) if type(stream) is io.TextIOWrapper else stream


def end(error: BaseException | None, code: int = 0) -> int:
    """Print the error, if any, and return the exit code."""
    problem = _flush(sys.stdout)
    code = _report_end(error, code, problem)
    _flush(sys.stderr)
    return code


def _report_end(error: BaseException | None, code: int, problem: OSError | None) -> int:
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    if error is None or isinstance(error, SystemExit):
        asked = error.code if isinstance(error, SystemExit) else code
        code = asked if isinstance(asked, int) else 0 if asked is None else 1
        error = problem if code == 0 else None
    if error is None:
        return code
    if isinstance(error, BrokenPipeError):
        # The reader has gone, as `head` does.
        return EXIT_BROKEN_PIPE
    if is_interruption(error):
        _complain("interrupted")
        return EXIT_INTERRUPTED
    told = _convert_error(error, problem)
    if told is None:
        with suppress(OSError):
            traceback.print_exception(error)
        told = ResolabError(
            f"{type(error).__name__}: {error}; this is a defect of resolab's: please report what is above"
        )
    _complain(clean(" ".join(str(told).split())))
    return told.exit_code


def _flush(stream: TextIO) -> OSError | None:
    """Write the rest of a stream; after a failure send the stream to the null device, so nothing fails at exit."""
    problem = stream.problem if isinstance(stream, TrackedOutput) else None
    try:
        stream.flush()
    except OSError as error:
        problem = problem or error
    if problem is not None:
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    return problem


def _convert_error(error: BaseException, problem: OSError | None) -> ResolabError | None:
    """Return a `ResolabError` for a foreign error; `None` for errors raised only by a defect."""
    if isinstance(error, ResolabError):
        return error
    if isinstance(error, OSError):
        what = f"read or write {error.filename}" if error.filename is not None else "reach what it needs"
        what = "write standard output" if problem is not None else what
        return MachineError(f"failed to {what}: {(problem or error).strerror or error}")
    return next((kind(words.format(error)) for of, kind, words in _OTHERS if isinstance(error, of)), None)


def _complain(line: str) -> None:
    with suppress(OSError):
        print(f"resolab: {line}", file=sys.stderr, flush=True)
