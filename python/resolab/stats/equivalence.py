"""Whether two conditions lie so near that they may be called alike: two one-sided tests against a margin.

For: the only ground of a claim that something costs the same. Not for: choosing the margin, which must be set before.

Schuirmann 1987: alike within the margin if both 'lower by at least the margin' and 'higher by at least the margin' are
rejected. Of the median of differences each is a sign test, which assumes nothing about their shape (so it holds where a
share of the loads waits 5 s); of their shift each is a signed-rank test (Pratt 1959), which assumes symmetry. A value
known within bounds counts as far out as it may lie.
"""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import scipy

from resolab.stats.ranks import signed_rank_tail
from resolab.stats.sample import FloatArray, Sample

SIGNIFICANCE = 0.05


class EquivalenceTest(StrEnum):
    """How each of the two one-sided hypotheses is tested."""

    SIGN = "sign"
    SIGNED_RANK = "signed_rank"


@dataclass(frozen=True, slots=True)
class Equivalence:
    """The two tests against a margin."""

    margin: float
    p_value: float | None
    """The greater of both; None without differences."""
    n: int
    test: EquivalenceTest
    significance: float = SIGNIFICANCE

    @property
    def is_alike(self) -> bool:
        """Whether both hypotheses are rejected at that significance."""
        return self.p_value is not None and self.p_value <= self.significance


def equivalence(
    differences: Sample, margin: float, *, test: EquivalenceTest, significance: float = SIGNIFICANCE
) -> Equivalence:
    """Test whether the differences' median (or shift) lies within the margin around 0."""
    if not margin > 0:
        raise ValueError("a margin of equivalence is greater than 0")
    if not len(differences):
        return Equivalence(margin, None, 0, test, significance)
    tail = _sign_tail if test is EquivalenceTest.SIGN else signed_rank_tail
    p_value = max(tail(differences.low + margin), tail(margin - differences.high))
    return Equivalence(margin, p_value, len(differences), test, significance)


def _sign_tail(values: FloatArray) -> float:
    """Return P(as many values above 0 or more) if their median were 0; what lies on 0 speaks for that."""
    return float(scipy.stats.binom.sf(np.count_nonzero(values > 0) - 1, values.size, 0.5))
