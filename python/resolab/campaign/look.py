"""What a stopping rule says when it looks at the comparisons' intervals after whole blocks.

For: the shape that every rule fills and the campaign acts on. Not for: any rule (`precision`, `decisions`).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from resolab.records import Record
from resolab.store import Decision, WidthReached


@dataclass(frozen=True, slots=True)
class Look:
    """The intervals after some blocks, and what follows."""

    blocks: int
    reached: bool
    """Whether nothing is left to find out."""
    widths: tuple[WidthReached, ...]
    widest: float
    """Infinite while a comparison has no interval or an unbounded one."""
    widest_name: str
    decisions: tuple[Decision, ...] = ()
    loaded: frozenset[str] | None = None
    """Identifiers of the conditions that the next blocks still have; None: all."""


class StoppingRule(Protocol):
    """Takes in trials, and looks after whole blocks: the same blocks give the same look, whoever measured them."""

    def add(self, condition: str, block: int, records: Iterable[Record]) -> None:
        """Take in a finished trial."""

    def due(self, blocks: int) -> bool:
        """Whether to look after that many whole blocks."""

    def look(self, blocks: int) -> Look:
        """Look at the first blocks; a later look is never at fewer of them."""

    def text(self, look: Look) -> str:
        """Say in a line how far the campaign is."""

    def expected_blocks(self, look: Look, cap: int) -> int:
        """Guess how many blocks it will take."""
