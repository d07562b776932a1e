"""The console of every command: rich's, without control by foreign text.

For: `main`, and words of pages, resolvers, agents and datasets in tables and sentences. Not for: the printed content.
"""

from collections.abc import Iterable
from typing import Any

import rich.console
from rich.segment import Segment

from resolab.basics.wording import clean


class Console(rich.console.Console):
    """A console for foreign text.

    Rich's own reads markup in any word and passes control characters; here only a `Text` has a style.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"markup": False, "emoji": False} | options)

    def render(
        self, renderable: rich.console.RenderableType, options: rich.console.ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Render like rich, and show each character able to command a terminal as U+FFFD."""
        for text, style, control in super().render(renderable, options):
            shown = text if control or text.isprintable() else "\n".join(map(clean, text.split("\n")))
            yield Segment(shown, style, control)

    def on_broken_pipe(self) -> None:
        """Re-raise the error for `main`; called inside the error's handler.

        Rich's own method would end the process with 1, here the code for "outside a tolerance".
        """
        raise  # noqa: PLE0704 -- rich calls this from its handler of the BrokenPipeError.
