"""False verdicts of each tool's rule, and of ours, on published loads of equal copies.

For: `scripts/bench verdicts`. Not for: the loads (docs/results/aa), or the rules (`rules`).

Each ordered pair of copies of a condition is a comparison; a slow-down is made by multiplying the times of one copy. A
rule of another tool calls the copy slower, or lets it pass. Ours is `not_slower_than` with a margin of 5 %: not met,
met or undecided. Longer campaigns of ours draw their pairs from the 72 ordered pairs of a condition's copies.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path

import numpy as np

from benches.common.part import BenchPart
from benches.verdicts.rules import PEER_RULES, SlowerRule
from resolab.campaign.checks.decision import Verdict, interval_at_any_look, interval_of_fixed_blocks, judge_times
from resolab.plan.analysis import OutcomeName
from resolab.plan.comparison import ComparisonRule
from resolab.plan.condition import Baseline
from resolab.plan.expectation import Expectation, ExpectationKind
from resolab.stats import FloatArray, MedianSequence, Sample
from resolab.store import open_dataset
from resolab.store.outcomes import PLT

CHANGES = (0.0, 0.02, 0.05, 0.10)
MARGIN_PERCENT = 5.0
MOST_FALSE_PERCENT = 2.5
CAMPAIGN_BLOCKS = (24, 48, 100)
ONE_LOOK = "one look"
"""The row with a fixed number of blocks. The bench knows this row's rate to about one percent, so no limit applies."""
CAMPAIGNS_COUNT = 20
"""The number of drawn campaigns of a condition."""
EXPECTED = Expectation(
    "alike", ComparisonRule("alike", {}, Baseline({})), ExpectationKind.NOT_SLOWER_THAN, OutcomeName.PLT,
    margin_percent=MARGIN_PERCENT,
)  # fmt: skip


@dataclass(frozen=True)
class Verdicts:
    """The shares of a rule's verdicts for one true change, in percent."""

    slower: float
    passed: float

    @property
    def undecided(self) -> float:
        """Return the remaining share."""
        return 100 - self.slower - self.passed


def measure(folder: Path, seed: int) -> BenchPart:
    """Judge all pairs by all rules."""
    part = BenchPart(
        "alike", f"page loads of equal copies ({folder}), % of comparisons by true change",
        ["rule", *(f"slower, {change:+.0%}" for change in CHANGES), "passes, +5%",
         "undecided, 0 / +5 / +10%", "verdict"],
    )  # fmt: skip
    copies = list(_read_copies(folder))
    pairs = [pair for values in copies for pair in permutations(values, 2)]
    for name, rule in PEER_RULES.items():
        found = [_judge_peer(rule, pairs, change) for change in CHANGES]
        _add(part, name, found, is_ours=False)
    for name, interval_of in (("a look after each", interval_at_any_look), (ONE_LOOK, interval_of_fixed_blocks)):
        found = [
            _share([judge_times(EXPECTED, *_samples(*pair, change), interval_of) for pair in pairs])
            for change in CHANGES
        ]
        _add(part, f"ours: not slower than 5 %, 12 blocks, {name}", found, is_ours=True, is_required=name != ONE_LOOK)
    rng = np.random.default_rng(seed)
    for blocks in CAMPAIGN_BLOCKS:
        drawn = [campaign for values in copies for campaign in _draw(rng, values, blocks)]
        found = [_share([_judge_campaign(*pair, change) for pair in drawn]) for change in CHANGES]
        _add(part, f"ours, at most {blocks} blocks, a look after each", found, is_ours=True)
    part.remarks.append(
        f"{len(pairs)} ordered pairs of {len(copies)} conditions; {len(copies) * CAMPAIGNS_COUNT} drawn campaigns"
    )
    part.remarks.append(f"ours must: slower at 0 and passes at +5 % at most {MOST_FALSE_PERCENT} % each")
    return part


def _read_copies(folder: Path) -> Iterator[list[FloatArray]]:
    """Read the load times of each condition's copies, by block; a failed load counts as its limit."""
    found: dict[str, dict[int, dict[int, float]]] = {}
    with open_dataset(folder) as dataset:
        copies = {row["condition"]: row["replicate"] for row in dataset.sql("SELECT condition, replicate FROM trials")}
        for load in dataset.measured_loads():
            told = PLT.contribution(load)
            if told is not None:
                replicate = copies[load.condition]
                condition = load.condition.removesuffix(f".copy{replicate}")
                value_ms = told.limit_ms if told.value_ms is None else told.value_ms
                found.setdefault(condition, {}).setdefault(replicate, {})[load.block] = value_ms
    for values in found.values():
        common = sorted(set.intersection(*(set(one) for one in values.values())))
        yield [np.array([one[block] for block in common]) for one in values.values()]


def _judge_peer(rule: SlowerRule, pairs: Sequence[tuple[FloatArray, ...]], change: float) -> Verdicts:
    slower = 100 * float(np.mean([rule(old, new * (1 + change)) for old, new in pairs]))
    return Verdicts(slower, 100 - slower)


def _samples(old: FloatArray, new: FloatArray, change: float) -> tuple[Sample, Sample]:
    return Sample.exact(new * (1 + change)), Sample.exact(old)


def _share(verdicts: Sequence[Verdict]) -> Verdicts:
    not_met, met = (100 * verdicts.count(one) / len(verdicts) for one in (Verdict.NOT_MET, Verdict.MET))
    return Verdicts(not_met, met)


def _draw(
    rng: np.random.Generator, values: Sequence[FloatArray], blocks: int
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Draw campaigns of pairs of a block's loads under two copies."""
    old, new = (np.concatenate([pair[side] for pair in permutations(values, 2)]) for side in (0, 1))
    for _ in range(CAMPAIGNS_COUNT):
        chosen = rng.integers(0, old.size, blocks)
        yield old[chosen], new[chosen]


def _judge_campaign(old: FloatArray, new: FloatArray, change: float) -> Verdict:
    """Look after each block and stop at the first verdict."""
    sequence = MedianSequence()
    for difference in new * (1 + change) - old * (1 + MARGIN_PERCENT / 100):
        sequence.add(float(difference), float(difference))
        if sequence.low > 0:
            return Verdict.NOT_MET
        if sequence.high < 0:
            return Verdict.MET
    return Verdict.UNDECIDED


def _add(part: BenchPart, name: str, found: Sequence[Verdicts], *, is_ours: bool, is_required: bool = True) -> None:
    by_change = dict(zip(CHANGES, found, strict=True))
    false_percent = max(by_change[0.0].slower, by_change[0.05].passed)
    judged = ("met" if false_percent <= MOST_FALSE_PERCENT else "MISSED") if is_ours and is_required else ""
    undecided = " / ".join(f"{by_change[change].undecided:.1f}" for change in (0.0, 0.05, 0.10)) if is_ours else ""
    cells = [name, *(f"{one.slower:.1f}" for one in found), f"{by_change[0.05].passed:.1f}", undecided, judged]
    data = {str(change): [one.slower, one.passed] for change, one in by_change.items()}
    part.add(cells, {"rule": name, "slower_passed_percent_by_change": data})
