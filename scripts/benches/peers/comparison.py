"""How many loads, and how much time, one tool needs for the interval another one gets; each ratio with its interval.

For: pure arithmetic. Not for: measuring, or writing tables (`table`).

The interval of a mean or median of n loads is as wide as sd / sqrt(n), so that loads for the same width go as sd^2 and
time as sd^2 times seconds a load; for the same share of what is measured, (sd / mean)^2 takes the place of sd^2. The
logarithm of such a cost is estimated for each tool and subtracted.

What is independent are rounds, not loads: those of one share browsertime's invocation and the state of the machine. The
interval is the bootstrap-t (Efron and Tibshirani 1993, chapter 12) that draws rounds, both tools' loads of one
together; each resample is studentised by the standard error of its own influence values, summed up by round. It is
somewhat too narrow. Of 1,500 simulations of the ratio of two variances, rounds of five loads that were normal,
lognormal, of two modes or with a long tail (gamma of shape 2), independent or with 0.3 of their variance shared by a
round, a nominal 95 % held the truth in 90.0 to 94.1 % with 8 rounds, 90.9 to 94.0 % with 12, 92.9 to 95.2 % with 20. Of
four rounds it held it in 86 to 94 %, and the median interval reached a factor of 3 to 50 either way: that is none.
Where a round shares 0.6 of the variance, intervals of loads taken as independent held it in 73.5 to 80.0 %.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
RESAMPLES_COUNT = 4_999
LEVEL = 0.95
LEAST_TURNS = 8
"""Fewer of either tool give no interval."""


@dataclass(frozen=True)
class Loads:
    """Loads of one tool in one cell."""

    values: FloatArray
    """What was measured of each, ms."""
    seconds: FloatArray
    """What each took, all in."""
    turns: NDArray[np.intp]
    """The round in which each was, of both tools alike."""

    @classmethod
    def of(cls, values: Sequence[float], seconds: Sequence[float], turns: Sequence[int]) -> "Loads":
        """Make them of sequences of one length."""
        made = cls(np.asarray(values, float), np.asarray(seconds, float), np.asarray(turns, np.intp))
        if not made.values.shape == made.seconds.shape == made.turns.shape:
            raise ValueError("every load needs its value, its seconds and its turn")
        return made


@dataclass(frozen=True)
class Ratio:
    """A ratio; where there are too few turns for an interval, how far it moves when any one of them is left out."""

    estimate: float
    low: float | None = None
    high: float | None = None
    least: float | None = None
    most: float | None = None

    def text(self) -> str:
        """Write it as `estimate [low, high]`, or `estimate (least..most)` without an interval."""
        if self.low is not None and self.high is not None:
            return f"{self.estimate:.3g} [{self.low:.3g}, {self.high:.3g}]"
        if self.least is not None and self.most is not None:
            return f"{self.estimate:.3g} ({self.least:.3g}..{self.most:.3g})"
        return f"{self.estimate:.3g}"


def ratio(one: Loads, other: Loads, *, timed: bool, relative: bool, seed: int = 1) -> Ratio | None:
    """Return the cost of `one` over that of `other`: in loads or, if `timed`, in time.

    For intervals of the same width or, if `relative`, of the same share of the mean. None where either has no spread.
    """
    if any(loads.values.size < 2 or np.ptp(loads.values) == 0 for loads in (one, other)):
        return None
    turns = np.union1d(one.turns, other.turns)
    sums = [_sums_of_turns(loads, turns, timed=timed) for loads in (one, other)]
    (log,), (error,) = _log_ratio(sums, np.ones((1, turns.size)), relative=relative)
    if min(np.unique(loads.turns).size for loads in (one, other)) < LEAST_TURNS:
        without, _ = _log_ratio(sums, 1.0 - np.eye(turns.size), relative=relative)
        least, most = (float(np.exp(end)) if np.isfinite(end) else None for end in (without.min(), without.max()))
        return Ratio(float(np.exp(log)), least=least, most=most)
    chosen = np.random.default_rng(seed).multinomial(turns.size, [1 / turns.size] * turns.size, RESAMPLES_COUNT)
    logs, errors = _log_ratio(sums, chosen.astype(float), relative=relative)
    spread = errors > 0  # A choice of one turn alone has none.
    studentised = (logs[spread] - log) / errors[spread]
    low, high = np.quantile(studentised, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Ratio(float(np.exp(log)), float(np.exp(log - high * error)), float(np.exp(log - low * error)))


def _sums_of_turns(loads: Loads, turns: NDArray[np.intp], *, timed: bool) -> FloatArray:
    """Sum up each turn: its loads, their values, the squares of these, and the seconds (1 a load if not `timed`)."""
    place = np.searchsorted(turns, loads.turns)
    ones = np.ones_like(loads.values)
    each = (ones, loads.values, loads.values**2, loads.seconds if timed else ones)
    return np.array([np.bincount(place, of_load, turns.size) for of_load in each])


def _log_ratio(sums: Sequence[FloatArray], weights: FloatArray, *, relative: bool) -> tuple[FloatArray, FloatArray]:
    """Return log(cost of one / cost of other) and its standard error, for each row of weights of the turns."""
    # Loads that are all alike have no spread, and no error: the caller leaves such a choice out.
    with np.errstate(divide="ignore", invalid="ignore"):
        (first, of_first), (second, of_second) = (_log_cost(of_tool, weights, relative=relative) for of_tool in sums)
        count = weights.sum(axis=-1)
        squares = (weights * (of_first - of_second) ** 2).sum(axis=-1)
        return first - second, np.sqrt(squares * count / (count - 1))


def _log_cost(sums: FloatArray, weights: FloatArray, *, relative: bool) -> tuple[FloatArray, FloatArray]:
    """Return log(sd^2 * seconds), less log(mean^2) if relative, and the influence each turn has on it."""
    count, total, squares, seconds = ((weights @ of_turn)[:, None] for of_turn in sums)
    mean, mean_seconds = total / count, seconds / count
    variance = (squares - total * mean) / (count - 1)
    counts, values, values_squared, of_seconds = sums
    influence = (values_squared - 2 * mean * values + counts * mean**2) / variance + of_seconds / mean_seconds
    log = np.log(variance * mean_seconds)
    if relative:
        log = log - 2 * np.log(mean)
        influence = influence - 2 * values / mean
    centred = influence - counts * (weights * influence).sum(axis=-1, keepdims=True) / count
    return log[:, 0], centred / count
