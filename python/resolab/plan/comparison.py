"""What a plan compares: the comparisons it names, or every condition with its baseline, and copies with each other.

For: one list, by which the report corrects, a campaign stops and people read. Not for: estimates.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from resolab.plan.condition import Baseline, Condition
from resolab.plan.factors import Selection, selects

if TYPE_CHECKING:
    from resolab.plan.model import Plan


class ComparisonKind(StrEnum):
    """Why two conditions are compared."""

    PLANNED = "planned"
    """The plan names the comparison."""
    ALL = "all"
    """The plan names none: each condition against its baseline."""
    AA = "aa"
    """Two copies of one condition: whatever differs is noise."""


@dataclass(frozen=True, slots=True)
class ComparisonRule:
    """One `[[comparison]]`: conditions with the treatment's levels, each against the same with the baseline's."""

    name: str
    treatment: Selection
    baseline: Baseline


@dataclass(frozen=True, slots=True)
class PlannedComparison:
    """Two conditions that are compared; of one rule there may be several, on different pages and profiles."""

    name: str
    treatment: Condition
    baseline: Condition
    kind: ComparisonKind

    @property
    def id(self) -> str:
        """Name the comparison in seeds; against the baseline it is the treatment's name, as it always was."""
        if self.kind is ComparisonKind.ALL:
            return self.treatment.id
        return f"{self.kind}/{self.name}/{self.treatment.id}/{self.baseline.id}"


def planned_comparisons(plan: "Plan") -> list[PlannedComparison]:
    """List a plan's comparisons: those it names, or all with the baseline; then those of copies."""
    conditions = plan.conditions()
    first = [one for one in conditions if one.replicate == 1]
    named = [pair for rule in plan.comparison_rules for pair in pairs_of(plan, rule, first)]
    if not plan.comparison_rules:
        pairs = ((one, plan.baseline_of(one)) for one in first)
        named = [
            PlannedComparison(one.id, one, reference, ComparisonKind.ALL)
            for one, reference in pairs
            if one != reference
        ]
    copies = [one for one in conditions if one.replicate > 1]
    return named + [PlannedComparison(one.id, one, plan.baseline_of(one), ComparisonKind.AA) for one in copies]


def pairs_of(plan: "Plan", rule: ComparisonRule, conditions: Iterable[Condition]) -> list[PlannedComparison]:
    """List the pairs one rule makes; a condition that is its own baseline makes none."""
    treated = (one for one in conditions if selects(rule.treatment, one))
    pairs = ((one, plan.with_levels(one, rule.baseline)) for one in treated)
    return [
        PlannedComparison(rule.name, one, reference, ComparisonKind.PLANNED)
        for one, reference in pairs
        if one != reference
    ]
