"""Blocks that several sections make alike.

For: missing figures, notes of tables, words of the live network. Not for: the types of blocks (`section`).
"""

from collections.abc import Iterable
from dataclasses import replace

from markupsafe import Markup

from resolab.report.parts.named_table import NamedTable
from resolab.report.parts.tables import Table, rename_live_columns
from resolab.report.plots import Drawing
from resolab.report.sections.reading import Reading
from resolab.report.sections.section import Paragraph, Tone


def show_drawing(drawing: Drawing | None) -> Drawing | Paragraph:
    """Return the figure, or a note in its place."""
    if drawing is not None:
        return drawing
    return Paragraph("Nothing to draw: no finished trial holds these measurements.", Tone.NOTE)


def list_notes(lines: Iterable[str]) -> list[Paragraph]:
    """Return a note for each line."""
    return [Paragraph(line, Tone.NOTE) for line in lines]


def note_with_file(table: NamedTable) -> Paragraph:
    """Return a table's note with the name of its file."""
    return Paragraph(Markup("{} File: <code>figures/{}.csv</code>.").format(table.note, table.name), Tone.NOTE)


def fit_table(reading: Reading, table: Table) -> Table:
    """Adapt a table's columns to the live network, if the dataset is of the live network."""
    return rename_live_columns(table) if reading.is_live else table


def fit_named_table(reading: Reading, named: NamedTable) -> NamedTable:
    """Adapt the columns of a table with a file."""
    return replace(named, table=fit_table(reading, named.table))
