"""The tables `[[expect]]` of a plan, each checked against the plan's conditions.

For: reading expectations. Not for: their shape (`expectation`) or verdicts (`checks`).
"""

from collections.abc import Sequence

from resolab.plan.choices import read_baseline, read_levels
from resolab.plan.comparison import ComparisonRule
from resolab.plan.expectation import Expectation, ExpectationKind
from resolab.plan.factors import EVERY_FACTOR
from resolab.plan.model import Plan
from resolab.plan.section import PlanSection

HIGHEST_MARGIN_MS = 600_000
HIGHEST_PERCENT = 1_000


def read_expectation(section: PlanSection, plan: Plan, outcomes: Sequence[str]) -> Expectation:
    """Read one expectation. It names a comparison, or gives its own treatment and baseline."""
    name = section.text("name")
    kind = ExpectationKind(section.take_word("kind", [str(one) for one in ExpectationKind]))
    rule = _read_rule(section, plan, name)
    word = section.take_optional_word("outcome", outcomes)
    outcome = plan.analysis.primary if word is None else word
    margin_ms = section.optional_number("margin_ms", above=0, high=HIGHEST_MARGIN_MS)
    margin_percent = section.optional_number("margin_percent", above=0, high=HIGHEST_PERCENT)
    slow_ms = section.optional_number("slow_ms", above=0, high=HIGHEST_MARGIN_MS)
    share_percent = section.optional_number("percent", above=0, high=100)
    failures = section.integer("count", low=0, high=1_000_000, default=-1) if "count" in section else None
    section.allow("count")
    section.finish()
    made = Expectation(name, rule, kind, outcome, margin_ms, margin_percent, failures, share_percent, slow_ms)
    _check_bound(section, made)
    return made


def _read_rule(section: PlanSection, plan: Plan, name: str) -> ComparisonRule:
    known = [one.name for one in plan.comparison_rules]
    given = section.take_optional_word("comparison", known) if known or "comparison" in section else None
    section.allow("comparison", "treatment", "baseline")
    if given is not None:
        if "treatment" in section or "baseline" in section:
            section.fail("", "takes a comparison by its name, or a treatment and a baseline, not both")
        return next(one for one in plan.comparison_rules if one.name == given)
    treatment = section.section("treatment")
    selection = read_levels(treatment, plan, EVERY_FACTOR)
    treatment.finish()
    rule = ComparisonRule(name, selection, read_baseline(section.section("baseline"), plan))
    if not rule.pairs((one for one in plan.conditions() if one.replicate == 1), plan.find_with_levels):
        section.fail("", f"{name!r} compares no condition with another one; name other levels")
    return rule


def _check_bound(section: PlanSection, made: Expectation) -> None:
    """Refuse a missing bound, and bounds of another kind."""
    bounds = {
        "margin_ms": made.margin_ms, "margin_percent": made.margin_percent, "count": made.failures_count,
        "percent": made.share_percent, "slow_ms": made.slow_ms,
    }  # fmt: skip
    needed = {
        ExpectationKind.FAILURES_AT_MOST: ({"count"},),
        ExpectationKind.SLOW_SHARE_AT_MOST: ({"percent", "slow_ms"},),
    }.get(made.kind, ({"margin_ms"}, {"margin_percent"}))
    given = {key for key, value in bounds.items() if value is not None}
    if given not in needed:
        words = " or ".join(" and ".join(sorted(one)) for one in needed)
        section.fail("", f"{made.kind.value!r} takes {words}")
