"""The parts of a page load time after the treatment's effect, and a comparison adjusted by such a part.

For: the assumptions about each part, and the type of the result. Not for: computing the result (`adjusted`).
"""

import enum
from dataclasses import dataclass
from typing import Final

from resolab.plan import PlannedComparison
from resolab.stats import ADJUSTABLE_FROM, Estimate
from resolab.store.outcomes import LAST_BYTE, RESPONSE_START, LoadOutcome

ALIKE_LEVELS = 0.005


class AdjustmentRefusal(enum.StrEnum):
    """The reason for a missing adjusted estimate."""

    FAILED = "a load failed, so its parts are not known"
    TOO_FEW = f"fewer than {ADJUSTABLE_FROM} pairs"
    LITTLE = "the part explains less than half of the variance"
    MOVED = "the treatment moves the part"


@dataclass(frozen=True, slots=True)
class LoadTimePart:
    """A part of the page load time: the time after an instant at which the treatment's effect is complete."""

    name: str
    after: LoadOutcome
    needs_settled: bool = False
    """True when the part needs loads without lookups and connections after their first byte."""


PARTS: Final = (
    LoadTimePart("after_last_byte", LAST_BYTE),
    LoadTimePart("after_first_byte", RESPONSE_START, needs_settled=True),
)


@dataclass(frozen=True, slots=True)
class AdjustedComparison:
    """A comparison adjusted by a part."""

    comparison: PlannedComparison
    part: LoadTimePart
    plain_ms: Estimate
    """The plain difference of the pairs with a known part."""
    without_part_ms: Estimate
    """The same difference of the instant before the part, equivalent to a fixed coefficient of 1."""
    moved_ms: Estimate
    """The treatment's effect on the part, 0 by assumption."""
    p_value: float | None
    """The p-value of signed ranks for an effect of the treatment on the part."""
    adjusted_ms: Estimate | None
    variance_ratio: float | None
    """The remaining share of the differences' variance."""
    refused: AdjustmentRefusal | None

    @property
    def loads_ratio(self) -> float | None:
        """Relative number of loads for the plain interval's width; widths scale with the root of this number.

        `None` for few pairs, with intervals at different levels.
        """
        one = self.adjusted_ms
        if one is None or abs(one.level - self.plain_ms.level) > ALIKE_LEVELS:
            return None
        plain, width = self.plain_ms.ci_width, one.ci_width
        return None if width is None or not plain else (width / plain) ** 2
