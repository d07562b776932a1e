"""The comparisons without doubtful loads, as a table.

For: rounding and words. Not for: the estimates (`findings.sensitivity`).
"""

from resolab.plan import Estimand
from resolab.report.findings.estimands import WORDS
from resolab.report.findings.findings import Findings, Sensitivity
from resolab.report.findings.sensitivity import list_choices
from resolab.report.parts.labels import name_combination
from resolab.report.parts.named_table import NamedTable
from resolab.report.parts.tables import Table, both_text, percent_text
from resolab.report.plots.save import Value
from resolab.stats import Estimate
from resolab.store.outcomes import find_outcome

NAME = "sensitivity"


def sensitivity_table(findings: Findings) -> NamedTable:
    """List every comparison for each choice of its loads."""
    outcome, estimand = find_outcome(findings.plan.analysis.primary), findings.plan.analysis.estimand
    choices = list_choices(findings.plan)
    heads = [part for name in choices for part in (name, "pairs")]
    columns = ("page", "profile", "treatment", "against", *heads, "says")
    rows = [_cells(findings, one, estimand) for one in findings.sensitivities]
    turned = sum(one.turns for one in findings.sensitivities)
    some = sum(one.decides_by_some for one in findings.sensitivities)
    note = (
        f"{WORDS[estimand].capitalize()} of {outcome.label}. Of {len(rows)} comparisons {turned} have the other sign "
        f"by one of the choices, {some} are decided by some choices alone, which fewer pairs may be the reason of. "
        "The whole sample decides: loads are flagged, or miss their handshake, for a reason."
    )
    return NamedTable(
        NAME,
        "Sensitivity: the same comparisons without the loads one may doubt",
        Table(columns, rows, frozenset((0, 1, 2, 3, len(columns) - 1))),
        [_row(one, str(outcome.name), estimand, name) for one in findings.sensitivities for name in choices],
        note,
    )


def _cells(findings: Findings, one: Sensitivity, estimand: Estimand) -> tuple[str, ...]:
    treatment, baseline = one.comparison.treatment, one.comparison.baseline
    estimates = [part for estimate in one.estimates.values() for part in _estimate(estimate, estimand)]
    return (
        treatment.page,
        treatment.profile,
        name_combination(findings, treatment),
        name_combination(findings, baseline),
        *estimates,
        _says(one),
    )


def _says(one: Sensitivity) -> str:
    if one.turns:
        return "the other sign"
    if one.decides_by_some:
        return "decided by some"
    return "the same pairs" if one.changes_nothing else "the same"


def _estimate(one: Estimate, estimand: Estimand) -> tuple[str, str]:
    text = percent_text(one) if estimand is Estimand.RELATIVE_CHANGE else both_text(one, signed=True)
    return text, str(one.n)


def _row(one: Sensitivity, outcome: str, estimand: Estimand, choice: str) -> dict[str, Value]:
    estimate = one.estimates[choice]
    unit = "ratio" if estimand is Estimand.RELATIVE_CHANGE else "ms"
    return {
        "treatment": one.comparison.treatment.id,
        "baseline": one.comparison.baseline.id,
        "outcome": outcome,
        "estimand": str(estimand),
        "loads": choice,
        "pairs_count": estimate.n,
        f"value_{unit}": estimate.value,
        f"ci_low_{unit}": estimate.ci_low,
        f"ci_high_{unit}": estimate.ci_high,
        "ci_level": estimate.level,
        "ci_method": str(estimate.method),
    }
