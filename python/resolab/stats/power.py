"""The number of blocks needed by a comparison, from the paired differences of a pilot.

For: planning a run. The result is the number of blocks until the interval leaves 0, is narrow, or lies within a margin,
with the requested power, and the uncertainty of this number. Not for: judging existing data; power after the fact adds
no information to the data's interval.

The ends of a median's interval are two of n ordered values. These values are the distribution's quantiles at ordered
uniform numbers with a known joint law (David and Nagaraja 2003, section 2.3). So campaigns are not simulated value by
value: the ends at n blocks are drawn at once, and read off the smoothed differences of the pilot. The pilot is itself
resampled, to give the answer's interval: a pilot of a dozen blocks knows the deciding spread only roughly.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
from functools import lru_cache

import numpy as np
import scipy
from numpy.typing import NDArray

from resolab.stats.order import LEVEL, median_end
from resolab.stats.sample import FloatArray, Sample
from resolab.stats.sequence import lower_rank

POWER = 0.8
PAIRS_NEEDED = 6
"""Pairs of a pilot; fewer pairs give no information about a spread."""
DRAWS_COUNT = 400
RESAMPLES_COUNT = 200
NORMAL_COUNT = 200
"""The number of differences representing a normal distribution."""
KERNEL_COUNT = 31
"""The number of points representing the kernel around each value."""


@dataclass(frozen=True, slots=True)
class IntervalGoal:
    """The goal for an interval, and the assumed true difference."""

    decides: Callable[[FloatArray, FloatArray], NDArray[np.bool_]]
    """A function of lower and upper ends: True when the goal is reached."""
    truth: float | None = None
    """The true median difference; `None` for the pilot's own median."""


def excludes_zero(truth: float | None = None) -> IntervalGoal:
    """Return the goal of an interval without 0."""
    return IntervalGoal(lambda low, high: (low > 0) | (high < 0), truth)


def aim_at_width(width: float) -> IntervalGoal:
    """Return the goal of an interval with at most the given full width."""
    return IntervalGoal(lambda low, high: high - low <= width)


def aim_within_margin(margin: float) -> IntervalGoal:
    """Return the goal of an interval within a margin on both sides of 0, for a true difference of 0."""
    return IntervalGoal(lambda low, high: (low > -margin) & (high < margin), 0.0)


@dataclass(frozen=True, slots=True)
class IntervalRule:
    """A run's method of making intervals."""

    level: float = LEVEL
    at_any_look: bool = False
    """True for confidence sequences. Each interval is taken alone, without the information of earlier looks."""

    def end(self, blocks: int) -> tuple[int, float]:
        """Return the lower end's rank (0 for no end) and the fraction towards the next value."""
        return (lower_rank(blocks, self.level), 0.0) if self.at_any_look else median_end(blocks, self.level)


@dataclass(frozen=True, slots=True)
class BlocksNeeded:
    """Blocks needed for the requested power; `None` for more than the largest number tried."""

    blocks: int | None
    low: int | None
    """Lower end of the 95 % interval, by resampling the pilot's pairs."""
    high: int | None
    most: int


def blocks_needed(
    pilot: Sample, aim: IntervalGoal, rule: IntervalRule, *, most: int, seed: int, power: float = POWER
) -> BlocksNeeded | None:
    """Estimate the number of blocks needed; `None` for a pilot with too few pairs or an unknown median."""
    size = len(pilot)
    if size < PAIRS_NEEDED:
        return None
    widths = _kernel_widths(pilot)
    own = _find_needed(pilot, widths, np.arange(size), aim, rule, most, power)
    if own is None:
        return None
    rng = np.random.default_rng(seed)
    again = [
        _find_needed(pilot, widths, rng.integers(0, size, size), aim, rule, most, power) for _ in range(RESAMPLES_COUNT)
    ]
    # A resample without a known median would take for ever.
    found = np.array([math.inf if one is None else one for one in again])
    low = float(np.quantile(found, 0.025, method="lower"))
    high = float(np.quantile(found, 0.975, method="higher"))
    return BlocksNeeded(_whole(own), _whole(low), _whole(high), most)


def _whole(blocks: float) -> int | None:
    return int(blocks) if math.isfinite(blocks) else None


def _find_needed(
    pilot: Sample,
    widths: FloatArray,
    chosen: NDArray[np.int_],
    aim: IntervalGoal,
    rule: IntervalRule,
    most: int,
    power: float,
) -> float | None:
    """Find the smallest sufficient number of blocks by bisection; infinite when even the largest is not sufficient."""
    bounds = _smooth_around(pilot.take(chosen.tolist()), widths[chosen], aim.truth)
    if bounds is None:
        return None
    steps = _steps(most)

    def decided(blocks: int) -> bool:
        drawn = _draw_intervals(bounds, blocks, rule)
        if drawn is None:
            return False
        with np.errstate(invalid="ignore"):
            return bool(np.mean(aim.decides(*drawn)) >= power)

    if not decided(steps[-1]):
        return math.inf
    first, last = 0, len(steps) - 1
    while first < last:
        half = (first + last) // 2
        first, last = (first, half) if decided(steps[half]) else (half + 1, last)
    return steps[first]


