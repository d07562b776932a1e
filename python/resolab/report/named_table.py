"""A table of a paper's section: with its name, and the same as numbers for a CSV.

For: one shape for both papers. Not for: contents.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from resolab.plots.save import Value
from resolab.report.tables import Table


@dataclass(frozen=True, slots=True)
class NamedTable:
    """A table with its name, title and note, and the same as numbers with units in the columns' names."""

    name: str
    title: str
    table: Table
    rows: Sequence[Mapping[str, Value]]
    note: str
    further: Sequence[tuple[str, Table]] = ()
    """More of the same rows, each with a title, where one table would be too wide for a page."""
