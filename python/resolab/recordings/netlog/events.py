"""Events of a netlog one by one, by name.

For: streaming: of a log of any size a line is in memory at a time, and parameters are decoded only where wanted. Not
for: what events mean together (`reading`).
"""

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import msgspec

from resolab.browser.chromium.netlog_lines import event_text, is_begin, is_last
from resolab.errors import ConfigurationError

BEGIN, END = 1, 2
"""Phases of events that take time (`logEventPhase`)."""
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


class Event:
    """One event."""

    __slots__ = ("_params", "name", "phase", "source", "source_kind", "time_ms")

    def __init__(self, line: _Line, name: str, source_kind: str) -> None:
        self.name, self.source_kind, self.phase, self.source = name, source_kind, line.phase, line.source.id
        self.time_ms = float(line.time)
        self._params = line.params

    def params(self) -> dict[str, Any]:
        """Decode the parameters; what is none of the log's shapes has none."""
        found = msgspec.json.decode(self._params)
        return found if isinstance(found, dict) else {}

    def dependency(self) -> int | None:
        """Return the source this event names beside its own."""
        other = self.params().get("source_dependency")
        found = other.get("id") if isinstance(other, dict) else None
        return found if isinstance(found, int) else None


class EventReader:
    """Reads a file's events, those of the given names."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self.is_cut_off = True
        self.unix_offset_ms: float | None = None

    def events(self, names: frozenset[str]) -> Iterator[Event]:
        """Yield them in the file's order."""
        try:
            with _opened(self._file) as lines:
                constants = self._constants(lines)
                kinds = _named(constants, "logSourceType")
                wanted = {number: name for number, name in _named(constants, "logEventTypes").items() if name in names}
                decoder = msgspec.json.Decoder(_Line)
                for text in lines:
                    line = self._line(text, decoder)
                    if line is not None and line.type in wanted:
                        yield Event(line, wanted[line.type], kinds.get(line.source.type, ""))
                    if is_last(text):
                        self.is_cut_off = False
                        break
        except (OSError, EOFError, zlib.error) as error:
            raise ConfigurationError(f"failed to read netlog {self._file}: {error}") from error

    def _line(self, text: str, decoder: "msgspec.json.Decoder[_Line]") -> _Line | None:
        event = event_text(text)
        if event is None:
            return None
        try:
            line = decoder.decode(event)
            line.time = float(line.time)
        except (msgspec.DecodeError, ValueError):
            return None  # The last line of a file that was cut off.
        return line

    def _constants(self, lines: IO[str]) -> dict[str, Any]:
        head = ""
        for text in lines:
            if is_begin(text):
                break
            head += text
            if len(head) > _HEAD_MAX_CHARACTERS:
                raise self._no_netlog("it does not begin with the names of its events")
        else:
            raise self._no_netlog("it has no events, one a line, as Chromium writes them")
        try:
            found = dict(msgspec.json.decode(head.rstrip().removesuffix(",") + "}")["constants"])
            self.unix_offset_ms = float(found["timeTickOffset"]) if "timeTickOffset" in found else None
        except (msgspec.DecodeError, KeyError, TypeError, ValueError) as error:
            raise self._no_netlog(f"its head cannot be read ({error})") from error
        if not _named(found, "logEventTypes"):
            raise self._no_netlog("its head cannot be read (it names no events)")
        return found

    def _no_netlog(self, problem: str) -> ConfigurationError:
        return ConfigurationError(f"failed to read netlog {self._file}: {problem}; give one of --log-net-log")


def _opened(file: Path) -> IO[str]:
    with file.open("rb") as handle:
        packed = handle.read(2) == _GZIP
    return (
        gzip.open(file, "rt", encoding="utf-8", errors="replace")
        if packed
        else file.open(encoding="utf-8", errors="replace")
    )


def _named(constants: dict[str, Any], table: str) -> dict[int, str]:
    found = constants.get(table)
    told = found.items() if isinstance(found, dict) else ()
    return {number: name for name, number in told if isinstance(number, int)}
