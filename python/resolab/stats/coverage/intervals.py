"""The coverage of intervals, by simulation on data like page load times: skewed, bimodal, tied.

For: the common list of data and intervals for the tests and for the tables of docs/method/statistics.md
(`scripts/coverage`). Not for: estimates.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from resolab.stats.break_even import (
    BATCHES_FOR_CROSSING,
    BATCHES_FOR_MEANS,
    Amortisation,
    BatchedMean,
    amortisation,
)
from resolab.stats.dominance import cliffs_delta
from resolab.stats.estimate import Estimate
from resolab.stats.medians import PAIRS_FOR_CHANGE, estimate_paired_difference, median, relative_change
from resolab.stats.order import quantile
from resolab.stats.overhead import BLOCKS_FOR_SHARE, estimate_remaining_share
from resolab.stats.quantile_shift import pairs_for_quantile, quantile_differences
from resolab.stats.sample import FloatArray, Sample
from resolab.stats.shift import hodges_lehmann
from resolab.stats.slope import slope_over_blocks
from resolab.stats.stopping import width_reached
from resolab.stats.two_medians import change_of_medians

Draw = Callable[[np.random.Generator, int], FloatArray]
TRUTH_SIZE = 1_000_001
SLOPE, SLOPE_LEVELS = 2.0, (15.0, 25.0, 42.0, 92.0, 105.0)
"""Round trips, and round-trip times like the times of the project's profiles."""
OVERHEAD = 200.0
"""Two round trips of a good mobile network, in ms."""
WAIT = 5_000.0
"""The system resolver's timeout before repeating a query (resolv.conf(5)), in ms."""
SAVED = 30.0
"""The time saved by a query on an open connection, in ms."""
BATCH_OF = (1, 8, 9)
"""The number of cold queries, queries on the connection, and queries without a connection, in a batch."""
EXTRA_AFTER = 10
CAP = 60
"""The number of blocks at which a stopping rule gives up."""


def _draw_skewed(rng: np.random.Generator, n: int) -> FloatArray:
    return 100 * np.exp(0.5 * rng.standard_normal(n))


def _bimodal(rng: np.random.Generator, n: int) -> FloatArray:
    return np.where(rng.random(n) < 0.7, rng.normal(100, 8, n), rng.normal(180, 10, n))


def _gap(rng: np.random.Generator, n: int) -> FloatArray:
    return np.where(rng.random(n) < 0.5, rng.normal(100, 8, n), rng.normal(180, 10, n))


def _draw_tied(rng: np.random.Generator, n: int) -> FloatArray:
    return np.round(_draw_skewed(rng, n) / 2) * 2


def _coarse(rng: np.random.Generator, n: int) -> FloatArray:
    return np.round(_draw_skewed(rng, n) / 20) * 20


def _heavy(rng: np.random.Generator, n: int) -> FloatArray:
    return np.asarray(np.maximum(500 * (1 + 0.04 * rng.standard_t(1.5, n)), 50))


def _waits(share: float) -> Draw:
    def draw(rng: np.random.Generator, n: int) -> FloatArray:
        return np.asarray(500 * np.exp(0.1 * rng.standard_normal(n)) + WAIT * (rng.random(n) < share))

    return draw


DATA: Mapping[str, Draw] = {
    "skewed": _draw_skewed,
    "bimodal": _bimodal,
    "tied": _draw_tied,
    "gap": _gap,
    "coarse": _coarse,
    "heavy tails": _heavy,
    "waits 5 %": _waits(0.05),
    "waits 20 %": _waits(0.2),
    "waits 50 %": _waits(0.5),
}
"""The kinds of data, in order. Log-normal with sigma 0.5. Seven in ten at 100 and three in ten at 180. The first kind
rounded to 2. Half at 100 and half at 180, with the median in the gap. The first kind rounded to 20, with about eight
different values. Student's t with 1.5 degrees of freedom around 500. 500 with sigma 0.1, with a share waiting 5,000
for a lost query."""


def draw_arms(kind: str, rng: np.random.Generator, blocks: int, count: int) -> list[FloatArray]:
    """Draw arms of the same blocks without any difference: the block slows all arms alike, by about 10 %."""
    drift = np.exp(0.1 * rng.standard_normal(blocks))
    arms = [DATA[kind](rng, blocks) * drift for _ in range(count)]
    if kind in {"tied", "coarse"}:
        step = 2 if kind == "tied" else 20
        arms = [np.round(one / step) * step for one in arms]
    return arms


