"""The ledger of earlier versions: a file of JSON lines, `ledger.jsonl`.

For: importing the lines once, so all contacts and requests to be left alone stay known. Not for: writing such lines.

A truncated line was written by a process terminated before any contact, so nothing is lost. A whole line appended
directly behind a truncated line by a later process counts.
"""

import fcntl
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from resolab.plan.manners.stop import LEFT_ALONE_AT_MOST_S, StopReason

FORMER_LEDGER, FORMER_LOCK = "ledger.jsonl", "ledger.lock"
_BEGIN = b'{"what":'
Rows = list[dict[str, Any]]


class LoadLine(msgspec.Struct, frozen=True, kw_only=True, tag_field="what", tag="load"):
    """A line for the start of a page load."""

    at_s: float
    site: str


class QueriesLine(msgspec.Struct, frozen=True, kw_only=True, tag_field="what", tag="queries"):
    """A line for queries to a resolver, or for a correction of their number at the instant of the corrected line."""

    at_s: float
    resolver: str
    queries_count: int
    paced: bool = False


class StopLine(msgspec.Struct, frozen=True, kw_only=True, tag_field="what", tag="stop"):
    """A line for a site or a resolver asking to be left alone."""

    at_s: float
    reason: StopReason
    until_s: float | None
    """The end of the stop; null when a site asked for more time than a number can hold."""
    run: str
    site: str | None = None
    resolver: str | None = None
    detail: str = ""


_TABLES = {"load": "loads", "queries": "queries", "stop": "stops"}
_DECODER = msgspec.json.Decoder(LoadLine | QueriesLine | StopLine)


@contextmanager
def former_lines(folder: Path) -> Iterator[Mapping[str, Rows]]:
    """Yield the rows of the former file by table, and remove the file afterwards; yield no rows without a file."""
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
