"""The lines of a log of Firefox's.

For: the one place that knows how a line is laid out. Not for: what it says (`reading`).
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime

_LINE = re.compile(
    r"(?P<at>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}) UTC - \[(?P<process>[^\]:]+): (?P<thread>[^\]]+)\]: "
    r"[EWIDV]/(?P<module>\S+) (?P<text>.*)"
)
SOCKET_THREAD = "Socket Thread"
"""All connections are served by one thread, so that its lines stand in the order of what happened."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line."""

    unix_ms: float
    module: str
    text: str
    is_sockets: bool = True
    """Whether it is of the thread of connections."""


def line_of(text: str) -> Line | None:
    """Read a line; `None`: it is the further part of another one."""
    found = _LINE.match(text)
    if found is None:
        return None
    at = datetime.strptime(found["at"], "%Y-%m-%d %H:%M:%S.%f").replace(tzinfo=UTC)
    return Line(at.timestamp() * 1000, found["module"], found["text"], found["thread"] == SOCKET_THREAD)
