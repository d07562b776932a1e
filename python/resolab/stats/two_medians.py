"""The relative change and the difference between the medians of two samples without pairs.

For: two datasets without common blocks. Not for: conditions of one dataset; these are paired (`medians`).
"""

import numpy as np
import scipy

from resolab.stats.estimate import Estimate, Method
from resolab.stats.order import LEVEL, quantile
from resolab.stats.sample import Sample
from resolab.stats.sequence import median_at_any_look


def change_of_medians(treatment: Sample, baseline: Sample, *, level: float = LEVEL) -> Estimate:
    """Estimate `median(treatment) / median(baseline) - 1`.

    The interval joins the intervals of both medians on the logarithmic scale by MOVER (Zou and Donner 2008), so values
    are above 0.
    """
    if (treatment.low < 0).any() or (baseline.low < 0).any():
        raise ValueError("a relative change needs values of at least 0")
    over, under = quantile(treatment, 0.5, level=level), quantile(baseline, 0.5, level=level)
    n, count = len(treatment) + len(baseline), treatment.censored_count + baseline.censored_count
    if over.low is None or over.high is None or under.low is None or under.high is None:
        return Estimate(None, None, None, None, n, count, level, Method.NONE)
    low, high = _ratio(over.low, under.high, 0.0) - 1, _ratio(over.high, under.low, np.inf) - 1
    if over.ci_low is None or over.ci_high is None or under.ci_low is None or under.ci_high is None:
        return Estimate(low, high, None, None, n, count, level, Method.NONE)
    # The range of five or six values reaches another level than asked; as a normal's interval it scales with z.
    asked = scipy.stats.norm.ppf((1 + level) / 2)
    at = tuple(float(asked / scipy.stats.norm.ppf((1 + one.level) / 2)) for one in (over, under))
    down = _combine(_factor(over.low, over.ci_low), _factor(under.ci_high, under.high), at)
    up = _combine(_factor(over.ci_high, over.high), _factor(under.low, under.ci_low), at)
    ci_low, ci_high = (1 + low) / down - 1, np.inf if np.isinf(high) else (1 + high) * up - 1
    return Estimate(low, high, float(ci_low), float(ci_high), n, count, level, Method.MOVER)


def difference_of_medians(
    treatment: Sample, baseline: Sample, *, at_any_look: bool = False, level: float = LEVEL
) -> Estimate:
    """Estimate `median(treatment) - median(baseline)`; no assumption on the distributions.

    The interval joins the intervals of both medians by MOVER (Zou and Donner 2008): between order statistics or, with
    `at_any_look`, confidence sequences of values in the order of their measurement.
    """
    estimate = median_at_any_look if at_any_look else _median_of_fixed_number
    over, under = (estimate(one, level=level) for one in (treatment, baseline))
    n, count = len(treatment) + len(baseline), treatment.censored_count + baseline.censored_count
    if over.low is None or over.high is None or under.low is None or under.high is None:
        return Estimate(None, None, None, None, n, count, level, Method.NONE)
    low, high = over.low - under.high, over.high - under.low
    if over.ci_low is None or over.ci_high is None or under.ci_low is None or under.ci_high is None:
        return Estimate(low, high, None, None, n, count, level, Method.NONE)
    # A sequence keeps its narrowest ends, which may exclude the sample's own median.
    down = np.hypot(max(over.low - over.ci_low, 0.0), max(under.ci_high - under.high, 0.0))
    up = np.hypot(max(over.ci_high - over.high, 0.0), max(under.low - under.ci_low, 0.0))
    return Estimate(low, high, float(low - down), float(high + up), n, count, level, Method.MOVER)


def _median_of_fixed_number(sample: Sample, *, level: float) -> Estimate:
    return quantile(sample, 0.5, level=level)


def _factor(greater: float, smaller: float) -> float:
    """Return the factor between a median and an end of its interval."""
    if greater == smaller:
        return 1.0
    return _ratio(greater, smaller, np.inf)


def _ratio(over: float, under: float, unknown: float) -> float:
    with np.errstate(divide="ignore", invalid="ignore"):
        found = float(np.float64(over) / np.float64(under))
    return unknown if np.isnan(found) else found


def _combine(one: float, other: float, scale: tuple[float, ...]) -> float:
    return float(np.exp(np.hypot(scale[0] * np.log(one), scale[1] * np.log(other))))
