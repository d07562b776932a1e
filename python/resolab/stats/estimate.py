"""The result of every estimate: a number, how sure it is, and how that was found.

For: carrying n, level and method beside each interval. Not for: printing.
"""

import enum
import math
from dataclasses import dataclass


class Method(enum.StrEnum):
    """How a confidence interval was found."""

    ORDER_STATISTIC = "order_statistic"
    """Between order statistics, interpolated (Hettmansperger and Sheather 1986; Nyblom 1992); no assumptions."""
    RANGE = "range"
    """From the least to the greatest value, of too few values for more; `level` says what that reaches."""
    PERCENTILE = "percentile"
    """Percentile bootstrap of pairs (Efron 1979); for the change of medians (Wilcox 2012, section 5.9)."""
    MOVER = "mover"
    """From the intervals of both medians, by the recovery of their variances (Zou and Donner 2008)."""
    SIGNED_RANK = "signed_rank"
    """Between ranked Walsh averages, by the distribution of Wilcoxon's signed-rank statistic (Tukey 1949)."""
    RANK_SUM = "rank_sum"
    """Between ranked pairwise differences, by the distribution of the rank-sum statistic (Moses 1965)."""
    SCORE = "score"
    """Score interval of P(treatment > baseline), solved for where the estimate is as far as chance takes it
    (Newcombe 2006, method 5)."""
    WILSON = "wilson"
    """Score interval of a share (Wilson 1927)."""
    NEWCOMBE = "newcombe"
    """Both shares' score intervals joined with their correlation (Newcombe 1998, method 10)."""
    ADJUSTED_SIGN = "adjusted_sign"
    """Shifts that the sign test of residuals on a covariate does not reject (`adjusted`; Rosenbaum 2002)."""
    CLUSTER_SIGN = "cluster_sign"
    """Medians that a test on clusters does not reject (`clusters`; Woodruff 1952, Francisco and Fuller 1991)."""
    STUDENT = "student"
    """Student's t of batches' residuals; of the crossing of two means Fieller's (1954)."""
    CONFIDENCE_SEQUENCE = "confidence_sequence"
    """Of a median, good at any look (`sequence`)."""
    NONE = "none"
    """No interval: too few values for the level."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """An estimate within [low, high], alike unless too much is censored; the interval may reach infinity."""

    low: float | None
    high: float | None
    ci_low: float | None
    ci_high: float | None
    n: int
    """Values, or pairs; of two samples without pairs all values of both."""
    censored_count: int
    level: float
    method: Method

    @property
    def value(self) -> float | None:
        """The estimate where it is a number, else None."""
        if self.low is None or self.low != self.high or not math.isfinite(self.low):
            return None
        return self.low

    @property
    def ci_contains_zero(self) -> bool | None:
        """Whether no effect is compatible with the data; None without an interval."""
        if self.ci_low is None or self.ci_high is None:
            return None
        return self.ci_low <= 0 <= self.ci_high

    @property
    def verdict(self) -> int:
        """What the interval says: 1 above 0, -1 below, 0 where it holds 0 or there is none."""
        if self.ci_contains_zero is not False or self.ci_low is None:
            return 0
        return 1 if self.ci_low > 0 else -1

    @property
    def ci_width(self) -> float | None:
        """Full width of the interval, perhaps infinite; None without an interval."""
        if self.ci_low is None or self.ci_high is None:
            return None
        known = math.isfinite(self.ci_low) and math.isfinite(self.ci_high)
        return self.ci_high - self.ci_low if known else math.inf
