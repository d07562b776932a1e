"""A waterfall as lines of text.

For: people at a terminal, and pipes. Not for: figures (`loads`).
"""

from rich.text import Text

from resolab.report.pages.waterfall.loads import Waterfall
from resolab.report.plots import WaterfallRequest, shorten_label

LETTERS = {"look-up": "?", "TCP": "c", "TLS": "s", "QUIC": "q", "wait": "░", "receive": "█", "undivided": "▒"}
STYLES = {
    "look-up": "magenta", "TCP": "yellow", "TLS": "yellow", "QUIC": "yellow", "wait": "dim", "receive": "blue",
    "undivided": "blue",
}  # fmt: skip
LABEL_WIDTH = 24
TIMES_WIDTH = 16
LEAST_BAR_WIDTH = 20


def terminal_waterfall(waterfall: Waterfall, width: int) -> Text:
    """Format a load: a line for each request with its start and duration, then the page's events."""
    bar_width = max(LEAST_BAR_WIDTH, width - LABEL_WIDTH - TIMES_WIDTH - 2)
    ends = [one.end_ms for one in waterfall.requests] + [one.at_ms for one in waterfall.events]
    scale = bar_width / (max([1.0, *ends]))
    text = Text(waterfall.title, style="bold")
    text.append("\n" + " " * LABEL_WIDTH + f"{'start ms':>8}{'took ms':>8}  ", style="dim")
    text.append(" ".join(f"{LETTERS[phase]} {phase}" for phase in _present(waterfall)), style="dim")
    for request in waterfall.requests:
        text.append("\n" + shorten_label(request.label, LABEL_WIDTH - 1).ljust(LABEL_WIDTH), style="not bold")
        times = f"{request.start_ms:8.1f}{request.end_ms - request.start_ms:8.1f}  "
        text.append(times, style="not bold")
        for letter in _bar(request, scale, bar_width):
            text.append(letter, style=f"not bold {_STYLE_OF.get(letter, 'default')}")
    for event in waterfall.events:
        place = min(bar_width - 1, int(event.at_ms * scale))
        text.append(f"\n{event.name.ljust(LABEL_WIDTH)}{event.at_ms:8.1f}{'':8}  {' ' * place}|", style="not bold")
    return text


_STYLE_OF = {LETTERS[phase]: style for phase, style in STYLES.items()}


def _bar(request: WaterfallRequest, scale: float, width: int) -> str:
    cells = [" "] * width
    for place in range(int(request.start_ms * scale), min(width, int(request.end_ms * scale) + 1)):
        cells[place] = "·"
    # What came later covers what came before: in early data the wait covers the rest of the handshake.
    for span in request.spans:
        first = min(width - 1, int(span.start_ms * scale))
        for place in range(first, min(width, max(first + 1, int(span.end_ms * scale)))):
            cells[place] = LETTERS[span.phase]
    return "".join(cells)


def _present(waterfall: Waterfall) -> list[str]:
    present = {span.phase for request in waterfall.requests for span in request.spans}
    return [phase for phase in LETTERS if phase in present]
