"""Decide comparisons of a campaign, each by its own confidence sequence, and list the conditions still needed.

For: the rule `confidence_sequence` of a plan, on the same values as the report. Not for: the sequence (`stats`), or the
rule of a common width for all (`precision`).

A decision depends only on the finished blocks before the decision, and is final. A killed and resumed campaign decides
the same after the same block, and loads the same conditions in the following blocks.
"""

import math
from collections.abc import Iterable, Mapping

from resolab.basics.records import Record
from resolab.campaign.contributions import OutcomeContributions, make_sample
from resolab.campaign.interim_analysis import InterimAnalysis, describe_decision, describe_width
from resolab.plan import ComparisonKind, Condition, DecisionCriterion, Plan, PlannedComparison, StopSettings
from resolab.stats import MedianSequence, median, subtract_pairs
from resolab.store import Decision, IntervalWidth
from resolab.store.outcomes import PLT, LoadOutcome


class ConfidenceSequenceRule:
    """The decisions about an outcome of a campaign's page loads, for each comparison."""

    def __init__(
        self, plan: Plan, stop: StopSettings, margins_ms: Mapping[str, float] | None = None, outcome: LoadOutcome = PLT
    ) -> None:
        """Begin without any trial; `margins_ms` has the equivalence margins by the comparisons' identifiers."""
        self._stop, self._measured = stop, OutcomeContributions(outcome, plan.conditions())
        planned = [one for one in plan.comparisons() if one.kind is not ComparisonKind.AA]
        margins = margins_ms or {}
        self._comparisons = [_ComparisonSequence(one, stop, margins.get(one.id), self._measured) for one in planned]
        self._conditions = plan.conditions()

    def add(self, condition: str, block: int, records: Iterable[Record]) -> None:
        """Add a finished trial's contribution to the outcome."""
        self._measured.add(condition, block, records)

    def look(self, blocks: int) -> InterimAnalysis:
        """Extend every sequence to the end of the first `blocks` blocks, and decide."""
        for one in self._comparisons:
            one.look(blocks)
        still = [one for one in self._comparisons if one.decision is None]
        widest, name = max((one.width, one.pair.name) for one in still or self._comparisons)
        return InterimAnalysis(
            blocks=blocks,
            reached=not still,
            widths=tuple(one.width_reached() for one in self._comparisons),
            widest=widest,
            widest_name=name,
            decisions=tuple(one.decision or one.describe_undecided() for one in self._comparisons),
            loaded=self._list_loaded([one.pair for one in still]),
        )

    def text(self, look: InterimAnalysis) -> str:
        """Return the number of decided comparisons and of conditions still loaded, as text."""
        decided = sum(one.after_blocks is not None for one in look.decisions)
        loaded = len(self._conditions) if look.loaded is None else len(look.loaded)
        return (
            f"{decided} of {len(look.decisions)} comparisons decided, "
            f"{loaded} of {len(self._conditions)} conditions still loaded"
        )

    def estimate_blocks(self, look: InterimAnalysis, cap: int) -> int:
        """Return the cap: the block with an interval excluding 0 is not predictable."""
        return look.blocks if look.reached else cap

    def _list_loaded(self, still: list[PlannedComparison]) -> frozenset[str]:
        """Return the conditions of open comparisons, the conditions in no comparison, and the copies of both."""
        if not still:
            return frozenset()
        compared = {arm for one in self._comparisons for arm in (one.pair.treatment.id, one.pair.baseline.id)}
        needed = {arm for one in still for arm in (one.treatment.id, one.baseline.id)}
        first = [one for one in self._conditions if one.replicate == 1]
        kept = {_levels(one) for one in first if one.id in needed or one.id not in compared}
        return frozenset(one.id for one in self._conditions if _levels(one) in kept)


def _levels(condition: Condition) -> str:
    """Return a condition's identifier without the copy number."""
    return condition.id.removesuffix(f".copy{condition.replicate}")


class _ComparisonSequence:
    """A comparison with its confidence sequence, before and after the decision."""

    def __init__(
        self, pair: PlannedComparison, stop: StopSettings, margin_ms: float | None, measured: OutcomeContributions
    ) -> None:
        self.pair, self._stop, self._margin_ms, self._measured = pair, stop, margin_ms, measured
        self.decision: Decision | None = None
        self._sequence, self._blocks = MedianSequence(), 0

    def look(self, blocks: int) -> None:
        """Add the pairs of the blocks since the last interim analysis, in order."""
        for block in range(self._blocks, blocks):
            arms = [
                self._measured.find_contribution(one.id, block) for one in (self.pair.treatment, self.pair.baseline)
            ]
            known = [one for one in arms if one is not None]
            if len(known) == len(arms):
                difference = subtract_pairs(*(make_sample({block: one}) for one in known))
                self._sequence.add(float(difference.low[0]), float(difference.high[0]))
        self._blocks = blocks
        if self.decision is None and (reasons := self._reasons()):
            self.decision = self._decision(blocks, reasons)

    @property
    def width(self) -> float:
        """Return the interval's width: in ms, or as a share of the baseline's median when the plan gives a ratio."""
        width = self._sequence.width
        if self._stop.ci_width_ratio is None or math.isinf(width):
            return width
        baseline = median(make_sample(self._measured.select_first_blocks(self.pair.baseline.id, self._blocks))).low
        return width / baseline if baseline else math.inf

    def width_reached(self) -> IntervalWidth:
        """Return the width for the manifest."""
        return describe_width(self.pair, self.width, as_ratio=self._stop.ci_width_ratio is not None)

    def describe_undecided(self) -> Decision:
        """Return the comparison's current interval, without a decision."""
        return self._decision(None, [])

    def _reasons(self) -> list[DecisionCriterion]:
        """List the reasons for a decision fulfilled by the interval."""
        low, high, margin_ms = self._sequence.low, self._sequence.high, self._margin_ms
        asked = self._stop.ci_width_ms or self._stop.ci_width_ratio
        holds = {
            DecisionCriterion.DIFFERENCE: low > 0 or high < 0,
            DecisionCriterion.EQUIVALENCE: margin_ms is not None and -margin_ms < low and high < margin_ms,
            DecisionCriterion.WIDTH: asked is not None and self.width <= asked,
        }
        return [one for one, does in holds.items() if does and one in (self._stop.decided_by or DecisionCriterion)]

    def _decision(self, blocks: int | None, reasons: list[DecisionCriterion]) -> Decision:
        interval = self._sequence.low, self._sequence.high
        return describe_decision(self.pair, interval, len(self._sequence), blocks, reasons)
