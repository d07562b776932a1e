"""A verdict on an expectation of one comparison, with the numbers behind it.

For: the shape between judging (`verdicts`) and showing (`sentences`, `forms`). Not for: either.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from resolab.campaign.checks.assumptions import Doubt
from resolab.campaign.checks.decision import Interval, Verdict
from resolab.plan import PlannedComparison
from resolab.plan.expectation import Expectation
from resolab.stats import BlocksNeeded
from resolab.store.outcomes import find_outcome


@dataclass(frozen=True, slots=True)
class CheckResult:
    """An expectation of one comparison, with its verdict and the numbers behind it."""

    expectation: Expectation
    comparison: PlannedComparison
    verdict: Verdict
    sentence: str
    blocks_count: int
    """The pairs of the comparison; of failures and shares, the treatment's trials."""
    estimate_ms: float | None = None
    interval_ms: Interval | None = None
    share: float | None = None
    share_interval: Interval | None = None
    failures_count: int = 0
    spread_ms: float | None = None
    """The spread of the pairs' differences: 1.4826 times their median absolute deviation, so that no tail sets it."""
    tail_counts: tuple[int, int] = (0, 0)
    """The pairs with a treatment far slower, and far faster, than its baseline: the median does not see them."""
    doubts: Sequence[Doubt] = ()
    """The assumptions of the verdict that the run does not bear out."""
    looks_count: int = 1
    """The number of interim analyses until now."""
    blocks_needed: BlocksNeeded | None = None
    """Of an undecided check of time, the blocks that would decide; `None` also when the pairs do not say."""
    seconds: float = 0.0
    """The time spent on the trials of the comparison."""

    @property
    def reference_spread_ms(self) -> float | None:
        """The largest spread of a quiet machine; `None` for checks without a spread and unmeasured outcomes."""
        return None if self.spread_ms is None else find_outcome(self.expectation.outcome).quiet_spread_ms
