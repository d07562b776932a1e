"""A short summary for the end of a run.

For: the answer before opening the report, a line for each comparison, within 80 columns; a rich renderable, printed by
the command line. Not for: the complete results.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.text import Text

from resolab.basics.wording import clean, format_count
from resolab.report.answer.lines import AnswerGroup, AnswerLine, answer_lines, common_baseline
from resolab.report.answer.rows import AnswerRow, answer_rows, margin_text, scale_of, title_of
from resolab.report.answer.sentences import answer_sentences
from resolab.report.answer.table import extremes, pairs_text, value_text, verdict_counts
from resolab.report.findings.estimands import WORDS
from resolab.report.findings.findings import ConditionResult, Findings
from resolab.report.findings.interval_level import level_of_loads, level_text
from resolab.report.live.circumstances import live_lines
from resolab.report.live.findings import LiveFindings
from resolab.report.live.terminal import lookups_for_terminal
from resolab.report.parts.captions import each_for_itself
from resolab.report.parts.labels import name_combination
from resolab.report.parts.narrow_table import TerminalTable
from resolab.report.plots import Verdict, estimate_text, interval_text, shorten_label

WIDTH = 80
"""The largest width of the summary, also on wider terminals and in pipes."""
LEAST_LABEL = 12
_STYLES = {Verdict.SLOWER: "yellow", Verdict.FASTER: "cyan", Verdict.EQUIVALENT: "green", Verdict.NOT_DECIDED: "dim"}


def terminal_summary(findings: Findings, live: LiveFindings | None = None) -> RenderableType:
    """Summarise a dataset: the answer's sentences, then a line for each comparison; last, the live look-ups."""
    rows = answer_rows(findings)
    lines = map(Text, (*live_lines(findings, live), *answer_sentences(findings, rows)))
    parts: list[RenderableType] = [_head(findings), *lines, *_kinds(findings)]
    if any(row.estimate.n for row in rows):
        parts.append(_comparisons(findings, rows))
    elif any(one.median_ms.n for one in findings.primary.conditions):
        parts.append(_conditions(findings))
    if live is not None and live.lookups:
        parts.append(lookups_for_terminal(live))
    return _Narrowed(Group(*parts))


@dataclass(frozen=True, slots=True)
class _Narrowed:
    """Something printed within 80 columns."""

    inner: RenderableType

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Print the parts within the width."""
        yield from console.render(self.inner, options.update(width=min(WIDTH, options.max_width)))


def _head(findings: Findings) -> Text:
    manifest = findings.manifest
    count = f"{findings.trials_count} of {manifest.trials_planned_count} trials"
    return Text.assemble((manifest.plan, "bold"), f"  {manifest.status}, {count}")


def _kinds(findings: Findings) -> list[Text]:
    """Return the kinds of failures and flags with their numbers; empty without any."""
    counts: dict[str, int] = {}
    named = [(f"{one.kind}: {one.failure}", one.count) for one in findings.failures]
    named += [(f"flag {one.flag}", one.count) for one in findings.flags]
    for name, count in named:
        counts[name] = counts.get(name, 0) + count
    listed = ", ".join(f"{what} {count}" for what, count in counts.items())
    return [Text(f"Failures and flags: {listed}", style="red")] if counts else []


@dataclass(frozen=True, slots=True)
class _Cells:
    """A line's cells: label, estimate with interval, n, verdict."""

    label: str
    value: str
    n: str
    verdict: str
    style: str


@dataclass(frozen=True, slots=True)
class _Comparisons:
    """Aligned lines under headings; a label too long for its column loses its middle."""

    title: str
    columns: _Cells
    groups: Sequence[tuple[str, Sequence[_Cells]]]

    def __rich_console__(self, _console: Console, options: ConsoleOptions) -> RenderResult:
        """Lay the lines out for the width."""
        cells = [self.columns, *(one for _, lines in self.groups for one in lines)]
        value, n, verdict = (
            max(len(text) for text in texts) for texts in zip(*(_rest(one) for one in cells), strict=True)
        )
        room, longest = options.max_width - value - n - verdict - 8, max(len(one.label) for one in cells)
        is_wide, widths = room >= min(LEAST_LABEL, longest), (min(room, longest), value, n)
        yield Text(self.title, style="italic")
        if is_wide:
            yield _aligned(self.columns, widths)
        for heading, lines in self.groups:
            if heading:
                yield Text(clean(heading), style="bold")
            for one in lines:
                yield _aligned(one, widths) if is_wide else _stacked(one)


