"""The smallest margins that a plan's blocks can decide, for each expectation, before the run.

For: `resolab plan check`, from the spread of a quiet machine or from a pilot dataset. Not for: the number of blocks for
a margin (`power`), or verdicts (`report.verdicts`).

A margin is decidable when the planned blocks decide it with a chance of 80 %, if both arms are alike. For a share, the
smallest bound is met when no trial is slow.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from resolab.campaign.checks.decision import SHARE_LEVEL
from resolab.campaign.power import PilotData
from resolab.plan import Plan, PlannedComparison, pool_pages
from resolab.plan.expectation import TIME_KINDS, Expectation, ExpectationKind
from resolab.stats import (
    MarginSides,
    PowerRule,
    Sample,
    make_normal_differences,
    measure_spread,
    median,
    share_at_any_look,
    smallest_margin,
    subtract_pairs,
)
from resolab.store import Dataset
from resolab.store.outcomes import find_outcome

_SIDES = {
    ExpectationKind.NOT_SLOWER_THAN: MarginSides.BELOW,
    ExpectationKind.FASTER_BY: MarginSides.ABOVE,
    ExpectationKind.EQUIVALENT_WITHIN: MarginSides.WITHIN,
}
"""The place of the interval that decides a margin, for arms that are alike."""


@dataclass(frozen=True, slots=True)
class DecidableMargin:
    """The smallest margin of an expectation that the planned blocks decide."""

    expectation: Expectation
    comparison: PlannedComparison | None
    """The pilot's comparison with the largest spread; `None` for the reference of a quiet machine."""
    spread_ms: float | None
    """The spread of the differences; `None` for a share."""
    smallest: float | None
    """In the unit of the expectation's margin: ms, percent of the baseline's median, or percent of all trials; `None`
    when no margin is decided, or the baseline's median is unknown."""

    @property
    def is_enough(self) -> bool:
        """True when the plan's blocks decide the expectation's own margin."""
        one = self.expectation
        asked = one.margin_ms or one.margin_percent or one.share_percent or 0.0
        return self.smallest is not None and self.smallest <= asked


def list_decidable_margins(plan: Plan, pilot: Dataset | None = None) -> list[DecidableMargin]:
    """List the margins of all expectations except numbers of failures.

    Without a pilot, differences are normal with the spread of a quiet machine; an outcome without such a spread, or a
    margin in percent, has no entry then.
    """
    plan = pool_pages(plan)
    shares = [_share(plan, one) for one in plan.expectations if one.kind is ExpectationKind.SLOW_SHARE_AT_MOST]
    times = [one for one in plan.expectations if one.kind in TIME_KINDS]
    found: list[DecidableMargin | None] = [None for _ in times]
    if pilot is not None:
        found = [_by_pilot(plan, one, PilotData(plan, pilot, find_outcome(one.outcome))) for one in times]
    # A pilot without the arms says nothing: the quiet machine's spread still warns.
    found = [known or _by_reference(plan, one) for known, one in zip(found, times, strict=True)]
    order = {id(one): place for place, one in enumerate(plan.expectations)}
    known = [*shares, *(one for one in found if one is not None)]
    return sorted(known, key=lambda one: order[id(one.expectation)])


def _share(plan: Plan, one: Expectation) -> DecidableMargin:
    _, high = share_at_any_look(0, plan.blocks, level=SHARE_LEVEL)
    return DecidableMargin(one, None, None, 100 * high)


def _by_reference(plan: Plan, one: Expectation) -> DecidableMargin | None:
    spread_ms = find_outcome(one.outcome).quiet_spread_ms
    if spread_ms is None or one.margin_ms is None:
        return None
    smallest = _find_smallest(plan, one, make_normal_differences(spread_ms))
    return DecidableMargin(one, None, spread_ms, smallest)


def _by_pilot(plan: Plan, one: Expectation, pilot: PilotData) -> DecidableMargin | None:
    """Return the margin of the pilot's comparison with the largest spread; `None` for a pilot without the arms."""
    found: list[tuple[float, PlannedComparison, Sample, Sample]] = []
    for pair in one.list_comparisons(plan.conditions(), plan.find_with_levels):
        treatment, baseline = pilot.samples(pair)
        spread_ms = measure_spread(subtract_pairs(treatment, baseline))
        if spread_ms is not None:
            found.append((spread_ms, pair, treatment, baseline))
    if not found:
        return None
    spread_ms, pair, treatment, baseline = max(found, key=lambda each: each[0])
    smallest = _find_smallest(plan, one, subtract_pairs(treatment, baseline))
    if one.margin_percent is not None:
        middle = median(baseline).value
        smallest = None if middle is None or smallest is None else 100 * smallest / middle
    return DecidableMargin(one, pair, spread_ms, smallest)


def _find_smallest(plan: Plan, one: Expectation, differences: Sample) -> float | None:
    rule = PowerRule(at_any_look=plan.stop is not None)
    return smallest_margin(differences, plan.blocks, rule, sides=_SIDES[one.kind])


def describe_margins(plan: Plan, margins: Sequence[DecidableMargin]) -> list[str]:
    """Return a line for each margin, and a warning for a margin that is too small for the planned blocks."""
    return [_describe(plan, one) for one in margins]


def _describe(plan: Plan, found: DecidableMargin) -> str:
    one = found.expectation
    unit = "ms" if one.margin_ms is not None else "%"
    if found.smallest is None:
        return f"  warning: {one.name}: {plan.blocks} blocks decide nothing"
    if found.spread_ms is None:
        because = "without a slow trial"
    elif found.comparison is None:
        because = f"on a quiet machine (spread {found.spread_ms:g} ms)"
    else:
        because = f"with the spread of {found.comparison.treatment.id} in the pilot ({found.spread_ms:.1f} ms)"
    digits = 0 if found.smallest >= 10 else 1 if found.smallest >= 1 else 2
    decided = f"{plan.blocks} blocks decide {found.smallest:.{digits}f} {unit} and more {because}"
    return f"  {'' if found.is_enough else 'warning: '}{one.name}: {decided}"
