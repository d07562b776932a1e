"""A bar of letters and colours for phases, and its legend. Not for: the meaning of phases."""

from collections.abc import Iterable, Sequence

from rich.text import Text

from resolab.cli.query.words import number
from resolab.extras.queries import QueryPhase, Split

LETTERS = {
    QueryPhase.BOOTSTRAP: ("b", "white on dark_magenta"),
    QueryPhase.TCP_CONNECT: ("c", "black on dark_orange"),
    QueryPhase.TLS_HANDSHAKE: ("t", "white on blue"),
    QueryPhase.QUIC_HANDSHAKE: ("q", "black on dark_cyan"),
    QueryPhase.QUERY_EXCHANGE: ("x", "black on green3"),
    QueryPhase.OTHER: ("-", "dim"),
}


SHORT_LETTERS = 5
SHARE_TO_TELL = 0.05


def bar(split: Sequence[tuple[QueryPhase, float]], full: float, width: int, unit_ms: float) -> Text:
    """Draw phases with `full` taking the whole width; borders between phases are rounded, not lengths.

    A bar too short for its phases shows the phases in milliseconds, when there is room.
    """
    text, at, reached = Text(), 0, 0.0
    for phase, length in split:
        reached += length
        end = round(reached / full * width) if full > 0 else 0
        letter, style = LETTERS[phase]
        text.append(letter * (end - at), style)
        at = end
    if at == 0 and split:
        letter, style = LETTERS[max(split, key=lambda one: one[1])[0]]
        text.append(letter, style)
    if len(text) <= SHORT_LETTERS:
        told = _format_phases(split, unit_ms)
        if len(text) + len(told) <= width:
            text.append(told, "dim")
    return text


def _format_phases(split: Sequence[tuple[QueryPhase, float]], unit_ms: float) -> str:
    """Return the important phases as text; empty for a single phase, with its time beside the bar."""
    totals: dict[QueryPhase, float] = {}
    for phase, length in split:
        totals[phase] = totals.get(phase, 0.0) + length
    told = [phase for phase, length in totals.items() if length > SHARE_TO_TELL * sum(totals.values())]
    if len(told) < 2:
        return ""
    return "".join(f" {LETTERS[phase][0]} {number(totals[phase] * unit_ms)}" for phase in told)


def legend(phases: Iterable[QueryPhase]) -> Text:
    """Explain the letters of the occurring phases."""
    occurring = set(phases)
    text = Text()
    for phase, (letter, style) in LETTERS.items():
        if phase in occurring:
            text.append("  " if text else "")
            text.append(f" {letter} ", style)
            text.append(f" {phase.value}")
    return text


def list_phases(splits: Iterable[Split]) -> set[QueryPhase]:
    """Return the occurring phases."""
    return {phase for split in splits for phase, length in split if length > 0}
