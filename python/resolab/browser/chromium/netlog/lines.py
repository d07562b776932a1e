"""The lines of a log of Chromium's network stack (`--log-net-log`, chrome://net-export): a head, then an event a line.

For: the one place that knows how such a file is laid out; files still written or cut off are read as far as they go.
Not for: what events say (`events`, `reading`), or which of them are wanted (`evidence.netlog`).
"""

EVENTS_BEGIN = '"events": ['
"""The line between the head, which names events by number, and the events."""


def is_begin(line: str) -> bool:
    """Whether the head ends here."""
    return line.strip() == EVENTS_BEGIN


def event_text(line: str) -> str | None:
    """Return an event's JSON; the last one is followed by other things, and may be cut off."""
    text = line.strip().removesuffix("]}").removesuffix("],").rstrip().removesuffix(",")
    return text if text.startswith("{") else None


def is_last(line: str) -> bool:
    """Whether this event is followed by no other: a file without such a line was cut off, or is still written."""
    return line.strip().endswith(("],", "]}"))
