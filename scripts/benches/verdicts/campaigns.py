"""False verdicts of simulated campaigns with a look after each block, the truth exactly at the bound.

For: `scripts/bench verdicts`. Not for: coverage of the intervals (`scripts/coverage_simulations`).

Every campaign runs at most 60 blocks and stops at its first verdict. With the truth at the bound, any verdict is false.
Faults of a run, such as an arm always second, move the differences away from the truth; no interval can see them. The
run's own doubts (`resolab.campaign.checks.assumptions`) must name them.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import scipy

from benches.common.part import BenchPart
from resolab.campaign.checks.assumptions import DoubtKind, find_doubts
from resolab.campaign.checks.decision import Verdict
from resolab.stats import FloatArray, MedianSequence, Sample

BLOCKS = 60
MOST_FALSE_PERCENT = 2.5
STANDARD_ERRORS = 3.0
"""A rate may exceed the promise by so many standard errors of the simulation."""
NOISE_MS = 8.0
DRIFT_MS = 5.0
"""The drift of the machine from one trial to the next: 600 ms in 60 blocks of two trials."""
SLOW_START_MS, SLOW_START_BLOCKS = 12.0, 10
LEAST_SEEN_PERCENT = 95.0
"""Of the false verdicts of a faulty run, so many must come with a doubt."""


@dataclass(frozen=True)
class Scenario:
    """Differences beyond the bound, and the positions of the treatment."""

    draw: Callable[[np.random.Generator, np.ndarray], FloatArray]
    """Draws 60 differences with the median 0, from the generator and "the treatment runs second" by block."""
    is_random_order: bool = True
    is_faulty: bool = False
    """True when the run cannot keep its error rates."""
    is_required: bool = True
    """False for a row without a limit."""
    least_blocks: int = 1
    """The block of the first look at the interval (`min_blocks`)."""


def _normal(rng: np.random.Generator, _: np.ndarray) -> FloatArray:
    return rng.normal(0.0, NOISE_MS, BLOCKS)


def _heavy(rng: np.random.Generator, _: np.ndarray) -> FloatArray:
    return NOISE_MS * rng.standard_t(1.5, BLOCKS)


def _skewed(rng: np.random.Generator, _: np.ndarray) -> FloatArray:
    return NOISE_MS * (rng.lognormal(0.0, 1.0, BLOCKS) - 1.0)


def _waits(share: float) -> Callable[[np.random.Generator, np.ndarray], FloatArray]:
    """Let the treatment wait a second in a share of blocks; the median of all differences stays 0."""
    middle = NOISE_MS * scipy.special.ndtri(0.5 / (1 - share))
    return lambda rng, _: rng.normal(0.0, NOISE_MS, BLOCKS) + 1_000.0 * (rng.random(BLOCKS) < share) - middle


def _drift(rng: np.random.Generator, second: np.ndarray) -> FloatArray:
    return rng.normal(0.0, NOISE_MS, BLOCKS) + np.where(second, DRIFT_MS, -DRIFT_MS)


def _slow_start(rng: np.random.Generator, _: np.ndarray) -> FloatArray:
    return rng.normal(0.0, NOISE_MS, BLOCKS) + SLOW_START_MS * (np.arange(BLOCKS) < SLOW_START_BLOCKS)


def _correlated(strength: float) -> Callable[[np.random.Generator, np.ndarray], FloatArray]:
    def draw(rng: np.random.Generator, _: np.ndarray) -> FloatArray:
        steps = rng.normal(0.0, NOISE_MS * np.sqrt(1 - strength**2), BLOCKS)
        steps[0] /= np.sqrt(1 - strength**2)
        return np.asarray(scipy.signal.lfilter([1.0], [1.0, -strength], steps))

    return draw


SCENARIOS: Mapping[str, Scenario] = {
    "normal, spread 8 ms": Scenario(_normal),
    "heavy tails (Student t, 1.5 degrees)": Scenario(_heavy),
    "skewed (log-normal)": Scenario(_skewed),
    "treatment waits 1 s in 5 %": Scenario(_waits(0.05)),
    "treatment waits 1 s in 20 %": Scenario(_waits(0.20)),
    "machine drifts by 600 ms, order random": Scenario(_drift),
    "the same, treatment always second": Scenario(_drift, is_random_order=False, is_faulty=True),
    "first 10 blocks 12 ms slower": Scenario(_slow_start, is_faulty=True),
    "the same, min_blocks = 30": Scenario(_slow_start, is_faulty=True, is_required=False, least_blocks=30),
    "neighbouring blocks correlated, 0.6": Scenario(_correlated(0.6), is_faulty=True, is_required=False),
    "the same, min_blocks = 30 ": Scenario(_correlated(0.6), is_faulty=True, is_required=False, least_blocks=30),
}


@dataclass
class Counted:
    """The counts of a scenario's campaigns."""

    false_met: int = 0
    false_not_met: int = 0
    doubted: int = 0
    """Campaigns with any doubt except few blocks."""
    seen: int = 0
    """False verdicts with any doubt, few blocks included."""
    seen_by_test: int = 0
    """False verdicts with a doubt other than few blocks."""
    kinds: Counter[DoubtKind] = field(default_factory=Counter)


