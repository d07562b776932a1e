"""Equivalence of two conditions: two one-sided tests against a margin.

For: supporting a claim of equal cost. Not for: choosing the margin; the margin must be set in advance.

Schuirmann 1987: two conditions are equivalent within the margin if both 'lower by at least the margin' and 'higher by
at least the margin' are rejected. For the median of differences, each test is a sign test, without an assumption about
their shape. So the test holds when a share of the loads waits 5 s. For the shift, each test is a signed-rank test
(Pratt 1959), with an assumption of symmetry. A value known within bounds counts at its outermost bound.
"""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import scipy

from resolab.stats.ranks import compute_signed_rank_tail
from resolab.stats.sample import FloatArray, Sample

SIGNIFICANCE = 0.05


class EquivalenceTest(StrEnum):
    """The test used for each of the two one-sided hypotheses."""

    SIGN = "sign"
    SIGNED_RANK = "signed_rank"


@dataclass(frozen=True, slots=True)
class Equivalence:
    """The result of the two tests against a margin."""

    margin: float
    p_value: float | None
    """The greater p of both tests; `None` without differences."""
    n: int
    test: EquivalenceTest
    significance: float = SIGNIFICANCE

    @property
    def is_alike(self) -> bool:
        """Return True when both hypotheses are rejected at the significance level."""
        return self.p_value is not None and self.p_value <= self.significance


def equivalence(
    differences: Sample, margin: float, *, test: EquivalenceTest, significance: float = SIGNIFICANCE
) -> Equivalence:
    """Test the differences' median (or shift) for lying within the margin around 0."""
    if not margin > 0:
        raise ValueError("a margin of equivalence is greater than 0")
    if not len(differences):
        return Equivalence(margin, None, 0, test, significance)
    tail = _sign_tail if test is EquivalenceTest.SIGN else compute_signed_rank_tail
    p_value = max(tail(differences.low + margin), tail(margin - differences.high))
    return Equivalence(margin, p_value, len(differences), test, significance)


def _sign_tail(values: FloatArray) -> float:
    """Return P(at least as many values above 0) for a median of 0; values equal to 0 support the null hypothesis."""
    return float(scipy.stats.binom.sf(np.count_nonzero(values > 0) - 1, values.size, 0.5))
