"""The verdict on a comparison, with its word, colour and mark.

For: the same verdict in figures, tables and at a terminal. Not for: reaching it (`report.answer.rows`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from resolab.report.plots.style import BLUE


class Verdict(StrEnum):
    """The four possible answers to one comparison."""

    SLOWER = "slower"
    """The interval of the deciding estimate lies above 0."""
    FASTER = "faster"
    """The interval lies below 0."""
    EQUIVALENT = "equivalent"
    """The equivalence test holds within the plan's margin, and the interval contains 0."""
    NOT_DECIDED = "not decided"
    """Neither; not a claim of equality."""


@dataclass(frozen=True, slots=True)
class VerdictLook:
    """The mark of a verdict. Marks differ in shape and filling, so grey print and colour-blind readers keep them."""

    colour: str
    marker: str
    filled: bool


VERDICT_LOOKS: Mapping[Verdict, VerdictLook] = {
    Verdict.SLOWER: VerdictLook("#b34700", "o", filled=True),
    Verdict.FASTER: VerdictLook(BLUE, "o", filled=True),
    Verdict.EQUIVALENT: VerdictLook("#00664a", "s", filled=True),
    Verdict.NOT_DECIDED: VerdictLook("#555555", "o", filled=False),
}
"""Okabe and Ito's vermilion, blue and green, darkened: each has a contrast of at least 5:1 with white paper."""
