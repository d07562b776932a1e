"""The table under the answer's figure: the same numbers, and those that qualify them.

For: the page. Not for: the terminal (`terminal`), or the choice of lines (`lines`).
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from resolab.report.answer.lines import AnswerGroup, AnswerLine
from resolab.report.answer.rows import AnswerRow, scale_of, title_of
from resolab.report.findings.findings import Findings
from resolab.report.parts.comparison_tables import p_text
from resolab.report.plots import estimate_text, interval_text, number_text
from resolab.stats import Estimate


@dataclass(frozen=True, slots=True)
class AnswerTable:
    """Columns, and rows under headings; the first column is the row's label."""

    columns: Sequence[str]
    groups: Sequence[tuple[str, Sequence[Sequence[str]]]]
    words: frozenset[int]
    """Positions of the columns with words instead of numbers."""


@dataclass(frozen=True, slots=True)
class _Column:
    title: str
    cell: Callable[[AnswerRow], str]


def answer_table(findings: Findings, groups: Sequence[AnswerGroup]) -> AnswerTable:
    """List every comparison with estimate, interval, verdict and tests."""
    rows = [row for group in groups for line in group.lines for row in line.rows]
    columns = _columns(findings, rows)
    return AnswerTable(
        ("comparison", *(one.title for one in columns)),
        [
            (
                group.heading,
                [(line.label, *(one.cell(row) for one in columns)) for line in group.lines for row in line.rows],
            )
            for group in groups
        ],
        frozenset((0, 2)),
    )


def _columns(findings: Findings, rows: Sequence[AnswerRow]) -> list[_Column]:
    """Return the columns with at least one value."""
    estimand = findings.plan.analysis.estimand
    scale, _ = scale_of(estimand)
    columns = [
        _Column(title_of(estimand), lambda row: value_text(row.estimate, scale)),
        _Column("verdict", lambda row: row.words),
        _Column("n", lambda row: str(row.estimate.n)),
    ]
    if any(row.failed_count for row in rows):
        columns.append(_Column("failed loads", lambda row: f"{row.failed_count} of {row.loads_count}"))
    if any(row.p_value is not None for row in rows):
        columns.append(_Column("p", lambda row: p_text(row.p_value)))
        columns.append(_Column("after Holm", lambda row: p_text(row.adjusted_p_value)))
    if any(row.margin_ms is not None for row in rows):
        columns.append(_Column("margin, ms", lambda row: "" if row.margin_ms is None else number_text(row.margin_ms)))
    if any(row.equivalence_p_value is not None for row in rows):
        columns.append(_Column("p of equivalence", lambda row: p_text(row.equivalence_p_value)))
    return columns


def joined_table(findings: Findings, groups: Sequence[AnswerGroup]) -> AnswerTable:
    """List each line's verdicts with its least and its greatest estimate."""
    estimand = findings.plan.analysis.estimand
    scale, _ = scale_of(estimand)
    title = title_of(estimand)
    columns = ("comparisons", f"least {title}", f"greatest {title}", "verdicts", "n")
    joined = [(group.heading, [_joined(line, scale) for line in group.lines]) for group in groups]
    return AnswerTable(columns, joined, frozenset((0, 3)))


def _joined(line: AnswerLine, scale: float) -> tuple[str, ...]:
    least, greatest = extremes(line)
    return (
        line.label,
        *("" if one is None else value_text(one, scale) for one in (least, greatest)),
        verdict_counts(line),
        pairs_text(line),
    )


def extremes(line: AnswerLine) -> tuple[Estimate | None, Estimate | None]:
    """Return the least and the greatest estimate of a line; bounds count by their known end."""
    known = [row.estimate for row in line.rows if row.estimate.low is not None and row.estimate.high is not None]
    if not known:
        return None, None
    return min(known, key=lambda one: one.high or 0.0), max(known, key=lambda one: one.low or 0.0)


def verdict_counts(line: AnswerLine) -> str:
    """Count a line's verdicts, each word once."""
    counts = Counter(row.words for row in line.rows)
    return ", ".join(f"{count} {words}" for words, count in counts.most_common())


def pairs_text(line: AnswerLine) -> str:
    """Return the number of pairs, or its range."""
    counts = sorted({row.estimate.n for row in line.rows})
    return str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"


def value_text(estimate: Estimate, scale: float) -> str:
    """Format an estimate with its interval, or with the reason for a missing one."""
    value = estimate_text(estimate, scale=scale, signed=True)
    return f"{value} {interval_text(estimate, scale=scale, signed=True) or 'no interval'}"
