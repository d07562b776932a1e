"""The comparisons of a plan: the named ones, or every condition with its baseline, and copies with each other.

For: one list for the report's correction, the campaign's stop and people. Not for: estimates.

Only the whole plan knows a condition's baseline; a function for this is handed in.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from resolab.plan.condition import Baseline, Condition
from resolab.plan.factors import Selection, selects

WithLevels = Callable[[Condition, Baseline], Condition]
"""Finds the plan's condition different from another only in the levels of a baseline."""


class ComparisonKind(StrEnum):
    """The reason for comparing two conditions."""

    PLANNED = "planned"
    """The plan names the comparison."""
    ALL = "all"
    """The plan names no comparison: each condition against its baseline."""
    AA = "aa"
    """Two copies of one condition: any difference is noise."""


@dataclass(frozen=True, slots=True)
class ComparisonRule:
    """One `[[comparison]]`: conditions with the treatment's levels, each against a condition with the baseline's."""

    name: str
    treatment: Selection
    baseline: Baseline

    def pairs(self, conditions: Iterable[Condition], with_levels: WithLevels) -> "list[PlannedComparison]":
        """List the pairs of this rule; a condition equal to its baseline makes no pair."""
        treated = (one for one in conditions if selects(self.treatment, one))
        pairs = ((one, with_levels(one, self.baseline)) for one in treated)
        return [
            PlannedComparison(self.name, one, reference, ComparisonKind.PLANNED)
            for one, reference in pairs
            if one != reference
        ]


@dataclass(frozen=True, slots=True)
class PlannedComparison:
    """Two conditions to compare; one rule may make several, on different pages and profiles."""

    name: str
    treatment: Condition
    baseline: Condition
    kind: ComparisonKind

    @property
    def id(self) -> str:
        """Return the comparison's name in seeds; against the baseline the name stays the treatment's."""
        if self.kind is ComparisonKind.ALL:
            return self.treatment.id
        return f"{self.kind}/{self.name}/{self.treatment.id}/{self.baseline.id}"


def list_comparisons(
    conditions: Sequence[Condition],
    rules: Sequence[ComparisonRule],
    *,
    with_levels: WithLevels,
    baseline_of: Callable[[Condition], Condition],
) -> list[PlannedComparison]:
    """List the named comparisons, or all with the baseline; then each pair of a condition's copies."""
    first = [one for one in conditions if one.replicate == 1]
    named = [pair for rule in rules for pair in rule.pairs(first, with_levels)]
    if not rules:
        pairs = ((one, baseline_of(one)) for one in first)
        named = [
            PlannedComparison(one.id, one, reference, ComparisonKind.ALL)
            for one, reference in pairs
            if one != reference
        ]
    return named + _compare_copies(conditions)


def _compare_copies(conditions: Sequence[Condition]) -> list[PlannedComparison]:
    """Compare every copy with each earlier copy."""
    copies: dict[Condition, list[Condition]] = {}
    for one in conditions:
        copies.setdefault(one.first, []).append(one)
    return [
        PlannedComparison(later.id, later, earlier, ComparisonKind.AA)
        for each in copies.values()
        for place, later in enumerate(each)
        for earlier in each[:place]
    ]
