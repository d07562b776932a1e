"""The result of every estimate: a number, its uncertainty, and the method.

For: carrying n, level and method beside each interval. Not for: printing.
"""

import enum
import math
from dataclasses import dataclass


class Method(enum.StrEnum):
    """The method of a confidence interval."""

    ORDER_STATISTIC = "order_statistic"
    """Between order statistics, interpolated (Hettmansperger and Sheather 1986; Nyblom 1992); no assumptions."""
    RANGE = "range"
    """From the least to the greatest value, with too few values for others; `level` holds the reached level."""
    PERCENTILE = "percentile"
    """Percentile bootstrap of pairs (Efron 1979); for the change of medians (Wilcox 2012, section 5.9)."""
    MOVER = "mover"
    """From the intervals of both medians, by the recovery of their variances (Zou and Donner 2008)."""
    SIGNED_RANK = "signed_rank"
    """Between ranked Walsh averages, by the distribution of Wilcoxon's signed-rank statistic (Tukey 1949)."""
    RANK_SUM = "rank_sum"
    """Between ranked pairwise differences, by the distribution of the rank-sum statistic (Moses 1965)."""
    SCORE = "score"
    """Score interval of P(treatment > baseline), solved for the values at z standard errors from the estimate (Newcombe
    2006, method 5)."""
    WILSON = "wilson"
    """Score interval of a share (Wilson 1927)."""
    NEWCOMBE = "newcombe"
    """Both shares' score intervals joined with their correlation (Newcombe 1998, method 10)."""
    ADJUSTED_SIGN = "adjusted_sign"
    """Shifts not rejected by the sign test of residuals on a covariate (`adjusted`; Rosenbaum 2002)."""
    CLUSTER_SIGN = "cluster_sign"
    """Medians not rejected by a test on clusters (`clusters`; Woodruff 1952, Francisco and Fuller 1991)."""
    STUDENT = "student"
    """Student's t of batches' residuals; for the crossing of two means, Fieller's interval (1954)."""
    CONFIDENCE_SEQUENCE = "confidence_sequence"
    """Interval of a median, valid at any look (`sequence`)."""
    NONE = "none"
    """No interval: too few values for the level."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """An estimate between `low` and `high`, equal unless too many values are censored.

    The interval may reach infinity.
    """

    low: float | None
    high: float | None
    ci_low: float | None
    ci_high: float | None
    n: int
    """Number of values, or of pairs; for two samples without pairs, the values of both."""
    censored_count: int
    level: float
    method: Method

    @property
    def value(self) -> float | None:
        """The estimate as a number; `None` for bounds or infinity."""
        if self.low is None or self.low != self.high or not math.isfinite(self.low):
            return None
        return self.low

    @property
    def ci_contains_zero(self) -> bool | None:
        """True when the interval contains 0 (no effect); `None` without an interval."""
        if self.ci_low is None or self.ci_high is None:
            return None
        return self.ci_low <= 0 <= self.ci_high

    @property
    def verdict(self) -> int:
        """The interval's sign: 1 above 0, -1 below, 0 when the interval contains 0 or is missing."""
        if self.ci_contains_zero is not False or self.ci_low is None:
            return 0
        return 1 if self.ci_low > 0 else -1

    @property
    def ci_width(self) -> float | None:
        """Full width of the interval, possibly infinite; `None` without an interval."""
        if self.ci_low is None or self.ci_high is None:
            return None
        known = math.isfinite(self.ci_low) and math.isfinite(self.ci_high)
        return self.ci_high - self.ci_low if known else math.inf
