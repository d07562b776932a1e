"""Columns computed from other columns of the row, for one common definition.

For: quantities missing in a browser's own instants. Not for: outcomes, used for decisions (`outcomes`).
"""

from collections.abc import Callable, Mapping
from typing import Any

from resolab.basics.records import look_up_ms

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
                row["browser_kind"] or row["browser"],
                row["fetch_start_ms"],
                row["domain_lookup_start_ms"],
                row["domain_lookup_end_ms"],
            ),
        )
    }
}
"""By table and column: DuckDB type, meaning, and the function computing the value from the row's record."""
