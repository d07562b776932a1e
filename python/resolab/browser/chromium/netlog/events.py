"""The events of a netlog in sequence, by name.

For: streaming: with a log of any size, only one line is in memory. Parameters are decoded only on request. Not for: the
joint meaning of events (`reader`).
"""

import gzip
import io
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import msgspec

from resolab.basics.errors import ConfigurationError
from resolab.browser.chromium.netlog.lines import event_text, is_begin, is_last

BEGIN, END = 1, 2
"""Phases of events with a duration (`logEventPhase`)."""
_GZIP = b"\x1f\x8b"
_HEAD_MAX_CHARACTERS = 16 << 20
_NO_PARAMETERS = msgspec.Raw(b"{}")


class _Source(msgspec.Struct):
    id: int
    type: int = 0


class _Line(msgspec.Struct):
    source: _Source
    type: int
    phase: int = 0
    time: str | float = 0.0
    params: msgspec.Raw = _NO_PARAMETERS


class NetlogEvent:
    """One event of a netlog."""

    __slots__ = ("_params", "name", "phase", "source", "source_kind", "time_ms")

    def __init__(self, line: _Line, name: str, source_kind: str) -> None:
        self.name, self.source_kind, self.phase, self.source = name, source_kind, line.phase, line.source.id
        self.time_ms = float(line.time)
        self._params = line.params

    def params(self) -> dict[str, Any]:
        """Decode the parameters; a value with an unknown shape has no parameters."""
        try:
            found = msgspec.json.decode(self._params)
        except RecursionError:
            return {}
        return found if isinstance(found, dict) else {}

    def dependency(self) -> int | None:
        """Return the second source named by this event, beside the event's own."""
        other = self.params().get("source_dependency")
        found = other.get("id") if isinstance(other, dict) else None
        return found if isinstance(found, int) else None


class Head:
    """A log's head: events, sources and errors by number, and the log's clock."""

    def __init__(self, text: str) -> None:
        """Read the head; raise `ValueError` with the fault found."""
        try:
            constants: dict[str, Any] = dict(msgspec.json.decode(text.rstrip().removesuffix(",") + "}")["constants"])
            has_clock = "timeTickOffset" in constants
            self.unix_offset_ms = float(constants["timeTickOffset"]) if has_clock else None
        except (msgspec.DecodeError, KeyError, TypeError, ValueError, RecursionError) as error:
            raise ValueError(f"its head cannot be read ({error})") from error
        self._names = _invert_table(constants, "logEventTypes")
        self._kinds = _invert_table(constants, "logSourceType")
        self.errors = _invert_table(constants, "netError")
        if not self._names:
            raise ValueError("its head cannot be read (it names no events)")

    def decoder(self, names: frozenset[str]) -> "EventDecoder":
        """Make the decoder for the events with the given names."""
        return EventDecoder({number: name for number, name in self._names.items() if name in names}, self._kinds)


class EventDecoder:
    """Makes events of lines."""

    def __init__(self, wanted: dict[int, str], kinds: dict[int, str]) -> None:
        self._wanted, self._kinds = wanted, kinds
        self._decoder = msgspec.json.Decoder(_Line)
        self.broken_count = 0
        """The number of lines that are no events, the last one of a cut-off file included."""

    def event(self, text: str) -> NetlogEvent | None:
        """Return the event of a line; `None` without a wanted event, or for a broken line."""
        line = self._line(text)
        if line is None or line.type not in self._wanted:
            return None
        return NetlogEvent(line, self._wanted[line.type], self._kinds.get(line.source.type, ""))

    def _line(self, text: str) -> _Line | None:
        event = event_text(text)
        if event is None:
            self.broken_count += bool(text.strip().strip("[]{},"))
            return None
        try:
            line = self._decoder.decode(event)
            line.time = float(line.time)
        except (msgspec.DecodeError, ValueError, RecursionError):
            self.broken_count += 1
            return None
        return line


def read_head(lines: Iterable[str]) -> Head:
    """Read lines up to the first event; raise `ValueError` with the fault found."""
    text = ""
    for line in lines:
        if is_begin(line):
            return Head(text)
        text += line
        if len(text) > _HEAD_MAX_CHARACTERS:
            raise ValueError("it does not begin with the names of its events")
    raise ValueError("it has no events, one a line, as Chromium writes them")


def no_netlog(file: Path, problem: object) -> ConfigurationError:
    """Make the one-line error for a file without a valid netlog."""
    return ConfigurationError(f"failed to read netlog {file}: {problem}; give one of --log-net-log")


class EventReader:
    """Reads a file's events with the given names."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self.is_cut_off = True
        self.is_damaged = False
        """True, after reading, for lines that are no events, or a wrong checksum."""
        self.head: Head | None = None

    def events(self, names: frozenset[str]) -> Iterator[NetlogEvent]:
        """Yield the events in the file's order; read a truncated or damaged gzip file as far as possible."""
        try:
            with _open_once(self._file) as lines:
                self.head = self._head(lines)
                yield from self._events(lines, self.head.decoder(names))
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            self.is_damaged |= not isinstance(error, EOFError)
            if self.head is None:
                raise ConfigurationError(f"failed to read netlog {self._file}: {error}") from error
        except OSError as error:
            raise ConfigurationError(f"failed to read netlog {self._file}: {error.strerror or error}") from error

    def _events(self, lines: IO[str], decoder: EventDecoder) -> Iterator[NetlogEvent]:
        for text in lines:
            broken_before = decoder.broken_count
            event = decoder.event(text)
            # The last line of a file that was cut off is broken without damage.
            self.is_damaged |= broken_before > 0
            if event is not None:
                yield event
            if is_last(text):
                self.is_cut_off = False
                self.is_damaged |= decoder.broken_count > 0
                _read_checksum(lines)
                break

    def _head(self, lines: IO[str]) -> Head:
        try:
            return read_head(lines)
        except ValueError as problem:
            raise no_netlog(self._file, problem) from problem


@contextmanager
def _open_once(file: Path) -> Iterator[IO[str]]:
    """Open the file once; this works for a pipe too."""
    with file.open("rb") as handle:
        if handle.peek(len(_GZIP))[: len(_GZIP)] == _GZIP:
            with gzip.open(handle, "rt", encoding="utf-8", errors="replace") as lines:
                yield lines
        else:
            yield io.TextIOWrapper(handle, encoding="utf-8", errors="replace")


def _read_checksum(lines: IO[str]) -> None:
    """Read to the end: only there gzip compares the checksum. What follows a whole member is none of the log's."""
    try:
        while lines.read(1 << 20):
            pass
    except gzip.BadGzipFile as error:
        if not str(error).startswith("Not a gzipped file"):
            raise


def _invert_table(constants: dict[str, Any], table: str) -> dict[int, str]:
    found = constants.get(table)
    told = found.items() if isinstance(found, dict) else ()
    return {number: name for name, number in told if isinstance(number, int)}
