"""Doubts about the assumptions of a verdict, found in the run itself.

For: verdicts (`report.verdicts`) and their benchmark. Not for: the decision (`decision`), which no doubt changes.

The error rates of a verdict hold for independent differences with one median, from arms in random order. A run shows
when this fails: one arm is mostly second, the differences move over time, or neighbouring blocks resemble each other.
Each finding is a test at `SIGNIFICANCE`, divided by the number of checks (Bonferroni). A verdict of few blocks cannot
show a slow start, and this is said, too.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import scipy

from resolab.stats import FloatArray, Sample, two_sample_p_value

SIGNIFICANCE = 0.01
"""The chance of a false doubt, for each kind and all checks of a run together."""
FEW_BLOCKS_COUNT = 30
"""With fewer pairs, a slow start of one arm, or a correlation of neighbouring blocks, is seldom seen."""
_PAIRS_NEEDED = 12
"""The fewest pairs for a comparison of first and later blocks, and of neighbouring blocks."""
FIRST_SHARES = (1 / 6, 1 / 3, 1 / 2)
"""The shares of the first blocks that are compared with the later blocks, as nobody knows the length of a start."""


class DoubtKind(StrEnum):
    """An assumption of a verdict that a run does not bear out."""

    ORDER = "order"
    """One arm ran second too often for a random order."""
    DRIFT = "drift"
    """The differences of the first blocks are not those of the later blocks."""
    CORRELATION = "correlation"
    """The differences of neighbouring blocks resemble each other."""
    FEW_BLOCKS = "few_blocks"
    """Too few blocks for seeing a slow start."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """A failed assumption with its numbers, as a clause for people."""

    kind: DoubtKind
    clause: str


def find_doubts(differences: Sample, treatment_second: Sequence[bool], checks_count: int = 1) -> list[Doubt]:
    """List the doubts about paired differences in the order of their blocks.

    `treatment_second` says for each pair whether the treatment ran after the baseline; empty when unknown.
    `checks_count` is the number of checks of the run that are tested in this way.
    """
    significance = SIGNIFICANCE / checks_count
    found = [
        _doubt_order(treatment_second, significance),
        _doubt_drift(differences, significance),
        _doubt_correlation(differences, significance),
    ]
    if 0 < len(differences) < FEW_BLOCKS_COUNT:
        clause = f"in {len(differences)} blocks a slow start of one arm looks like a slower arm"
        found.append(Doubt(DoubtKind.FEW_BLOCKS, clause))
    return [one for one in found if one is not None]


def _doubt_order(treatment_second: Sequence[bool], significance: float) -> Doubt | None:
    count, total = sum(treatment_second), len(treatment_second)
    if total == 0 or scipy.stats.binomtest(count, total, 0.5).pvalue >= significance:
        return None
    clause = f"the treatment ran second in {count} of {total} blocks: a drift of the machine looks like a difference"
    return Doubt(DoubtKind.ORDER, clause)


def _doubt_drift(differences: Sample, significance: float) -> Doubt | None:
    if len(differences) < _PAIRS_NEEDED:
        return None
    splits = [_split(differences, round(len(differences) * share)) for share in FIRST_SHARES]
    p_value, first, later = min(splits, key=lambda one: one[0])
    # Bonferroni's correction for the number of splits.
    if p_value * len(splits) >= significance:
        return None
    first_count = len(first)
    middles = f"{np.median(first.low):.1f} ms in the first {first_count} blocks, {np.median(later.low):.1f} ms later"
    return Doubt(DoubtKind.DRIFT, f"the difference drifts: {middles}")


def _split(differences: Sample, first_count: int) -> tuple[float, Sample, Sample]:
    """Return the p-value of first against later blocks, and both parts."""
    first, later = (differences.take(part.tolist()) for part in np.split(np.arange(len(differences)), [first_count]))
    p_value = two_sample_p_value(first, later)
    return 1.0 if p_value is None else p_value, first, later


def _doubt_correlation(differences: Sample, significance: float) -> Doubt | None:
    if len(differences) < _PAIRS_NEEDED:
        return None
    ranks: FloatArray = scipy.stats.rankdata(differences.low)
    if np.ptp(ranks) == 0:
        return None
    centered = ranks - ranks.mean()
    correlation = float(centered[1:] @ centered[:-1] / (centered @ centered))
    # Bartlett (1946): without correlation, the estimate has the standard error 1 / sqrt(n).
    if scipy.stats.norm.sf(correlation * np.sqrt(len(ranks))) >= significance:
        return None
    clause = f"neighbouring blocks resemble each other (rank correlation {correlation:.2f}): more wrong verdicts"
    return Doubt(DoubtKind.CORRELATION, clause)
