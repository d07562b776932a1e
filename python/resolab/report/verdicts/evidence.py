"""The evidence beside a verdict on times: pairs in tails, the order of the arms, the blocks for a verdict.

For: `verdicts` and verdicts across datasets. Not for: the decision (`checks.decision`), which uses none of this.
"""

from collections.abc import Sequence

import numpy as np

from resolab.campaign.checks.decision import subtract_scaled
from resolab.plan.expectation import Expectation, ExpectationKind
from resolab.stats import BlocksNeeded, IntervalGoal, PowerRule, Sample, blocks_needed, median
from resolab.store.rows import LoadRow

TAIL_SPREADS = 10.0
"""A pair so many spreads away from the median difference belongs to a tail."""
MOST_BLOCKS = 1_000
"""The largest number of blocks looked at for an undecided check."""


def count_tails(differences: Sample, spread_ms: float | None) -> tuple[int, int]:
    """Count the pairs far above and far below the median difference; 0 without a spread."""
    if not spread_ms:
        return 0, 0
    middle, far_ms = float(np.median(differences.low)), TAIL_SPREADS * spread_ms
    return int((differences.low > middle + far_ms).sum()), int((differences.high < middle - far_ms).sum())


def list_treatment_second(blocks: Sequence[int], own: Sequence[LoadRow], other: Sequence[LoadRow]) -> list[bool]:
    """List for each block of both arms whether the treatment began after the baseline, by the machine's clock."""
    began = [{load.block: load.monotonic_ns for load in arm} for arm in (own, other)]
    pairs = [(began[0][block], began[1][block]) for block in blocks]
    return [treated > compared for treated, compared in pairs if treated is not None and compared is not None]


def estimate_blocks_needed(
    one: Expectation, treatment: Sample, baseline: Sample, rule: PowerRule, seed: int
) -> BlocksNeeded | None:
    """Estimate the blocks for a verdict, met or not met, if the true difference is the median of the pairs so far."""
    margin_ms = compute_margin_ms(one, baseline)
    if margin_ms is None:
        return None
    differences = subtract_scaled(treatment, baseline, 0.0, 1.0)
    return blocks_needed(differences, _aim_at_verdict(one, margin_ms), rule, most=MOST_BLOCKS, seed=seed)


def compute_margin_ms(one: Expectation, baseline: Sample) -> float | None:
    """Return the margin in ms, a percentage by the baseline's median; `None` for an unknown median."""
    if one.margin_ms is not None:
        return one.margin_ms
    middle = median(baseline).value
    return None if middle is None else middle * (one.margin_percent or 0.0) / 100


def _aim_at_verdict(one: Expectation, margin_ms: float) -> IntervalGoal:
    """Return the goal of an interval that decides an expectation."""
    if one.kind is ExpectationKind.EQUIVALENT_WITHIN:
        return IntervalGoal(
            lambda low, high: ((low > -margin_ms) & (high < margin_ms)) | (low > margin_ms) | (high < -margin_ms)
        )
    bound_ms = margin_ms if one.kind is ExpectationKind.NOT_SLOWER_THAN else -margin_ms
    return IntervalGoal(lambda low, high: (low > bound_ms) | (high < bound_ms))
