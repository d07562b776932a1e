"""The decisions of a campaign's confidence sequences, and their number of blocks, as a table.

For: plans stopping by confidence sequences. Not for: the final intervals, shown in the tables of loads.
"""

from resolab.plan import DecisionCriterion
from resolab.report.findings.findings import Findings
from resolab.report.parts.labels import name_combination
from resolab.report.parts.tables import Table
from resolab.report.plots import number_text
from resolab.store import Decision

_COLUMNS = ("comparison", "page", "profile", "treatment", "against", "decided after blocks", "because", "pairs then",
            "interval then, ms")  # fmt: skip
_BECAUSE = {
    DecisionCriterion.DIFFERENCE: "it excludes 0",
    DecisionCriterion.EQUIVALENCE: "it lies within the margin",
    DecisionCriterion.WIDTH: "it is as narrow as asked",
}


def decision_table(findings: Findings) -> Table:
    """List the plan's comparisons in its order; empty for a plan with another stopping rule, or without any."""
    decisions = findings.manifest.decisions
    rows = [_cells(findings, one) for one in decisions]
    return Table(_COLUMNS if rows else (), rows, frozenset((0, 1, 2, 3, 4, 6)))


def _cells(findings: Findings, one: Decision) -> tuple[str, ...]:
    conditions = {each.id: each for each in findings.plan.conditions()}
    treatment, baseline = conditions[one.treatment], conditions[one.baseline]
    return (
        "" if one.name == treatment.id else one.name,
        treatment.page,
        treatment.profile,
        name_combination(findings, treatment),
        name_combination(findings, baseline),
        "not decided" if one.after_blocks is None else str(one.after_blocks),
        ", ".join(_BECAUSE[reason] for reason in one.reasons),
        str(one.pairs_count),
        _interval(one),
    )


def _interval(one: Decision) -> str:
    """Format the interval's ends, with an infinity sign for an unbounded end."""
    low = "-∞" if one.ci_low_ms is None else number_text(one.ci_low_ms, signed=True)
    high = "∞" if one.ci_high_ms is None else number_text(one.ci_high_ms, signed=True)
    return "" if one.ci_low_ms is None and one.ci_high_ms is None else f"[{low}, {high}]"