def draw_pair(
    kind: str, rng: np.random.Generator, blocks: int, *, add: float = 0.0, factor: float = 1.0
) -> tuple[FloatArray, FloatArray]:
    """Draw a treatment and a baseline from the same blocks."""
    treatment, baseline = draw_arms(kind, rng, blocks, 2)
    return treatment * factor + add, baseline


def compute_truth(kind: str, statistic: Callable[[FloatArray], float]) -> float:
    """Return a statistic of the distribution itself, from a sample large enough to make its error negligible."""
    return float(statistic(DATA[kind](np.random.default_rng(1), TRUTH_SIZE)))


def coverage(
    estimate: Callable[[np.random.Generator, int], Estimate],
    truth: float,
    rounds: int,
    seed: int = 1,
    *,
    offered_least: float = 1.0,
) -> float:
    """Return the share of rounds with the truth inside the interval; `estimate` gets the generator and the round.

    Rounds without an interval are left out. Raise `ValueError` when fewer than `offered_least` of the rounds have an
    interval.
    """
    rng = np.random.default_rng(seed)
    held = offered = 0
    for number in range(rounds):
        one = estimate(rng, number)
        if one.ci_low is None or one.ci_high is None:
            continue
        offered += 1
        # Rounding of the last digit decides nothing: 1.2 * x / x - 1 is 0.2 within it.
        held += one.ci_low - 1e-9 <= truth <= one.ci_high + 1e-9
    if offered < offered_least * rounds:
        raise ValueError("too few values for an interval")
    return held / offered


@dataclass(frozen=True, slots=True)
class Interval:
    """A kind of interval: its construction from `n` blocks of simulated data, and its true value."""

    estimate: Callable[[str, int, np.random.Generator, int], Estimate]
    """A function of data kind, number of blocks (of each sample, for two samples), generator and resampling seed."""
    truth: float | Callable[[FloatArray], float]
    """The true number, or a statistic of the data's own distribution."""
    least_blocks: int = 5
    """With fewer blocks, the interval is not offered."""
    offered_least: float = 1.0
    """The smallest share of draws with an interval."""

    def coverage(self, kind: str, blocks: int, rounds: int) -> float:
        """Return the share of rounds with the truth inside the interval."""
        truth = compute_truth(kind, self.truth) if callable(self.truth) else self.truth

        def drawn(rng: np.random.Generator, number: int) -> Estimate:
            return self.estimate(kind, blocks, rng, number)

        return coverage(drawn, truth, rounds, offered_least=self.offered_least)


def _one(kind: str, n: int, rng: np.random.Generator) -> Sample:
    return Sample.exact(DATA[kind](rng, n))


def _pair(kind: str, n: int, rng: np.random.Generator, *, add: float = 0.0, factor: float = 1.0) -> list[Sample]:
    return [Sample.exact(values) for values in draw_pair(kind, rng, n, add=add, factor=factor)]


def _two(kind: str, n: int, rng: np.random.Generator) -> list[Sample]:
    return [_one(kind, n, rng), _one(kind, n, rng)]


def _lines(kind: str, n: int, rng: np.random.Generator) -> list[list[tuple[float, tuple[float, float]]]]:
    """Draw blocks with the difference of a pair growing with the level, in each block."""
    found: list[list[tuple[float, tuple[float, float]]]] = [[] for _ in range(n)]
    for level in SLOPE_LEVELS:
        treatment, baseline = draw_pair(kind, rng, n, add=SLOPE * level)
        for block, value in zip(found, treatment - baseline, strict=True):
            block.append((level, (float(value), float(value))))
    return found


def _share_of_overhead(kind: str, n: int, rng: np.random.Generator, seed: int) -> Estimate:
    """Draw a costly reference, and a treatment halfway between reference and baseline."""
    baseline, treatment, reference = draw_arms(kind, rng, n, 3)
    arms = (treatment + OVERHEAD / 2, reference + OVERHEAD, baseline)
    return estimate_remaining_share(*map(Sample.exact, arms), seed=seed)


def _amortisation(kind: str, n: int, rng: np.random.Generator) -> Amortisation:
    """Draw batches of a cold query, eight queries on its connection, and nine queries without, at a higher cost."""
    drift = np.exp(0.1 * rng.standard_normal((n, 1)))
    added = zip(BATCH_OF, (OVERHEAD, 0.0, SAVED), strict=True)
    drawn = [DATA[kind](rng, n * members).reshape(n, members) * drift + more for members, more in added]
    costs = [BatchedMean.from_arrays(one.sum(axis=1), np.full(n, one.shape[1])) for one in drawn]
    return amortisation(costs[0], costs[1], costs[2], [EXTRA_AFTER])


