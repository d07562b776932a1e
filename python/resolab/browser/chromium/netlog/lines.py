"""The lines of a log of Chromium's network stack (`--log-net-log`, chrome://net-export): a head, then an event a line.

For: the only knowledge of the file's layout; growing or truncated files are read up to their last line. Not for: the
meaning of events (`events`, `reader`), or the choice of events (`evidence.netlog`).
"""

EVENTS_BEGIN = '"events": ['
"""The line between the head and the events; the head maps events from number to name."""


def is_begin(line: str) -> bool:
    """Return True when the head ends at this line."""
    return line.strip() == EVENTS_BEGIN


def event_text(line: str) -> str | None:
    """Return an event's JSON; the last event is followed by other content, and may be cut off."""
    text = line.strip().removesuffix("]}").removesuffix("],").rstrip().removesuffix(",")
    return text if text.startswith("{") else None


def is_last(line: str) -> bool:
    """Return True when no event follows. A file without such a line was cut off, or is still being written."""
    return line.strip().endswith(("],", "]}"))
