"""The queries of recursive resolvers to the box's authoritative servers, as written by `inside/watch.py`.

For: finding the servers contacted during a look-up, to distinguish hits and misses. Not for: the time of recursion
(`truth`).
"""

import bisect
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from resolab.basics.errors import ConfigurationError


class RecursionQuery(msgspec.Struct, frozen=True, kw_only=True):
    """A query received by an authoritative server."""

    at_ns: int
    """The instant on the monotonic clock, in ns."""
    server: str
    """The host of the server."""
    resolver: str
    """The address of the asking resolver."""
    qname: str
    """The name, in lower case, with the last dot."""
    qtype: str


class RecursionLog:
    """All such queries, indexed by question."""

    def __init__(self, asked: Iterable[RecursionQuery]) -> None:
        self._by_question: dict[tuple[str, str, str], list[RecursionQuery]] = defaultdict(list)
        for one in sorted(asked, key=lambda one: one.at_ns):
            self._by_question[one.resolver, one.qname, one.qtype].append(one)

    def servers(self, resolver: str, qname: str, qtype: str, start_ns: int, end_ns: int) -> tuple[str, ...]:
        """List the servers queried by a resolver for a name between two instants, in order."""
        asked = self._by_question.get((resolver, qname.lower(), qtype), [])
        first = bisect.bisect_left(asked, start_ns, key=lambda one: one.at_ns)
        last = bisect.bisect_right(asked, end_ns, key=lambda one: one.at_ns)
        return tuple(one.server for one in asked[first:last])

    @property
    def count(self) -> int:
        """Return the number of queries."""
        return sum(map(len, self._by_question.values()))


def read_recursion(*box_folders: Path) -> RecursionLog:
    """Read the queries of a box, or of several boxes in sequence; an unfinished last line is left out."""
    return RecursionLog(
        asked for folder in box_folders for file in _list_files(folder) for asked in _read_queries(file)
    )


def _list_files(box_folder: Path) -> list[Path]:
    files = sorted((box_folder / "recursion").glob("*.jsonl"))
    if not files:
        raise ConfigurationError(f"failed to read {box_folder}: it is no folder of a box; give one kept with --folder")
    return files


def _read_queries(file: Path) -> Iterator[RecursionQuery]:
    lines = [line for line in file.read_text("utf-8", errors="replace").splitlines(keepends=True) if line[-1] == "\n"]
    if not lines or not lines[0].startswith('{"watching"'):
        raise ConfigurationError(
            f"no hits and misses by {file}: nobody watched it, which takes raw sockets: bring the box up as root"
        )
    yield from (msgspec.json.decode(line, type=RecursionQuery) for line in lines[1:])
