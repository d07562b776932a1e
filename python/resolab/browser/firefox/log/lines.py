"""The lines of a Firefox log.

For: the only knowledge of a line's layout. Not for: the meaning of a line (`reader`).
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime

_LINE = re.compile(
    r"(?P<at>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}) UTC - \[(?P<process>[^\]:]+): (?P<thread>[^\]]+)\]: "
    r"[EWIDV]/(?P<module>\S+) (?P<text>.*)"
)
SOCKET_THREAD = "Socket Thread"
"""One thread serves all connections, so its lines are in the order of the events."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the log, with time, module and text."""

    unix_ms: float
    module: str
    text: str
    is_sockets: bool = True
    """True for lines of the thread of connections."""


def read_line(text: str) -> Line | None:
    """Read a line; `None` for the continuation of another line."""
    found = _LINE.match(text)
    if found is None:
        return None
    at = datetime.strptime(found["at"], "%Y-%m-%d %H:%M:%S.%f").replace(tzinfo=UTC)
    return Line(at.timestamp() * 1000, found["module"], found["text"], found["thread"] == SOCKET_THREAD)
