"""The shape of every section of a report, and the blocks of its content.

For: one type for the sections of all datasets and of studies. Not for: any section, or the look of a block
(`pages/templates/blocks.html.j2`).
"""

import enum
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from resolab.report.parts.named_table import NamedTable
from resolab.report.parts.tables import Table
from resolab.report.plots import Drawing
from resolab.report.sections.reading import Reading


class Tone(enum.StrEnum):
    """The look of a paragraph or a title; each is a class of the style sheet."""

    NONE = ""
    PLAIN = "plain"
    NOTE = "note"
    GOOD = "good"
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph; text of the type `Markup` keeps its elements."""

    text: str
    tone: Tone = Tone.NONE


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading within a section."""

    text: str


@dataclass(frozen=True, slots=True)
class Bullets:
    """A list of sentences."""

    sentences: Sequence[str]


@dataclass(frozen=True, slots=True)
class Facts:
    """Names with values, as a table without headings."""

    rows: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Definitions:
    """Terms with their explanations."""

    rows: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Listing:
    """Text with its own line breaks."""

    text: str


@dataclass(frozen=True, slots=True)
class Folded:
    """Blocks behind a title that opens them."""

    title: str
    blocks: Sequence["Block"]


Block = Paragraph | Heading | Bullets | Facts | Definitions | Listing | Folded | Table | NamedTable | Drawing


@dataclass(frozen=True, slots=True)
class SectionContent:
    """The content of a section; a section without blocks is left out of the page."""

    blocks: Sequence[Block]
    title: str = ""
    """A title from the data, in place of the section's own."""
    tone: Tone = Tone.NONE
    """The look of the title."""
    is_open: bool = False
    files: Sequence[NamedTable] = ()
    """Tables written as CSV files and shown in another block, or not at all."""

    @property
    def drawings(self) -> list[Drawing]:
        """The figures among the blocks."""
        return [one for one in _flatten(self.blocks) if isinstance(one, Drawing)]

    @property
    def tables(self) -> list[NamedTable]:
        """The tables with a CSV file."""
        return [*self.files, *(one for one in _flatten(self.blocks) if isinstance(one, NamedTable))]


def _flatten(blocks: Iterable[Block]) -> Iterator[Block]:
    for one in blocks:
        yield from _flatten(one.blocks) if isinstance(one, Folded) else (one,)


def _always(_reading: Reading) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Section:
    """A section of the page: the datasets it applies to, and its content from a reading."""

    id: str
    title: str
    build: Callable[[Reading], SectionContent]
    applies: Callable[[Reading], bool] = _always
    link: str = ""
    """The words of the section in the page's navigation; without words there is no link."""
    follows: str = "paths"
    """Of a study's section: the section before it in the page."""
