"""Columns made of others of their row, so that everybody makes them alike.

For: what a browser's own instants do not say by themselves. Not for: outcomes, which decide (`outcomes`).
"""

from collections.abc import Callable, Mapping
from typing import Any

from resolab.records import look_up_ms

Row = Mapping[str, Any]
LOOK_UP = (
    "How long the look-up of the document's name took: domainLookupStart to domainLookupEnd; in Firefox from "
    "fetchStart, as it waits for the HTTPS record before its domainLookupStart."
)
DERIVED: Mapping[str, Mapping[str, tuple[str, str, Callable[[Row], Any]]]] = {
    "page_loads": {
        "look_up_ms": (
            "DOUBLE",
            LOOK_UP,
            lambda row: look_up_ms(
                row["browser"], row["fetch_start_ms"], row["domain_lookup_start_ms"], row["domain_lookup_end_ms"]
            ),
        )
    }
}
"""By table and column: DuckDB type, meaning, and how it is made of the row's record."""
