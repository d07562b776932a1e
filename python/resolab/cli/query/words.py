"""The numbers and words of queries in the output of `resolab query`. Not for: their position."""

import math

from rich.text import Text

from resolab.basics.records import ConnectionState, QueryRecord
from resolab.basics.wording import clean

HELD_LEAST_RTT_NS = 2_000_000
"""The minimum round trip time for telling held from immediately answered queries, in ns. The difference is half a round
trip. On a path inside this machine, half a round trip is computing time."""


def handshake(record: QueryRecord) -> str:
    """Return the actual handshake mode, with remarks."""
    if record.handshake_mode is None:
        return ""
    happened, asked = record.handshake_mode, record.requested_handshake_mode
    if record.connection is ConnectionState.WARM:
        return f"{happened.value} (warm)"
    if record.answered_early is False and (record.connection_min_rtt_ns or 0) >= HELD_LEAST_RTT_NS:
        return f"{happened.value} (held)"
    if asked not in {None, happened} and asked is not None:
        return f"{happened.value} (not {asked.value})"
    return happened.value


def ms(nanoseconds: int | None) -> str:
    """Format a time in milliseconds."""
    return "" if nanoseconds is None else number(nanoseconds / 1e6)


def number(milliseconds: float | None) -> str:
    """Format milliseconds with about four digits."""
    if milliseconds is None:
        return ""
    if math.isinf(milliseconds):
        return "inf"
    digits = 3 if abs(milliseconds) < 10 else 2 if abs(milliseconds) < 100 else 1
    return f"{milliseconds:.{digits}f}"


def format_signed(milliseconds: float) -> str:
    """Format a difference with its sign."""
    return ("-" if milliseconds < 0 else "+") + number(abs(milliseconds))


def plain(words: str) -> Text:
    """Return foreign words as text without markup."""
    return Text(clean(words))
