"""The result of a stopping rule's interim analysis of the comparisons' intervals after whole blocks.

For: the common shape of all rules, and their entries in the manifest. Not for: any rule (`precision`, `decisions`,
`expectation_rule`).
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from resolab.basics.records import Record
from resolab.plan import DecisionCriterion, PlannedComparison
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

    def look(self, blocks: int) -> InterimAnalysis:
        """Analyse the first `blocks` blocks; later calls have at least the same number of blocks."""

    def text(self, look: InterimAnalysis) -> str:
        """Return the campaign's progress in a line."""

    def estimate_blocks(self, look: InterimAnalysis, cap: int) -> int:
        """Return the expected number of blocks."""


def describe_width(pair: PlannedComparison, width: float, *, as_ratio: bool = False) -> IntervalWidth:
    """Return an interval's width for the manifest: in ms or as a ratio, `None` for an unbounded interval."""
    # JSON has no infinity.
    known = width if math.isfinite(width) else None
    return IntervalWidth(
        name=pair.name,
        treatment=pair.treatment.id,
        baseline=pair.baseline.id,
        ci_width_ms=None if as_ratio else known,
        ci_width_ratio=known if as_ratio else None,
    )


def describe_decision(
    pair: PlannedComparison,
    interval: tuple[float, float],
    pairs_count: int,
    after_blocks: int | None,
    reasons: Sequence[DecisionCriterion] = (),
) -> Decision:
    """Return a comparison's decision and interval for the manifest; `after_blocks` is `None` without a decision."""
    low, high = interval
    return Decision(
        name=pair.name,
        treatment=pair.treatment.id,
        baseline=pair.baseline.id,
        after_blocks=after_blocks,
        reasons=[*reasons],
        pairs_count=pairs_count,
        ci_low_ms=low if math.isfinite(low) else None,
        ci_high_ms=high if math.isfinite(high) else None,
    )
