"""The lines in place of a section's parts whose tables a published folder lacks.

For: saying so at the place of the part, with the published files that stand in its place. Not for: finding the missing
tables (`store.Dataset.missing_tables`).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from resolab.report.sections.reading import Reading
from resolab.report.sections.section import Paragraph, Tone

AS_PUBLISHED = "as_published.html"
"""The sentences and tables of the report as published, without its figures."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a section: its words, the tables behind it, and the published places of its content."""

    words: str
    tables: Sequence[str]
    files: Sequence[str] = ()
    """Names of the figures and tables with published files."""
    anchor: str = ""
    """The section of the page as published with this part."""


def note_missing(reading: Reading, *parts: Part) -> list[Paragraph]:
    """Return a line for each part without all of its tables."""
    return [Paragraph(_line(reading, one), Tone.NOTE) for one in parts if reading.lacks(one.tables)]


def _line(reading: Reading, part: Part) -> str:
    missing = [table for table in part.tables if table in reading.findings.missing_tables]
    noun = "table" if len(missing) == 1 else "tables"
    line = f"{part.words}: left out, as this published folder has no {noun} {', '.join(missing)}."
    files = [f"figures/{name}.{ending}" for name in part.files for ending in ("csv", "svg")]
    kept = [file for file in files if (reading.folder / file).is_file()]
    if part.anchor and (reading.folder / AS_PUBLISHED).is_file():
        kept.insert(0, f"{AS_PUBLISHED}, section {part.anchor}")
    return f"{line} As published: {'; '.join(kept)}." if kept else line
