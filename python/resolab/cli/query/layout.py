"""The columns beside a bar of phases, as far as the width allows. Not for: the columns' content."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich.console import Group, JustifyMethod, RenderableType
from rich.table import Table
from rich.text import Text

from resolab.cli.query.bar import legend
from resolab.extras.queries import QueryPhase

BAR_LEAST, BAR_MOST = 12, 40
TEXT_LEAST, TEXT_MOST = 14, 44
GAP = 2
WIRE = "wire: query to response by the kernel's stamps, without the time to wake this program"


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column, left out when there is no room; columns of a higher rank go first."""

    title: str
    cells: Sequence[Text]
    right: bool = False
    rank: int = 0

    @property
    def width(self) -> int:
        """Return the width of the widest line, or the folding width of text if smaller."""
        lines = [line for cell in self.cells for line in cell.plain.splitlines()]
        widest = max(map(len, [self.title, *lines]))
        return widest if self.right else min(widest, TEXT_MOST)

    @property
    def least(self) -> int:
        """Return the minimum width: text may be folded, numbers not."""
        return self.width if self.right else min(self.width, TEXT_LEAST)

    @property
    def is_empty(self) -> bool:
        """Return True when all cells are empty."""
        return not any(cell.plain for cell in self.cells)


def lay_out(columns: Sequence[TableColumn], bars: Sequence[Callable[[int], Text]], width: int) -> RenderableType:
    """Make the table; columns without content or room are left out, then the bar, then the table."""
    full = [column for column in columns if not column.is_empty]
    shown = full
    while _room(shown, width) < BAR_LEAST and any(column.rank for column in shown):
        highest = max(column.rank for column in shown)
        shown = [column for column in shown if column.rank != highest]
    foldable = sum(column.width - column.least for column in shown)
    room = _room(shown, width)
    if room + foldable < 0:
        return _blocks(full, bars, width)
    bar_width = min(BAR_MOST, max(BAR_LEAST, room)) if room + foldable >= BAR_LEAST else 0
    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold")
    for column in shown:
        justify: JustifyMethod = "right" if column.right else "left"
        table.add_column(
            column.title,
            justify=justify,
            overflow="fold",
            no_wrap=column.right,
            min_width=column.least,
            max_width=column.width,
        )
    if bar_width:
        table.add_column("phases", no_wrap=True, min_width=bar_width)
    for index, draw in enumerate(bars):
        cells = [column.cells[index] for column in shown]
        table.add_row(*cells, *([draw(bar_width)] if bar_width else []))
    return table


def _room(columns: Sequence[TableColumn], width: int) -> int:
    return width - sum(column.width + GAP for column in columns)


def _blocks(columns: Sequence[TableColumn], bars: Sequence[Callable[[int], Text]], width: int) -> RenderableType:
    """Write each row below the previous row, with a line for each cell."""
    lines = []
    for index, draw in enumerate(bars):
        filled = [column for column in columns if column.cells[index].plain]
        lines += [Text.assemble((f"{column.title}: ", "bold"), column.cells[index]) for column in filled]
        lines += [draw(min(width, BAR_MOST)), Text("")]
    return Group(*lines[:-1])


def add_legend(table: RenderableType, phases: set[QueryPhase], *, wire: bool) -> RenderableType:
    """Add the explanation of letters and wire times below a table."""
    lines: list[RenderableType] = [table]
    if phases:
        lines.append(Text.assemble("\nphases: ", legend(phases)))
    if wire:
        lines.append(Text(WIRE, "dim"))
    return Group(*lines)