class MarginSides(Enum):
    """The place of an interval that a margin decides."""

    BELOW = auto()
    """The interval lies below the margin."""
    ABOVE = auto()
    """The interval lies above the negative of the margin."""
    WITHIN = auto()
    """The interval lies between the negative of the margin and the margin."""


def smallest_margin(
    differences: Sample, blocks: int, rule: IntervalRule, *, sides: MarginSides, power: float = POWER
) -> float | None:
    """Return the smallest margin that so many blocks decide with the requested power, for a true difference of 0.

    The interval lies below the margin, above its negative, or both. `None` for too few blocks, too few differences or
    an unknown median.
    """
    if len(differences) < PAIRS_NEEDED:
        return None
    bounds = _smooth_around(differences, _kernel_widths(differences), 0.0)
    drawn = None if bounds is None else _draw_intervals(bounds, blocks, rule)
    if drawn is None:
        return None
    ends = {
        MarginSides.BELOW: drawn[1],
        MarginSides.ABOVE: -drawn[0],
        MarginSides.WITHIN: np.maximum(drawn[1], -drawn[0]),
    }
    reached = ends[sides]
    found = float(np.quantile(reached, power, method="higher"))
    return found if math.isfinite(found) else None


def make_normal_differences(spread: float) -> Sample:
    """Return normal differences around 0 with a standard deviation, in place of a pilot's."""
    places = (np.arange(NORMAL_COUNT) + 0.5) / NORMAL_COUNT
    return Sample.exact(spread * scipy.special.ndtri(places))


def _smooth_around(
    differences: Sample, widths: FloatArray, truth: float | None
) -> tuple[FloatArray, FloatArray] | None:
    """Smooth both bounds and move their median to `truth`, if given; `None` for an unknown median."""
    lows, highs = (_smooth(values, widths) for values in (differences.low, differences.high))
    if truth is None:
        return lows, highs
    middle = lows[lows.size // 2]
    if not (np.isfinite(middle) and np.isfinite(highs[highs.size // 2])):
        return None
    return lows + (truth - middle), highs + (truth - middle)


def _draw_intervals(
    bounds: tuple[FloatArray, FloatArray], blocks: int, rule: IntervalRule
) -> tuple[FloatArray, FloatArray] | None:
    """Draw both ends of the interval after a number of blocks; `None` while there is no interval."""
    ends = _ends(blocks, rule)
    if ends is None:
        return None
    lows, highs = bounds
    return lows[(ends[0] * lows.size).astype(np.intp)], highs[(ends[1] * highs.size).astype(np.intp)]


@lru_cache(maxsize=8)
def _steps(most: int) -> tuple[int, ...]:
    """List the numbers of blocks to try, each at most 5 % above the previous number."""
    steps = [PAIRS_NEEDED]
    while steps[-1] < most:
        steps.append(min(most, max(steps[-1] + 1, int(steps[-1] * 1.05))))
    return tuple(steps)


@lru_cache(maxsize=1024)
def _ends(blocks: int, rule: IntervalRule) -> tuple[FloatArray, FloatArray] | None:
    """Draw the shares of the distribution below both ends, with the same random numbers for every number of blocks."""
    rank, part = rule.end(blocks)
    if rank == 0 or blocks - 1 - 2 * rank < 0:
        return None
    # Spacings of ordered uniforms are gamma variables over their sum.
    shapes = (rank, 1, blocks - 1 - 2 * rank, 1, rank)
    uniforms = np.random.default_rng(1).random((len(shapes), DRAWS_COUNT))
    spacings = [
        scipy.special.gammaincinv(shape, chance) if shape else np.zeros(DRAWS_COUNT)
        for shape, chance in zip(shapes, uniforms, strict=True)
    ]
    places = np.cumsum(spacings, axis=0) / np.sum(spacings, axis=0)
    low = places[0] + part * (places[1] - places[0])
    high = places[3] - part * (places[3] - places[2])
    return low, high


def _kernel_widths(pilot: Sample) -> FloatArray:
    """Choose each value's kernel width by its neighbours, to keep modes seconds apart separate.

    The width is half the usual width of a density's kernel: the resamples widen the pilot once more.
    """
    values = np.where(np.isfinite(pilot.high), pilot.low, np.nan)
    known = values[np.isfinite(values)]
    if known.size < 2:
        return np.zeros(len(pilot))
    distances = np.sort(np.abs(values[:, None] - known[None, :]), axis=1)
    near = distances[:, min(math.ceil(math.sqrt(known.size)), known.size - 1)]
    quarter, three_quarters = np.quantile(known, [0.25, 0.75])
    silverman = 0.9 * (three_quarters - quarter) / 1.349 * known.size**-0.2
    return np.asarray(np.nan_to_num(np.minimum(near, silverman) / 2), dtype=np.float64)


def _smooth(values: FloatArray, widths: FloatArray) -> FloatArray:
    """Return the ordered values of the smoothed distribution, with equal weights; infinite values stay infinite."""
    kernel = scipy.special.ndtri((np.arange(KERNEL_COUNT) + 0.5) / KERNEL_COUNT)
    return np.sort((values[:, None] + widths[:, None] * kernel[None, :]).ravel())
