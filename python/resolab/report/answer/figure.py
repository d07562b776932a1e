"""The forest plot of the answer, and its caption.

For: turning lines and verdicts into a drawing. Not for: the look (`plots.forest`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from resolab.basics.wording import format_count
from resolab.plan import Estimand
from resolab.report.answer.lines import AnswerLine, AnswerLines, common_baseline
from resolab.report.answer.rows import AnswerRow, margin_text, scale_of
from resolab.report.answer.table import extremes, pairs_text, value_text, verdict_counts
from resolab.report.findings.estimands import WORDS
from resolab.report.findings.findings import Findings
from resolab.report.parts.captions import each_for_itself
from resolab.report.plots import Drawing, ForestGroup, ForestLine, ForestMark, ForestWords, draw_forest
from resolab.report.plots.save import Value
from resolab.stats import Estimate

_SHORT = {
    Estimand.PAIRED_DIFFERENCE: "paired difference",
    Estimand.RELATIVE_CHANGE: "change of the median",
    Estimand.SHIFT: "Hodges-Lehmann shift",
}


def answer_drawing(findings: Findings, rows: Sequence[AnswerRow], lines: AnswerLines) -> Drawing | None:
    """Draw the forest plot; `None` without any pair."""
    if not any(row.estimate.n for row in rows):
        return None
    estimand = findings.plan.analysis.estimand
    _, unit = scale_of(estimand)
    groups = [ForestGroup(group.heading, [_line(line, estimand) for line in group.lines]) for group in lines.groups]
    what = f"{_SHORT[estimand]} of {findings.primary.outcome.label}, {unit}"
    words = ForestWords(what, common_baseline(findings, rows), (f"{unit} [interval]", "n"))
    return draw_forest(groups, words, [_numbers(findings, row) for row in rows], answer_caption(findings, rows, lines))


def _line(line: AnswerLine, estimand: Estimand) -> ForestLine:
    scale, _ = scale_of(estimand)
    if len(line.rows) == 1:
        (row,) = line.rows
        values, verdict = value_text(row.estimate, scale), row.words
    else:
        values = "\nto ".join(value_text(one, scale) for one in extremes(line) if one is not None)
        verdict = verdict_counts(line).replace(", ", ",\n")
    marks = [_mark(row, estimand) for row in line.rows]
    return ForestLine(line.label, marks, (values, pairs_text(line)), verdict)


def _mark(row: AnswerRow, estimand: Estimand) -> ForestMark:
    scale, _ = scale_of(estimand)
    # A margin is in milliseconds and has no place on an axis of percent.
    margin = None if estimand is Estimand.RELATIVE_CHANGE else row.margin_ms
    return ForestMark(_scaled(row.estimate, scale), row.verdict, margin)


def _scaled(one: Estimate, scale: float) -> Estimate:
    low, high, ci_low, ci_high = (
        None if end is None else end * scale for end in (one.low, one.high, one.ci_low, one.ci_high)
    )
    return replace(one, low=low, high=high, ci_low=ci_low, ci_high=ci_high)


def answer_caption(findings: Findings, rows: Sequence[AnswerRow], lines: AnswerLines) -> str:
    """Return the caption: estimate, interval, marks and band."""
    estimand = WORDS[findings.plan.analysis.estimand]
    baseline = common_baseline(findings, rows)
    against = f" against {baseline}" if baseline else ""
    start = f"{estimand[0].upper()}{estimand[1:]} of {findings.primary.outcome.phrase}{against}; "
    bars = f"{each_for_itself(row.estimate for row in rows)}. Hollow: not decided."
    return f"{start}{bars}{_band(findings, rows)}{_folding(lines)}"


def _band(findings: Findings, rows: Sequence[AnswerRow]) -> str:
    size = margin_text(findings)
    if size is None or all(row.margin_ms is None for row in rows):
        return ""
    if findings.plan.analysis.estimand is Estimand.RELATIVE_CHANGE:
        return f" Squares: equivalent within {size}, the plan's margin."
    return f" Band, squares: equivalence within {size}, the plan's margin."


def _folding(lines: AnswerLines) -> str:
    parts = []
    if lines.joined_count:
        parts.append(f" Thin bars: {format_count(lines.joined_count, 'comparison')}, listed below.")
    if lines.folded_count:
        parts.append(f" Not drawn: {format_count(lines.folded_count, 'more comparison')}, listed below.")
    return "".join(parts)


def _numbers(findings: Findings, row: AnswerRow) -> Mapping[str, Value]:
    """Return a comparison's numbers as columns of the figure's CSV file."""
    is_ratio = findings.plan.analysis.estimand is Estimand.RELATIVE_CHANGE
    pair, one, unit = row.comparison, row.estimate, "ratio" if is_ratio else "ms"
    return {
        "outcome": findings.primary.outcome.name,
        "estimand": str(findings.plan.analysis.estimand),
        "comparison": pair.name,
        "page": pair.treatment.page,
        "profile": pair.treatment.profile,
        "treatment": pair.treatment.id,
        "baseline": pair.baseline.id,
        f"estimate_{unit}": one.value,
        f"low_{unit}": one.low,
        f"high_{unit}": one.high,
        f"ci_low_{unit}": one.ci_low,
        f"ci_high_{unit}": one.ci_high,
        "ci_level": one.level,
        "ci_method": str(one.method),
        "pairs_count": one.n,
        "censored_count": one.censored_count,
        "failed_count": row.failed_count,
        "loads_count": row.loads_count,
        "p_value": row.p_value,
        "holm_p_value": row.adjusted_p_value,
        "margin_ms": row.margin_ms,
        "equivalence_p_value": row.equivalence_p_value,
        "is_within_margin": int(row.within_margin),
        "verdict": str(row.verdict),
    }
