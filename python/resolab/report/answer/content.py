"""The parts of the answer's section: sentences, figure, table, and the folded table of all comparisons.

For: the template. Not for: any of their contents.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from resolab.report.answer.figure import answer_drawing
from resolab.report.answer.lines import answer_lines, every_line
from resolab.report.answer.rows import answer_rows
from resolab.report.answer.sentences import answer_sentences
from resolab.report.answer.table import AnswerTable, answer_table, joined_table
from resolab.report.findings.findings import Findings
from resolab.report.plots import Drawing


@dataclass(frozen=True, slots=True)
class Answer:
    """The first screen of a report."""

    sentences: Sequence[str]
    count: int
    """The number of comparisons."""
    drawing: Drawing | None
    table: AnswerTable | None
    folded: AnswerTable | None
    """All comparisons, when the table above has not a row for each."""


def answer_of(findings: Findings) -> Answer:
    """Make the first screen."""
    found = answer_rows(findings)
    groups = every_line(findings, found)
    rows = [row for group in groups for line in group.lines for row in line.rows]
    lines = answer_lines(findings, rows)
    is_folded = bool(lines.joined_count or lines.folded_count)
    every = answer_table(findings, groups) if rows else None
    return Answer(
        sentences=answer_sentences(findings, rows),
        count=len(rows),
        drawing=answer_drawing(findings, rows, lines),
        table=joined_table(findings, lines.groups) if is_folded else every,
        folded=every if is_folded else None,
    )
