"""The results of a visit on a screen: a sentence, the resolvers, the pages. Not for: the verdicts."""

from collections.abc import Callable, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from resolab.basics.protocols import find_facts
from resolab.basics.wording import clean
from resolab.cli.query.layout import GAP, TableColumn
from resolab.cli.visit.words import VERDICTS, difference, failures, headline, milliseconds, notes
from resolab.extras.visit import ConfigurationSummary, ResolverConfiguration, VisitVerdict

_STYLES = {
    VisitVerdict.FASTER: "green",
    VisitVerdict.SLOWER: "red",
    VisitVerdict.NOISE: "yellow",
    VisitVerdict.TOO_FEW: "yellow",
}
PAGES_AT_MOST = 12


def screen(
    found: Sequence[ConfigurationSummary], pages: Sequence[str], baseline: ResolverConfiguration, width: int
) -> RenderableType:
    """Make the whole screen."""
    return Group(
        Text(clean(headline(found, baseline)), "bold"),
        Text(""),
        _resolvers(found, width),
        *([Text(""), _pages(found, pages, width)] if len(pages) > 1 else []),
        Text(""),
        *(Text(clean(line), "red") for line in failures(found)),
        *(Text(clean(line), "dim") for line in notes(found, baseline)),
    )


def _resolvers(found: Sequence[ConfigurationSummary], width: int) -> Table:
    def column(
        title: str, cell: Callable[[ConfigurationSummary], str | Text], *, right: bool = True, rank: int = 0
    ) -> TableColumn:
        cells = [cell(one) for one in found]
        return TableColumn(title, [one if isinstance(one, Text) else Text(clean(one)) for one in cells], right, rank)

    return _table(
        [
            column("", lambda one: "" if one.place is None else str(one.place)),
            column("resolver", lambda one: one.configuration.words, right=False),
            column("transport", lambda one: find_facts(one.configuration.dns_transport).label, right=False),
            column("page load ms", lambda one: Text(milliseconds(one.median_plt_ms), "bold")),
            column("difference ms", lambda one: difference(one.difference)),
            column("verdict", lambda one: Text(VERDICTS[one.verdict], _STYLES.get(one.verdict, "")), right=False),
            column("first ms", lambda one: milliseconds(one.first_plt_ms), rank=2),
            column("opening ms", lambda one: milliseconds(one.opening_ms), rank=3),
            column("look-up ms", lambda one: milliseconds(one.look_up_ms), rank=1),
            column("ping ms", lambda one: milliseconds(one.ping_ms), rank=4),
            column("loads", lambda one: str(one.loads_count), rank=5),
            column("failed", lambda one: Text(str(sum(one.failures.values()) or ""), "red")),
        ],
        width,
    )


def _pages(found: Sequence[ConfigurationSummary], pages: Sequence[str], width: int) -> RenderableType:
    """Return a table with a row for each page, a column for each resolver by rank: medians, the least in bold."""
    ranked = [one for one in found if one.place is not None]
    shown = pages[:PAGES_AT_MOST]
    rows = [[one.page_plt_ms.get(page) for one in ranked] for page in shown]
    cells = [[Text(milliseconds(value), "bold" if value == _least(row) else "") for value in row] for row in rows]
    columns = [TableColumn("page load ms by place", [Text(clean(_short(page))) for page in shown])]
    for position, one in enumerate(ranked):
        columns.append(TableColumn(str(one.place), [row[position] for row in cells], right=True, rank=position))
    table = _table(columns, width)
    more = len(pages) - len(shown)
    return Group(table, Text(f"and {more} more pages (--json has all)", "dim")) if more else table


def _least(row: Sequence[float | None]) -> float | None:
    return min((value for value in row if value is not None), default=None)


def _short(page: str) -> str:
    return page.partition("://")[2].removesuffix("/")


def _table(columns: Sequence[TableColumn], width: int) -> Table:
    """Lay out columns; leave out empty columns and, without enough room, the columns of the highest rank."""
    shown = [one for one in columns if not one.is_empty]
    while sum(one.least + GAP for one in shown) - GAP > width and any(one.rank for one in shown):
        highest = max(one.rank for one in shown)
        shown = [one for one in shown if one.rank != highest]
    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold")
    for one in shown:
        table.add_column(
            one.title, justify="right" if one.right else "left", overflow="fold", no_wrap=one.right, min_width=one.least
        )
    for row in zip(*(one.cells for one in shown), strict=True):
        table.add_row(*row)
    return table