def _rest(one: _Cells) -> tuple[str, str, str]:
    return one.value, one.n, one.verdict


def _aligned(one: _Cells, widths: tuple[int, int, int]) -> Text:
    label, value, n = widths
    name = clean(shorten_label(one.label, label)).ljust(label)
    start = f"  {name}  {one.value.rjust(value)}  {one.n.rjust(n)}"
    return Text.assemble(start, "  ", (one.verdict, one.style)) if one.verdict else Text(start.rstrip())


def _stacked(one: _Cells) -> Text:
    """Return the numbers below their label, for a terminal too narrow for one line."""
    start = f"  {clean(one.label)}\n" if one.label else ""
    n = f"  n = {one.n}" if one.n else ""
    return Text.assemble(f"{start}    {one.value}{n}", "  " if one.verdict else "", (one.verdict, one.style))


def _comparisons(findings: Findings, rows: Sequence[AnswerRow]) -> _Comparisons:
    lines, estimand = answer_lines(findings, rows), findings.plan.analysis.estimand
    scale, _ = scale_of(estimand)
    margin, baseline = margin_text(findings), common_baseline(findings, rows)
    parts = (
        f"{WORDS[estimand]} of {findings.primary.outcome.phrase}{f' against {baseline}' if baseline else ''}",
        each_for_itself(row.estimate for row in rows),
        *([f"the plan's margin: {margin}"] if margin else []),
        *([f"{format_count(lines.folded_count, 'more comparison')} in the report"] if lines.folded_count else []),
    )
    title = "; ".join(parts)
    columns = _Cells("", f"{title_of(estimand)} [interval]", "n", "verdict", "italic")
    return _Comparisons(
        f"{title[0].upper()}{title[1:]}", columns, [(group.heading, _cells(group, scale)) for group in lines.groups]
    )


def _cells(group: AnswerGroup, scale: float) -> list[_Cells]:
    return [cell for line in group.lines for cell in _line(line, scale)]


def _line(line: AnswerLine, scale: float) -> list[_Cells]:
    """Return a comparison's line; of several comparisons the least and the greatest estimate, and the verdicts."""
    if len(line.rows) == 1:
        (row,) = line.rows
        return [
            _Cells(line.label, value_text(row.estimate, scale), str(row.estimate.n), row.words, _STYLES[row.verdict])
        ]
    values = [f"{word}{value_text(one, scale)}" for word, one in zip(("", "to "), extremes(line), strict=True) if one]
    verdicts = verdict_counts(line).split(", ")
    cells = zip_longest([line.label], values, [pairs_text(line)], verdicts, fillvalue="")
    return [_Cells(*each, "default") for each in cells]


def _conditions(findings: Findings) -> TerminalTable:
    """List the medians of a plan without comparisons."""
    found, level = findings.primary, level_text(level_of_loads(findings.plan))
    title = f"Median {found.outcome.phrase}, {found.outcome.unit}, and {level} interval"
    columns = ("page, profile, condition", f"{found.outcome.label} {found.outcome.unit}", "n", "failed")
    return TerminalTable(title, columns, frozenset({0}), [_condition(findings, one) for one in found.conditions])


def _condition(findings: Findings, one: ConditionResult) -> tuple[str, ...]:
    return (
        f"{one.condition.page}, {one.condition.profile}, {name_combination(findings, one.condition)}",
        f"{estimate_text(one.median_ms)} {interval_text(one.median_ms)}".rstrip(),
        str(one.median_ms.n),
        str(one.failed_count) + (f" + {one.unusable_count} lost" if one.unusable_count else ""),
    )
