"""The result of a stopping rule's interim analysis of the comparisons' intervals after whole blocks.

For: the common shape of all rules, used by the campaign. Not for: any rule (`precision`, `decisions`).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from resolab.records import Record
from resolab.store import Decision, IntervalWidth


@dataclass(frozen=True, slots=True)
class InterimAnalysis:
    """The intervals after some blocks, and the consequences."""

    blocks: int
    reached: bool
    """True when no question is left open."""
    widths: tuple[IntervalWidth, ...]
    widest: float
    """The widest interval; infinite while a comparison has no interval or an unbounded interval."""
    widest_name: str
    decisions: tuple[Decision, ...] = ()
    loaded: frozenset[str] | None = None
    """The identifiers of the conditions in the next blocks; `None`: all."""


class StoppingRule(Protocol):
    """A stopping rule: receives trials, analyses whole blocks; the same blocks give the same result in any process."""

    def add(self, condition: str, block: int, records: Iterable[Record]) -> None:
        """Add a finished trial."""

    def due(self, blocks: int) -> bool:
        """Return True when an interim analysis is due after `blocks` whole blocks."""

    def look(self, blocks: int) -> InterimAnalysis:
        """Analyse the first `blocks` blocks; later calls have at least the same number of blocks."""

    def text(self, look: InterimAnalysis) -> str:
        """Return the campaign's progress in a line."""

    def estimate_blocks(self, look: InterimAnalysis, cap: int) -> int:
        """Return the expected number of blocks."""
