"""The lines of the ledger's file, one JSON object each, told apart by `what`.

For: their shapes. Not for: what follows from them (`counts`, `refusals`). Instants are seconds of the wall clock.
"""

import msgspec

from resolab.manners.stop import StopReason


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
    """Asked one after the other with the caps' pause between them, beginning at `at_s`."""


class StopLine(msgspec.Struct, frozen=True, kw_only=True, tag_field="what", tag="stop"):
    """A site or a resolver wants to be left alone."""

    at_s: float
    reason: StopReason
    until_s: float
    """For everybody; for the run that was told so, for good."""
    run: str
    site: str | None = None
    resolver: str | None = None
    detail: str = ""


Line = LoadLine | QueriesLine | StopLine
DECODER = msgspec.json.Decoder(Line)


def encoded(line: Line) -> bytes:
    """Write one line."""
    return msgspec.json.encode(line) + b"\n"
