"""The command `resolab visit --dry-run`: the contacts, their number and the duration. Not for: contacting hosts."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from resolab.basics.wording import clean
from resolab.plan.manners import UNKNOWN_BEFOREHAND, Contact

WORDS = {
    "opt_out": "opt-out list", "page": "page", "resolver": "resolver", "bootstrap": "system's resolver", "ping": "ping",
}  # fmt: skip


def contact_list(found: Sequence[Contact]) -> RenderableType:
    """Make the table of contacts."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for title in ("what", "host", "port", "over"):
        table.add_column(title)
    for title in ("times at most", "an hour at most"):
        table.add_column(title, justify="right")
    for one in found:
        times = "as names" if one.times_at_most is None else str(one.times_at_most)
        port = "" if one.port is None else str(one.port)
        host = Text(clean(one.host))
        table.add_row(WORDS[one.reason], host, port, ", ".join(one.carriers), times, str(one.per_hour_at_most))
    return Group(table, Text(UNKNOWN_BEFOREHAND, "dim"))
