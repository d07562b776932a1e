"""A table of a section with its name, and with its values as numbers for a CSV.

For: a common type for both papers. Not for: contents.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from resolab.report.parts.tables import Table
from resolab.report.plots.save import Value


@dataclass(frozen=True, slots=True)
class NamedTable:
    """A table with its name, title and note, and its values as numbers with units in the columns' names."""

    name: str
    title: str
    table: Table
    rows: Sequence[Mapping[str, Value]]
    note: str
    further: Sequence[tuple[str, Table]] = ()
    """Further tables of the same rows, each with a title, when a single table is too wide for a page."""
