"""A table for a terminal; without enough room, the table becomes labelled lines.

For: rows of a text and numbers under headings. Not for: their content.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

LABEL_LEAST = 20
"""The smallest width for folding a row's label."""
_GAP = 2


@dataclass(frozen=True, slots=True)
class TerminalTable:
    """Rows of cells; a row with a single cell is a heading of the rows below."""

    title: str
    columns: Sequence[str]
    texts: frozenset[int]
    """Positions of the columns with text instead of numbers."""
    rows: Sequence[Sequence[str]]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Lay the table out for a console's width."""
        if self._least <= options.max_width:
            yield self._table()
        else:
            yield from self._lines()

    @property
    def _least(self) -> int:
        cells = [row for row in (self.columns, *self.rows) if len(row) > 1]
        widest = [max(len(row[index]) for row in cells) for index in range(len(self.columns))]
        return min(widest[0], LABEL_LEAST) + sum(widest[1:]) + _GAP * (len(widest) - 1)

    def _table(self) -> Table:
        table = Table(title=self.title, title_justify="left", box=None, pad_edge=False)
        for index, column in enumerate(self.columns):
            table.add_column(column, justify="left" if index in self.texts else "right", no_wrap=index > 0)
        for row in self.rows:
            table.add_row(*(row if len(row) > 1 else (Text(row[0], style="bold"),)))
        return table

    def _lines(self) -> Iterator[Text]:
        yield Text(self.title, style="italic")
        for label, *cells in self.rows:
            yield Text(label.strip() if cells else label, style="" if cells else "bold")
            for column, cell in zip(self.columns[1:], cells, strict=False):
                if cell.strip():
                    yield Text(f"  {column}: {cell.strip()}")
