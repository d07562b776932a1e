"""The outcomes of page loads in tables: every condition against its baseline.

For: rounding and words, for any outcome. Not for: the plan's comparisons and copies (`comparison_tables`).
"""

from resolab.plan import Condition
from resolab.report.findings.findings import ConditionResult, Findings, OutcomeFindings
from resolab.report.parts.labels import name_combination
from resolab.report.parts.tables import Table, both_text, percent_text
from resolab.report.plots import ABSENT, estimate_text, number_text
from resolab.store.outcomes import LAST_BYTE, PLT, PLT_SUM, RESPONSE_START

_PARTS = (f"median {RESPONSE_START.label} ms", f"median {LAST_BYTE.label} ms", f"{PLT.label} beyond it, ms")


def further_outcomes(findings: Findings) -> list[OutcomeFindings]:
    """List the outcomes without a section of their own."""
    return [one for one in findings.further if one.outcome != PLT_SUM and one.told]


def outcome_table(findings: Findings, found: OutcomeFindings) -> Table:
    """List an outcome of every condition against its baseline."""
    label, unit = found.outcome.label, found.outcome.unit
    parts = _PARTS if found.outcome == PLT else ()
    columns = (
        "page", "profile", "condition", "resolver path", "trials", "failed", "handshake reached",
        f"median {label} {unit}", *parts, f"paired difference of {label}, {unit}", f"closed form {unit}",
        f"Hodges-Lehmann shift {unit}", f"change of median {label}, %", "Cliff's delta", "method",
    )  # fmt: skip
    rows = [
        (*_loads(findings, one), *(_parts(findings, one.condition) if parts else ()), *_format_difference(one))
        for one in (found.conditions if found.outcome == PLT else found.told)
    ]
    return Table(columns, rows, frozenset(range(4)))


def _loads(findings: Findings, one: ConditionResult) -> tuple[str, ...]:
    return (
        one.condition.page,
        one.condition.profile,
        name_combination(findings, one.condition),
        str(one.condition.resolver_path),
        str(one.trials_count),
        str(one.failed_count) + (f" + {one.unusable_count} lost" if one.unusable_count else ""),
        f"{one.reached_count}/{one.trials_count - one.unusable_count}",
        both_text(one.median_ms),
    )


def _parts(findings: Findings, condition: Condition) -> tuple[str, ...]:
    """Return the first byte, the last byte, and the browser's time after the last byte."""
    within = findings.browser_parts.get(condition.id)
    beyond = ABSENT if within is None else estimate_text(within.difference_ms)
    return *(_median(findings.find_outcome(one), condition) for one in (RESPONSE_START, LAST_BYTE)), beyond


def _median(found: OutcomeFindings | None, condition: Condition) -> str:
    of_condition = (one for one in (() if found is None else found.conditions) if one.condition == condition)
    one = next(of_condition, None)
    return ABSENT if one is None or not one.told_count else estimate_text(one.median_ms)


def _format_difference(one: ConditionResult) -> tuple[str, ...]:
    if one.comparison is None:
        return place_word(one), "", "", "", "", ""
    difference = one.comparison.difference_ms
    return (
        both_text(difference, signed=True),
        ABSENT if one.comparison.expected is None else number_text(one.comparison.expected.total_ms, signed=True),
        "" if one.comparison.shift_ms is None else both_text(one.comparison.shift_ms, signed=True),
        percent_text(one.comparison.change),
        "" if one.comparison.delta is None else both_text(one.comparison.delta, 2, signed=True),
        f"{difference.method}, n = {difference.n}",
    )


def place_word(one: ConditionResult) -> str:
    """Return the reason for a condition without a baseline: copy or baseline."""
    return f"copy {one.condition.replicate}" if one.condition.replicate > 1 else "baseline"