def measure(campaigns_count: int, seed: int) -> BenchPart:
    """Simulate every scenario."""
    part = BenchPart(
        "campaigns", f"{campaigns_count} simulated campaigns of at most {BLOCKS} blocks, truth at the bound, %",
        ["differences", "false met", "false not met", "with a warning", "false ones with a warning",
         "or a note", "verdict"],
    )  # fmt: skip
    for name, scenario in SCENARIOS.items():
        rng = np.random.default_rng([seed, len(part.rows)])
        counted = Counted()
        for _ in range(campaigns_count):
            _run(scenario, rng, counted)
        _add(part, name, scenario, counted, campaigns_count)
    part.remarks.append(
        "warnings: order, drift, correlation; the note says that the verdict rests on fewer than 30 blocks"
    )
    return part


def _run(scenario: Scenario, rng: np.random.Generator, counted: Counted) -> None:
    second = rng.random(BLOCKS) < 0.5 if scenario.is_random_order else np.ones(BLOCKS, dtype=bool)
    differences = scenario.draw(rng, second)
    verdict, blocks = decide(differences, scenario.least_blocks)
    doubts = find_doubts(Sample.exact(differences[:blocks]), second[:blocks].tolist())
    tested = [one for one in doubts if one.kind is not DoubtKind.FEW_BLOCKS]
    counted.false_met += verdict is Verdict.MET
    counted.false_not_met += verdict is Verdict.NOT_MET
    counted.doubted += bool(tested)
    counted.kinds.update(one.kind for one in tested)
    if verdict is not Verdict.UNDECIDED:
        counted.seen += bool(doubts)
        counted.seen_by_test += bool(tested)


def decide(differences: FloatArray, least_blocks: int = 1) -> tuple[Verdict, int]:
    """Look after each block; return the first verdict on "not above 0" and its block, or undecided and all blocks."""
    sequence = MedianSequence()
    for place, difference in enumerate(differences, 1):
        sequence.add(float(difference), float(difference))
        if place < least_blocks or sequence.contradicts_itself:
            continue
        if sequence.high < 0 or sequence.low > 0:
            return Verdict.MET if sequence.high < 0 else Verdict.NOT_MET, place
    return Verdict.UNDECIDED, len(differences)


def _add(part: BenchPart, name: str, scenario: Scenario, counted: Counted, count: int) -> None:
    false = counted.false_met + counted.false_not_met
    met, not_met, doubted = (100 * one / count for one in (counted.false_met, counted.false_not_met, counted.doubted))
    noted, warned = (100 * one / false if false else 0.0 for one in (counted.seen, counted.seen_by_test))
    if not scenario.is_required:
        judged = ""
    elif scenario.is_faulty:
        judged = "met" if noted >= LEAST_SEEN_PERCENT else "MISSED"
    else:
        error = 100 * np.sqrt(MOST_FALSE_PERCENT / 100 * (1 - MOST_FALSE_PERCENT / 100) / count)
        judged = "met" if max(met, not_met) <= MOST_FALSE_PERCENT + STANDARD_ERRORS * error else "MISSED"
    cells = [name, *(f"{one:.1f}" for one in (met, not_met, doubted, warned, noted)), judged]
    kinds = {str(kind): number for kind, number in counted.kinds.items()}
    part.add(cells, {"differences": name, "counts": counted.__dict__ | {"kinds": kinds}, "campaigns_count": count})
