"""Impossible conditions as levels of factors, with the reason.

For: the shape shared by the rules of all plans (`support`) and of a plan's own software (`software.rules`). Not for:
the rules themselves.
"""

from dataclasses import dataclass

from resolab.basics.records import BrowserKind, TrialKind
from resolab.plan.condition import DECLARED, Condition
from resolab.plan.factors import Selection, selects


@dataclass(frozen=True, slots=True)
class ImpossibleLevels:
    """Impossible conditions with their reason."""

    levels: Selection
    reason: str
    only_kind: TrialKind | None = None
    """The only kind of trial with the rule; `None`: every kind with all factors of the rule."""
    browsers: tuple[BrowserKind, ...] = ()
    """The only kinds of browser with the rule; empty: every kind."""

    @property
    def factors(self) -> tuple[str, ...]:
        """The factors of the rule."""
        return (*(["browser"] if self.browsers else []), *self.levels)

    def forbids(self, condition: Condition) -> bool:
        """Return True for an impossible condition."""
        if self.only_kind not in (None, condition.kind):
            return False
        if not all(DECLARED[factor].belongs_to(condition.kind) for factor in self.factors):
            return False
        if self.browsers and condition.browser_kind not in self.browsers:
            return False
        return selects(self.levels, condition)
