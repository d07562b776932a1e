"""Numbers and words of queries as `resolab query` writes them. Not for: where they stand."""

import math

from rich.text import Text

from resolab.records import ConnectionState, QueryRecord
from resolab.wording import clean

HELD_LEAST_RTT_NS = 2_000_000
"""Half a round trip tells a query that was held from one that was answered at once; on a path as short as this machine
half of one is computing."""


def handshake(record: QueryRecord) -> str:
    """Name the handshake that happened, and what is to be known about it."""
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
    """Write a time in milliseconds."""
    return "" if nanoseconds is None else number(nanoseconds / 1e6)


def number(milliseconds: float | None) -> str:
    """Write milliseconds with four digits or so."""
    if milliseconds is None:
        return ""
    if math.isinf(milliseconds):
        return "inf"
    digits = 3 if abs(milliseconds) < 10 else 2 if abs(milliseconds) < 100 else 1
    return f"{milliseconds:.{digits}f}"


def signed(milliseconds: float) -> str:
    """Write a difference."""
    return ("-" if milliseconds < 0 else "+") + number(abs(milliseconds))


def plain(words: str) -> Text:
    """Take words that may come from elsewhere as they are."""
    return Text(clean(words))
