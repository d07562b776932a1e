"""The ratio of loads, and of time, needed by two tools for the same interval width; each ratio with its interval.

For: pure arithmetic. Not for: measuring, or writing tables (`table`).

The interval width of a mean or median of n loads is proportional to sd / sqrt(n). Loads for the same width are
therefore proportional to sd^2, and time to sd^2 times seconds per load. For the same share of the mean, (sd / mean)^2
replaces sd^2. The logarithm of the cost is estimated for each tool and subtracted.

Rounds are independent, not loads: loads of a round share browsertime's invocation and the state of the machine. The
interval is the bootstrap-t (Efron and Tibshirani 1993, chapter 12) with rounds as units, both tools' loads of a round
together. Each resample is studentised by the standard error of its own influence values, summed up by round. The
interval is somewhat too narrow. The coverage was found by 1,500 simulations of the ratio of two variances. Rounds had
five loads that were normal, lognormal, of two modes or with a long tail (gamma of shape 2), independent or with 0.3 of
their variance shared by a round. A nominal 95 % held the truth in 90.0 to 94.1 % with 8 rounds, 90.9 to 94.0 % with 12,
92.9 to 95.2 % with 20. With four rounds, the coverage was 86 to 94 %, and the median interval reached a factor of 3 to
50 in either direction: useless. With 0.6 of the variance shared by a round, intervals for independent loads held the
truth in 73.5 to 80.0 %.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
RESAMPLES_COUNT = 4_999
LEVEL = 0.95
LEAST_TURNS = 8
"""The least number of turns of either tool for an interval."""


@dataclass(frozen=True)
class Loads:
    """The loads of a tool in a cell."""

    values: FloatArray
    """The measured value of each load, in ms."""
    seconds: FloatArray
    """The total time of each load, in s."""
    turns: NDArray[np.intp]
    """The round of each load, with the same numbers for both tools."""

    @classmethod
    def from_sequences(cls, values: Sequence[float], seconds: Sequence[float], turns: Sequence[int]) -> "Loads":
        """Make loads from sequences of equal length."""
        made = cls(np.asarray(values, float), np.asarray(seconds, float), np.asarray(turns, np.intp))
        if not made.values.shape == made.seconds.shape == made.turns.shape:
            raise ValueError("every load needs its value, its seconds and its turn")
        return made


@dataclass(frozen=True)
class Ratio:
    """A ratio; with too few turns for an interval, its range when leaving out any single turn."""

    estimate: float
    low: float | None = None
    high: float | None = None
    least: float | None = None
    most: float | None = None

    def text(self) -> str:
        """Write the ratio as `estimate [low, high]`, or `estimate (least..most)` without an interval."""
        if self.low is not None and self.high is not None:
            return f"{self.estimate:.3g} [{self.low:.3g}, {self.high:.3g}]"
        if self.least is not None and self.most is not None:
            return f"{self.estimate:.3g} ({self.least:.3g}..{self.most:.3g})"
        return f"{self.estimate:.3g}"


def ratio(one: Loads, other: Loads, *, timed: bool, relative: bool, seed: int = 1) -> Ratio | None:
    """Return the cost of `one` over the cost of `other`: in loads or, if `timed`, in time.

    The cost is for intervals of the same width or, if `relative`, of the same share of the mean. Return None when
    either has no spread.
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
    """Sum up each turn: its loads, their values, the squares, and the seconds (1 per load if not `timed`)."""
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
    """Return log(sd^2 * seconds), less log(mean^2) if relative, and each turn's influence on the logarithm."""
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
