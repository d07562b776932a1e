"""The parts of a page load time that come after all a treatment does, and a comparison adjusted by one of them.

For: what is assumed of each part, and the shape of the result. Not for: filling it (`adjusted`).
"""

import enum
from dataclasses import dataclass
from typing import Final

from resolab.plan import PlannedComparison
from resolab.stats import ADJUSTABLE_FROM, Estimate
from resolab.store.outcomes import LAST_BYTE, RESPONSE_START, Outcome

ALIKE_LEVELS = 0.005


class Refused(enum.StrEnum):
    """Why there is no adjusted estimate."""

    FAILED = "a load failed, so its parts are not known"
    TOO_FEW = f"fewer than {ADJUSTABLE_FROM} pairs"
    LITTLE = "the part explains less than half of the variance"
    MOVED = "the treatment moves the part"


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the page load time: what comes after an instant, at which the treatment has done all it does."""

    name: str
    after: Outcome
    needs_settled: bool = False
    """Whether it takes loads that neither look up nor connect after their first byte."""


PARTS: Final = (
    Part("after_last_byte", LAST_BYTE),
    Part("after_first_byte", RESPONSE_START, needs_settled=True),
)


@dataclass(frozen=True, slots=True)
class Adjusted:
    """One comparison adjusted by one part."""

    comparison: PlannedComparison
    part: Part
    plain_ms: Estimate
    """Of the pairs of which the part is known."""
    without_part_ms: Estimate
    """The same of the instant before the part: the coefficient is 1 and not estimated."""
    moved_ms: Estimate
    """Shift of the part: by how much the treatment moves what it must not move."""
    p_value: float | None
    """Of signed ranks: whether it moves it at all."""
    adjusted_ms: Estimate | None
    variance_ratio: float | None
    """What is left of the differences' variance."""
    refused: Refused | None

    @property
    def loads_ratio(self) -> float | None:
        """Loads for an interval as wide as the plain one: widths go with the root of their number.

        None of few pairs, whose intervals have each a level of their own.
        """
        one = self.adjusted_ms
        if one is None or abs(one.level - self.plain_ms.level) > ALIKE_LEVELS:
            return None
        plain, width = self.plain_ms.ci_width, one.ci_width
        return None if width is None or not plain else (width / plain) ** 2
