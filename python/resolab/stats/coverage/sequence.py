"""The coverage of a confidence sequence at every look, and its number of blocks, by simulation.

For: the test of the sequence and its tables in docs/method/statistics.md (`scripts/coverage_simulations/sequences.py`).
Not for: the sequence (`sequence`), intervals of a fixed number of blocks (`coverage`).

The data are paired differences as measured in this lab: page loads with some milliseconds of spread. A share of the
loads waits five seconds for a lost query, or fails.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy

from resolab.stats.medians import subtract_pairs
from resolab.stats.order import LEVEL, quantile
from resolab.stats.sample import FloatArray, Sample
from resolab.stats.sequence import MedianSequence

WAIT = 5_000.0
LIMIT = 30_000.0
SPREAD = 10.0


def _normal(rng: np.random.Generator, n: int) -> Sample:
    return Sample.exact(SPREAD * rng.standard_normal(n))


def _draw_tied(rng: np.random.Generator, n: int) -> Sample:
    return Sample.exact(np.round(SPREAD * rng.standard_normal(n) / 5) * 5)


def _draw_skewed(rng: np.random.Generator, n: int) -> Sample:
    return Sample.exact(SPREAD * (np.exp(rng.standard_normal(n)) - 1))


def _heavy(rng: np.random.Generator, n: int) -> Sample:
    return Sample.exact(SPREAD * rng.standard_t(1.5, n))


def _bimodal(rng: np.random.Generator, n: int) -> Sample:
    second = np.where(rng.random(n) < 0.4, 8 * SPREAD, 0.0)
    return Sample.exact(SPREAD * rng.standard_normal(n) + second - _BIMODAL_MEDIAN)


def _waits(share: float) -> Callable[[np.random.Generator, int], Sample]:
    def draw(rng: np.random.Generator, n: int) -> Sample:
        treatment = WAIT * (rng.random(n) < share)
        baseline = WAIT * (rng.random(n) < share / 4)
        return Sample.exact(SPREAD * rng.standard_normal(n) + treatment - baseline - waits_median(share))

    return draw


def _fails(rng: np.random.Generator, n: int) -> Sample:
    """Draw pairs with a failed treatment in a fifth and a failed baseline in a tenth, known only as bounds."""
    middle = 1_000 + 50 * rng.standard_normal(n)
    arms = []
    for share, own in ((0.2, 0.0), (0.1, 0.0)):
        time = middle + own + SPREAD * rng.standard_normal(n)
        failed = rng.random(n) < share
        arms.append(Sample.from_censored([None if lost else float(t) for t, lost in zip(time, failed, strict=True)],
                                    [LIMIT] * n))  # fmt: skip
    differences = subtract_pairs(arms[0], arms[1])
    shift = _fails_median()
    return Sample(differences.low - shift, differences.high - shift)


def _root(below: Callable[[float], float], end: float) -> float:
    return float(scipy.optimize.brentq(lambda x: below(x) - 0.5, -end, end, xtol=1e-9))


_BIMODAL_MEDIAN = _root(
    lambda x: 0.6 * float(scipy.special.ndtr(x / SPREAD)) + 0.4 * float(scipy.special.ndtr(x / SPREAD - 8)), 200
)


@lru_cache
def waits_median(share: float) -> float:
    """Return the median difference for a treatment waiting in this share of blocks, and a baseline in a fourth."""
    both = share / 4
    alike = share * both + (1 - share) * (1 - both)

    def below(x: float) -> float:
        ahead, level, behind = (float(scipy.special.ndtr((x - at) / SPREAD)) for at in (WAIT, 0.0, -WAIT))
        return share * (1 - both) * ahead + alike * level + (1 - share) * both * behind

    return _root(below, 2 * WAIT)


@lru_cache
def _fails_median() -> float:
    # A failed treatment is above all others, a failed baseline below; of both lost pairs nothing is known, and they
    # are taken as above and below alike.
    above, behind = 0.2 * 0.9, 0.8 * 0.1
    lost = 0.2 * 0.1
    known = 1 - above - behind - lost
    return float(np.sqrt(2) * SPREAD * scipy.special.ndtri((0.5 - behind - lost / 2) / known))


KINDS: Mapping[str, Callable[[np.random.Generator, int], Sample]] = {
    "normal": _normal,
    "tied": _draw_tied,
    "skewed": _draw_skewed,
    "heavy tails": _heavy,
    "bimodal": _bimodal,
    "waits 5 %": _waits(0.05),
    "waits 20 %": _waits(0.2),
    "waits 40 %": _waits(0.4),
    "waits 50 %": _waits(0.5),
    "fails 20 %": _fails,
}
"""Differences with a median of 0, in order. Normal with a spread of 10 ms. The same rounded to 5 ms. Log-normal.
Student's t with 1.5 degrees of freedom. Two modes 80 ms apart, four in ten in the second. A treatment waiting five
seconds in a share of blocks, and the baseline in a fourth of this share. A treatment failing in a fifth of blocks,
and the baseline in a tenth."""


def simulate_coverage(kind: str, blocks: Sequence[int], rounds: int, seed: int = 1) -> list[float]:
    """Return the share of campaigns with the median inside every interval, up to each number of blocks."""
    rng = np.random.default_rng(seed)
    held = np.zeros(len(blocks))
    for _ in range(rounds):
        ends = _run(KINDS[kind](rng, max(blocks)), blocks)
        held += [low - 1e-9 <= 0 <= high + 1e-9 for low, high in ends]
    return [float(one) / rounds for one in held]


def simulate_fixed_coverage(kind: str, blocks: Sequence[int], least: int, rounds: int, seed: int = 1) -> list[float]:
    """Return the same share for intervals of a fixed number of blocks, checked after every block from `least` on."""
    rng = np.random.default_rng(seed)
    held = np.zeros(len(blocks))
    for _ in range(rounds):
        sample = KINDS[kind](rng, max(blocks))
        misses = [n for n in range(least, max(blocks) + 1) if not _holds_for_fixed(sample, n)]
        held += [not misses or misses[0] > most for most in blocks]
    return [float(one) / rounds for one in held]


def _holds_for_fixed(sample: Sample, blocks: int) -> bool:
    one = quantile(sample.take(range(blocks)), 0.5)
    return one.ci_low is None or one.ci_high is None or one.ci_low - 1e-9 <= 0 <= one.ci_high + 1e-9


def _run(sample: Sample, blocks: Sequence[int]) -> list[tuple[float, float]]:
    """Return the ends of the sequence after each given number of blocks."""
    sequence, found = MedianSequence(), {}
    for number, (low, high) in enumerate(zip(sample.low, sample.high, strict=True), start=1):
        sequence.add(float(low), float(high))
        if number in blocks:
            found[number] = (sequence.low, sequence.high)
    return [found[number] for number in blocks]


@dataclass(frozen=True, slots=True)
class DetectionBlocks:
    """The number of blocks until a true difference is detected."""

    effect: float
    fixed: int
    """The fixed number of blocks detecting the difference with a power of 80 %."""
    mean: float
    """Mean blocks of the sequence; without a detection, a campaign counts with the cap, four times the fixed number."""
    p80: float
    """The number of blocks within which four in five campaigns detect the difference."""
    within_fixed_ratio: float
    mean_of_twice: float
    """Mean blocks when the difference is twice as large as planned for the fixed number."""


def blocks_taken(kind: str, fixed: int, rounds: int, seed: int = 1) -> DetectionBlocks:
    """Compare stopping as soon as 0 is excluded with a fixed number of blocks of 80 % power."""
    effect = _find_effect(kind, fixed, seed)
    ends = _find_ends(kind, effect, 4 * fixed, rounds, seed + 1)
    twice = _find_ends(kind, 2 * effect, 4 * fixed, rounds, seed + 2)
    return DetectionBlocks(
        effect=effect,
        fixed=fixed,
        mean=float(ends.mean()),
        p80=float(np.quantile(ends, 0.8, method="higher")),
        within_fixed_ratio=float(np.mean(ends <= fixed)),
        mean_of_twice=float(twice.mean()),
    )


def _find_effect(kind: str, blocks: int, seed: int, rounds: int = 1_000) -> float:
    """Find the difference detected by an interval of `blocks` blocks with a power of 80 %."""
    rng = np.random.default_rng(seed)
    lows = [quantile(KINDS[kind](rng, blocks), 0.5).ci_low for _ in range(rounds)]
    # The interval moves with the difference: its lower end must be above 0 in four of five rounds.
    return -float(np.quantile([one for one in lows if one is not None], 0.2))


def _find_ends(kind: str, effect: float, cap: int, rounds: int, seed: int) -> FloatArray:
    rng = np.random.default_rng(seed)
    return np.array([_find_end(KINDS[kind](rng, cap), effect, cap) for _ in range(rounds)], dtype=np.float64)


def _find_end(sample: Sample, effect: float, cap: int) -> int:
    sequence = MedianSequence(LEVEL)
    for number, (low, high) in enumerate(zip(sample.low, sample.high, strict=True), start=1):
        sequence.add(float(low) + effect, float(high) + effect)
        if sequence.low > 0 or sequence.high < 0:
            return number
    return cap
