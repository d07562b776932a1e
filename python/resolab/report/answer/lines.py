"""The lines of the answer: a comparison each or, for plans with many comparisons, several comparisons in one line.

For: an answer that stays legible with hundreds of comparisons; nothing is chosen by its result. Not for: words of
numbers and verdicts.
"""

from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass

from resolab.basics.wording import format_count
from resolab.plan import EVERY_PAGE
from resolab.report.answer.rows import AnswerRow
from resolab.report.findings.findings import Findings
from resolab.report.parts.labels import name_combination

MOST_LINES = 30
"""The largest number of lines of the first screen."""
LONGEST_LABEL = 30
"""A longer name of a comparison stands as a heading."""


@dataclass(frozen=True, slots=True)
class AnswerLine:
    """One comparison, or several in the plan's order."""

    label: str
    rows: Sequence[AnswerRow]


@dataclass(frozen=True, slots=True)
class AnswerGroup:
    """The lines of a named comparison or, without names in the plan, of a combination of protocols."""

    heading: str
    """Empty when the labels name the comparison."""
    lines: Sequence[AnswerLine]


@dataclass(frozen=True, slots=True)
class AnswerLines:
    """All lines, and the number of comparisons that have no line of their own."""

    groups: Sequence[AnswerGroup]
    joined_count: int
    """Comparisons that share their line with others."""
    folded_count: int
    """Comparisons in no line of the figure."""


_Key = Callable[[AnswerRow], Hashable]


def every_line(findings: Findings, rows: Sequence[AnswerRow]) -> list[AnswerGroup]:
    """Give every comparison a line of its own."""
    return _flat(_groups(findings, rows, _cell))


def common_baseline(findings: Findings, rows: Sequence[AnswerRow]) -> str | None:
    """Return the baseline of all comparisons; `None` for several baselines, and for a plan that names comparisons."""
    if findings.plan.comparison_rules:
        return None
    labels = {name_combination(findings, row.comparison.baseline) for row in rows}
    return next(iter(labels)) if len(labels) == 1 else None


def answer_lines(findings: Findings, rows: Sequence[AnswerRow]) -> AnswerLines:
    """Join pages, then networks, then conditions of a named comparison, until the lines fit on a screen."""

    def of_profile(row: AnswerRow) -> Hashable:
        return *of_combination(row), row.comparison.treatment.profile

    def of_combination(row: AnswerRow) -> tuple[str, ...]:
        pair = row.comparison
        return row.comparison.name * by_name, *(
            name_combination(findings, one) for one in (pair.treatment, pair.baseline)
        )

    by_name = bool(findings.plan.comparison_rules)
    keys: list[_Key] = [_cell, of_profile, of_combination, *([_name_of] if by_name else [])]
    key = next((one for one in keys if len({one(row) for row in rows}) <= MOST_LINES), keys[-1])
    groups = _flat(_groups(findings, rows, key))
    shown, room = [], MOST_LINES
    for group in groups:
        shown += [AnswerGroup(group.heading, group.lines[:room])] if room > 0 else []
        room -= len(group.lines)
    in_lines = [line for group in shown for line in group.lines]
    joined = sum(len(line.rows) for line in in_lines if len(line.rows) > 1)
    return AnswerLines(shown, joined, len(rows) - sum(len(line.rows) for line in in_lines))


def _cell(row: AnswerRow) -> Hashable:
    return row.comparison.name, row.comparison.treatment.id, row.comparison.baseline.id


def _name_of(row: AnswerRow) -> Hashable:
    return row.comparison.name


def _groups(findings: Findings, rows: Sequence[AnswerRow], key: _Key) -> list[AnswerGroup]:
    baseline = common_baseline(findings, rows)

    def heading_of(row: AnswerRow) -> str:
        own, other = (name_combination(findings, one) for one in (row.comparison.treatment, row.comparison.baseline))
        if findings.plan.comparison_rules:
            return row.comparison.name
        return own if baseline is not None else f"{own} against {other}"

    named: dict[str, dict[Hashable, list[AnswerRow]]] = {}
    for row in rows:
        named.setdefault(heading_of(row), {}).setdefault(key(row), []).append(row)
    places = _varying(rows, ("page", "profile"))
    return [
        AnswerGroup(
            heading, [AnswerLine(_label(findings, line, lines.values(), places), line) for line in lines.values()]
        )
        for heading, lines in named.items()
    ]


def _flat(groups: Sequence[AnswerGroup]) -> list[AnswerGroup]:
    """Put headings into labels where each heading has one line, and its name is short."""
    if any(len(group.lines) > 1 or len(group.heading) > LONGEST_LABEL for group in groups):
        return list(groups)
    cells = {line.label for group in groups for line in group.lines}

    def label(heading: str, line: AnswerLine) -> str:
        return f"{heading}, {line.label}" if len(cells) > 1 else heading

    return [
        AnswerGroup("", [AnswerLine(label(group.heading, line), line.rows) for group in groups for line in group.lines])
    ]


def _varying(rows: Sequence[AnswerRow], levels: Sequence[str]) -> set[str]:
    return {one for one in levels if len({getattr(row.comparison.treatment, one) for row in rows}) > 1}


def _label(
    findings: Findings, line: Sequence[AnswerRow], group: Collection[Sequence[AnswerRow]], places: Collection[str]
) -> str:
    """Name the protocols where lines of a heading differ in them, then page and network."""
    first = line[0].comparison.treatment
    parts = _combinations(findings, line, group)
    if not _varying(line, ("page",)) and ("page" in places or "profile" not in places) and first.page != EVERY_PAGE:
        parts.append(first.page)
    if not _varying(line, ("profile",)):
        parts.append(first.profile)
    if len(line) > 1:
        pages = {row.comparison.treatment.page for row in line}
        parts.append(format_count(len(line), "page" if len(pages) == len(line) else "comparison"))
    return ", ".join(parts)


def _combinations(findings: Findings, line: Sequence[AnswerRow], group: Collection[Sequence[AnswerRow]]) -> list[str]:
    if not findings.plan.comparison_rules or len(group) == 1:
        return []  # in the heading

    def of(rows: Sequence[AnswerRow], side: str) -> set[str]:
        conditions = {getattr(row.comparison, side) for row in rows}
        return {name_combination(findings, one) for one in conditions}

    every = [row for one in group for row in one]
    return [
        f"{word}{next(iter(own))}"
        for word, side in (("", "treatment"), ("against ", "baseline"))
        if len(own := of(line, side)) == 1 and len(of(every, side)) > 1
    ]
