"""The result of every estimate: a number, how sure it is, and how that was found.

For: carrying n, level and method beside each interval. Not for: printing.
"""

import enum
import math
from dataclasses import dataclass


class Method(enum.StrEnum):
    """How a confidence interval was found."""

    BCA = "bca"
    """Bias-corrected and accelerated bootstrap (Efron 1987)."""
    PERCENTILE = "percentile"
    """Percentile bootstrap: where BCa is undefined (ties, very few blocks) or values are censored."""
    NONE = "none"
    """No interval: fewer than two values."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """An estimate within [low, high], alike unless too much is censored; the interval may reach infinity."""

    low: float | None
    high: float | None
    ci_low: float | None
    ci_high: float | None
    n: int
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
