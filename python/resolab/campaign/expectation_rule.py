"""Stop a campaign when every expectation has a verdict, and list the conditions still needed.

For: the rule `expectations` of a plan, on the same values as the verdicts (`report.verdicts`). Not for: decisions of
comparisons (`decisions`).

A verdict on times or shares depends only on the blocks before it, and is final here: a killed and resumed campaign
stops after the same block. An expectation about failures never keeps a campaign going.
"""

import math
from collections.abc import Iterable

from resolab.basics.records import Record
from resolab.campaign.checks.decision import (
    Interval,
    Verdict,
    interval_at_any_look,
    judge_share,
    judge_times,
    subtract_scaled,
)
from resolab.campaign.contributions import OutcomeContributions, make_sample
from resolab.campaign.interim_analysis import InterimAnalysis, describe_decision, describe_width
from resolab.plan import Plan, PlannedComparison
from resolab.plan.expectation import TIME_KINDS, Expectation, ExpectationKind
from resolab.stats import pairs
from resolab.store import Decision, IntervalWidth
from resolab.store.outcomes import find_outcome


class ExpectationRule:
    """The verdicts on the expectations of a campaign, block by block."""

    def __init__(self, plan: Plan) -> None:
        conditions = plan.conditions()
        outcomes = dict.fromkeys(one.outcome for one in plan.expectations)
        self._measured = {name: OutcomeContributions(find_outcome(name), conditions) for name in outcomes}
        self._open = [
            _OpenExpectation(one, pair, self._measured[one.outcome])
            for one in plan.expectations
            if one.kind is not ExpectationKind.FAILURES_AT_MOST
            for pair in one.list_comparisons(conditions, plan.find_with_levels)
        ]

    def add(self, condition: str, block: int, records: Iterable[Record]) -> None:
        """Add a finished trial's contribution to every outcome."""
        listed = list(records)
        for one in self._measured.values():
            one.add(condition, block, listed)

    def look(self, blocks: int) -> InterimAnalysis:
        """Judge every open expectation by the first `blocks` blocks."""
        for one in self._open:
            one.look(blocks)
        still = [one for one in self._open if one.after_blocks is None]
        widest = max(still or self._open, key=lambda one: one.width)
        return InterimAnalysis(
            blocks=blocks,
            reached=not still,
            widths=tuple(one.width_reached() for one in self._open),
            widest=widest.width,
            widest_name=widest.pair.name,
            decisions=tuple(one.decision() for one in self._open),
            loaded=self._list_needed([one.pair for one in still]),
        )

    def text(self, look: InterimAnalysis) -> str:
        """Return the number of expectations with a verdict, as text."""
        decided = sum(one.after_blocks is not None for one in look.decisions)
        return f"{decided} of {len(look.decisions)} expectations have a verdict"

    def estimate_blocks(self, look: InterimAnalysis, cap: int) -> int:
        """Return the cap: the block of the last verdict is not predictable."""
        return look.blocks if look.reached else cap

    def _list_needed(self, still: list[PlannedComparison]) -> frozenset[str]:
        return frozenset(arm.id for one in still for arm in (one.treatment, one.baseline))


class _OpenExpectation:
    """An expectation of one comparison, before and after its verdict."""

    def __init__(self, one: Expectation, pair: PlannedComparison, measured: OutcomeContributions) -> None:
        self.pair, self._one, self._measured = pair, one, measured
        self.after_blocks: int | None = None
        self._interval, self._pairs_count = Interval(-math.inf, math.inf), 0

    def look(self, blocks: int) -> None:
        if self.after_blocks is None and self._judge(blocks) is not Verdict.UNDECIDED:
            self.after_blocks = blocks

    def _judge(self, blocks: int) -> Verdict:
        own, other = (
            self._measured.select_first_blocks(arm.id, blocks) for arm in (self.pair.treatment, self.pair.baseline)
        )
        if self._one.kind not in TIME_KINDS:
            self._pairs_count = len(own)
            return judge_share(self._one, [one.value_ms for one in own.values()]).verdict
        treated, compared = pairs(sorted(own), sorted(other))
        treatment, baseline = make_sample(own).take(treated), make_sample(other).take(compared)
        self._interval = interval_at_any_look(subtract_scaled(treatment, baseline, 0.0, 1.0))
        self._pairs_count = len(treatment)
        return judge_times(self._one, treatment, baseline, interval_at_any_look)

    @property
    def width(self) -> float:
        """Return the interval's width in ms; infinite without an interval."""
        return self._interval.high - self._interval.low

    def width_reached(self) -> IntervalWidth:
        """Return the width for the manifest."""
        return describe_width(self.pair, self.width)

    def decision(self) -> Decision:
        """Return the verdict's block and interval for the manifest."""
        interval = self._interval.low, self._interval.high
        return describe_decision(self.pair, interval, self._pairs_count, self.after_blocks)
