"""Expectations of a plan: claims about a comparison or its treatment, for a verdict that a build pipeline can use.

For: the shape of an expectation. Not for: reading `[[expect]]` (`expectation_table`) or verdicts (`checks`).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from resolab.plan.comparison import ComparisonKind, ComparisonRule, PlannedComparison, WithLevels
from resolab.plan.condition import Condition


class ExpectationKind(StrEnum):
    """The kind of an expectation."""

    NOT_SLOWER_THAN = "not_slower_than"
    """The treatment takes at most the margin longer than the baseline."""
    FASTER_BY = "faster_by"
    """The treatment takes at least the margin less than the baseline."""
    EQUIVALENT_WITHIN = "equivalent_within"
    """The treatment's time lies within the margin of the baseline's."""
    FAILURES_AT_MOST = "failures_at_most"
    """At most this number of the treatment's trials fail."""
    SLOW_SHARE_AT_MOST = "slow_share_at_most"
    """At most this share of the treatment's trials fails or takes longer than `slow_ms`."""


TIME_KINDS = (ExpectationKind.NOT_SLOWER_THAN, ExpectationKind.FASTER_BY, ExpectationKind.EQUIVALENT_WITHIN)
"""The kinds about the median of paired differences."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """One `[[expect]]`: a kind with its bound, for comparisons of a treatment with a baseline."""

    name: str
    rule: ComparisonRule
    kind: ExpectationKind
    outcome: str
    margin_ms: float | None = None
    margin_percent: float | None = None
    """The margin as a percentage of the baseline, in place of milliseconds."""
    failures_count: int | None = None
    share_percent: float | None = None
    slow_ms: float | None = None

    def list_comparisons(self, conditions: Iterable[Condition], with_levels: WithLevels) -> list[PlannedComparison]:
        """List the comparisons of the expectation's treatment with its baseline, in the plan's order."""
        found = self.rule.pairs((one for one in conditions if one.replicate == 1), with_levels)
        return [PlannedComparison(self.name, one.treatment, one.baseline, ComparisonKind.PLANNED) for one in found]

    @property
    def bound(self) -> str:
        """Return the bound in words, e.g. `2 ms` or `5 %`."""
        if self.kind is ExpectationKind.FAILURES_AT_MOST:
            return f"{self.failures_count} failed"
        if self.kind is ExpectationKind.SLOW_SHARE_AT_MOST:
            return f"{self.share_percent:g} % failed or above {self.slow_ms:g} ms"
        return f"{self.margin_ms:g} ms" if self.margin_ms is not None else f"{self.margin_percent:g} %"