def _extra(kind: str, n: int, rng: np.random.Generator) -> Estimate:
    found = _amortisation(kind, n, rng)
    low, high = (float(ends[0]) for ends in (found.extra_ci_low_ms, found.extra_ci_high_ms))
    return found.saved_ms if math.isnan(low) else replace(found.saved_ms, ci_low=low, ci_high=high)


def _build_quantile_interval(probability: float) -> Interval:
    def estimate(kind: str, n: int, rng: np.random.Generator, seed: int) -> Estimate:
        pair = _pair(kind, n, rng, add=10)
        return quantile_differences(*pair, seed=seed, probabilities=(probability,))[0].difference

    return Interval(estimate, 10.0, pairs_for_quantile(probability))


INTERVALS: Mapping[str, Interval] = {
    "median": Interval(lambda kind, n, rng, _: median(_one(kind, n, rng)), lambda data: float(np.median(data))),
    "quantile 0.9": Interval(
        lambda kind, n, rng, _: quantile(_one(kind, n, rng), 0.9), lambda data: float(np.quantile(data, 0.9))
    ),
    "paired difference": Interval(
        lambda kind, n, rng, _: estimate_paired_difference(*_pair(kind, n, rng, add=10)), 10.0
    ),
    "relative change": Interval(
        lambda kind, n, rng, seed: relative_change(*_pair(kind, n, rng, factor=1.2), seed=seed), 0.2, PAIRS_FOR_CHANGE
    ),
    **{
        f"difference of P{share * 100:g}": _build_quantile_interval(share)
        for share in (0.1, 0.25, 0.5, 0.75, 0.9, 0.95)
    },
    "shift of pairs": Interval(lambda kind, n, rng, _: hodges_lehmann(*_pair(kind, n, rng, add=10), paired=True), 10.0),
    "shift of two samples": Interval(lambda kind, n, rng, _: hodges_lehmann(*_two(kind, n, rng)), 0.0),
    "change of medians": Interval(lambda kind, n, rng, _: change_of_medians(*_two(kind, n, rng)), 0.0),
    "Cliff's delta": Interval(lambda kind, n, rng, _: cliffs_delta(*_two(kind, n, rng)), 0.0),
    "share of an overhead": Interval(_share_of_overhead, 0.5, BLOCKS_FOR_SHARE, offered_least=0.5),
    "slope over blocks": Interval(lambda kind, n, rng, _: slope_over_blocks(_lines(kind, n, rng)), SLOPE),
    "saved by a query": Interval(
        lambda kind, n, rng, _: _amortisation(kind, n, rng).saved_ms, SAVED, BATCHES_FOR_MEANS
    ),
    "cumulated difference": Interval(
        lambda kind, n, rng, _: _extra(kind, n, rng), OVERHEAD - EXTRA_AFTER * SAVED, BATCHES_FOR_MEANS
    ),
    "break-even query": Interval(
        lambda kind, n, rng, _: _amortisation(kind, n, rng).break_even_count,
        math.ceil(OVERHEAD / SAVED),
        BATCHES_FOR_CROSSING,
    ),
}
"""Every simulated interval of the report, by its name in docs/method/statistics.md."""


def coverage_when_stopped(kind: str, level: float, min_blocks: int, target_blocks: int, rounds: int) -> float:
    """Return the coverage when a run stops as soon as the interval of a difference is narrow enough.

    The target is the typical width with `target_blocks` blocks. The rule checks the width after every block, from
    `min_blocks` on.
    """
    widths = np.random.default_rng(2)
    typical = [estimate_paired_difference(*_pair(kind, target_blocks, widths)).ci_width or 0.0 for _ in range(200)]
    width = float(np.median(typical))

    def stopped(rng: np.random.Generator, _: int) -> Estimate:
        treatment, baseline = _pair(kind, CAP, rng)
        for blocks in range(min_blocks, CAP + 1):
            first = range(blocks)
            estimate = estimate_paired_difference(treatment.take(first), baseline.take(first), level=level)
            if width_reached(estimate, width):
                break
        return estimate

    return coverage(stopped, 0.0, rounds)
