"""One trial's part of a log of Chromium's network stack; a browser process writes one log over all of its trials.

For: cutting by time; netlog viewers open the part like the whole log. Not for: interpreting the events.

Chromium stamps events with TimeTicks in ms. On Linux, TimeTicks are `CLOCK_MONOTONIC`.
"""

import json
from collections.abc import Iterable, Iterator

from resolab.browser.chromium.netlog.lines import event_text, is_begin

_MS_NS = 1_000_000


def cut(lines: Iterable[str], since_ns: int, until_ns: int) -> Iterator[str]:
    """Yield the log's head, the events between two instants of `CLOCK_MONOTONIC`, and an end."""
    first_ms, last_ms = since_ns // _MS_NS, -(-until_ns // _MS_NS)
    separator = ""
    in_events = False
    for line in lines:
        if not in_events:
            yield line
            in_events = is_begin(line)
            continue
        event = _event(line)
        if event is not None and first_ms <= int(str(event.get("time", -1))) <= last_ms:
            yield separator + json.dumps(event, separators=(",", ":"))
            separator = ",\n"
    yield "]}\n" if in_events else ""


def _event(line: str) -> dict[str, object] | None:
    text = event_text(line)
    if text is None:
        return None
    try:
        read = json.loads(text)
    except ValueError:
        return None
    return read if isinstance(read, dict) else None
