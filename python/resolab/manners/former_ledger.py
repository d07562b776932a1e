"""The ledger as former versions kept it: a file of JSON lines, `ledger.jsonl`.

For: taking its lines over once, so that nobody who was contacted or who asked to be left alone is forgotten. Not for:
writing such lines.

A line that was cut short was written by a process that ended before it contacted anybody, so nothing is lost with it;
the whole line that a later process appended right behind it counts.
"""

import fcntl
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from resolab.manners.stop import LEFT_ALONE_AT_MOST_S, StopReason

FORMER_LEDGER, FORMER_LOCK = "ledger.jsonl", "ledger.lock"
_BEGIN = b'{"what":'
Rows = list[dict[str, Any]]


class LoadLine(msgspec.Struct, frozen=True, kw_only=True, tag_field="what", tag="load"):
    """A page load that began."""

    at_s: float
    site: str


class QueriesLine(msgspec.Struct, frozen=True, kw_only=True, tag_field="what", tag="queries"):
    """Queries to a resolver, or a correction of their number, with the instant of what it corrects."""

    at_s: float
    resolver: str
    queries_count: int
    paced: bool = False


class StopLine(msgspec.Struct, frozen=True, kw_only=True, tag_field="what", tag="stop"):
    """A site or a resolver wants to be left alone."""

    at_s: float
    reason: StopReason
    until_s: float | None
    """Null where a site asked for longer than a number can say."""
    run: str
    site: str | None = None
    resolver: str | None = None
    detail: str = ""


_TABLES = {"load": "loads", "queries": "queries", "stop": "stops"}
_DECODER = msgspec.json.Decoder(LoadLine | QueriesLine | StopLine)


@contextmanager
def former_lines(folder: Path) -> Iterator[Mapping[str, Rows]]:
    """Give the rows of the former file by their tables, and remove it once they were taken; none where it is not."""
    file = folder / FORMER_LEDGER
    if not file.exists():
        yield {}
        return
    with (folder / FORMER_LOCK).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        # Somebody else may have taken it meanwhile.
        yield _rows(file.read_bytes()) if file.exists() else {}
        file.unlink(missing_ok=True)


def _rows(content: bytes) -> dict[str, Rows]:
    found: dict[str, Rows] = defaultdict(list)
    for piece in content.replace(_BEGIN, b"\n" + _BEGIN).splitlines():
        try:
            line = _DECODER.decode(piece)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            continue
        row = msgspec.to_builtins(line)
        table = _TABLES[row.pop("what")]
        if isinstance(line, StopLine):
            row["until_s"] = min(line.until_s or line.at_s + LEFT_ALONE_AT_MOST_S, line.at_s + LEFT_ALONE_AT_MOST_S)
        found[table].append(row)
    return found
