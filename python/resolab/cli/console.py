"""The console every command prints on: rich's, but nothing that came from elsewhere commands it.

For: `main`, and words of pages, resolvers, agents and datasets in tables and sentences. Not for: what is printed.
"""

from collections.abc import Iterable
from typing import Any

import rich.console
from rich.segment import Segment

from resolab.wording import clean


class Console(rich.console.Console):
    """Rich's own reads markup in any word and hands control characters on; here a `Text` alone has a style."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"markup": False, "emoji": False} | options)

    def render(
        self, renderable: rich.console.RenderableType, options: rich.console.ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Lay out as rich does, and show each character that would command a terminal as U+FFFD."""
        for text, style, control in super().render(renderable, options):
            shown = text if control or text.isprintable() else "\n".join(map(clean, text.split("\n")))
            yield Segment(shown, style, control)

    def on_broken_pipe(self) -> None:
        """Hand the error on to `main`; called where it is handled, with nothing else to raise.

        Rich's own would end the process with 1, which means "outside a tolerance" here.
        """
        raise  # noqa: PLE0704 -- rich calls this from its handler of the BrokenPipeError.
