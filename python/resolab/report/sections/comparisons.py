"""The section of each comparison: sentences, tests, doubtful loads, and decisions of a stopping rule.

For: the plan's comparisons of the page load time. Not for: their estimates (`findings`), or other outcomes.
"""

from collections.abc import Iterator

from resolab.report.findings.interval_level import find_level, find_significance, level_text
from resolab.report.parts.comparison_tables import comparison_table, comparisons_title
from resolab.report.parts.decisions import decision_table
from resolab.report.parts.named_table import NamedTable
from resolab.report.parts.sensitivity import sensitivity_table
from resolab.report.parts.sentences import answers
from resolab.report.sections.blocks import fit_named_table, fit_table, note_with_file
from resolab.report.sections.reading import Reading
from resolab.report.sections.section import (
    Block,
    Bullets,
    Folded,
    Heading,
    Paragraph,
    Section,
    SectionContent,
    Tone,
)

_DECISIONS_NOTE = (
    "By the confidence sequence of the paired difference's median, 95 %, good at any look (docs/method/statistics.md). "
    "Conditions that no open comparison needed were loaded no more, so conditions have unlike numbers of loads; a "
    "difference has the blocks that hold both. Hodges-Lehmann shifts, Cliff's delta and p-values have no version that "
    "is good at any look: without interval and without p here. Intervals in the papers' sections and of DNS exchanges "
    "are made as of a fixed number of blocks, at {level}, and hold less than that."
)


def _build(reading: Reading) -> SectionContent:
    sensitivity = fit_named_table(reading, sensitivity_table(reading.findings))
    sentences = answers(reading.findings)
    blocks = list(_blocks(reading, sentences, sensitivity)) if sentences else []
    return SectionContent(blocks, files=[sensitivity])


def _blocks(reading: Reading, sentences: list[str], sensitivity: NamedTable) -> Iterator[Block]:
    yield Bullets(sentences)
    yield Paragraph(_describe_brackets(reading), Tone.NOTE)
    compared = fit_table(reading, comparison_table(reading.findings, reading.findings.plt))
    if compared.rows:
        yield Heading(comparisons_title(reading.plan))
        yield compared
        yield Paragraph(_describe_tests(reading, len(compared.rows)), Tone.NOTE)
    if sensitivity.table.rows:
        yield Folded(sensitivity.title, (sensitivity.table, note_with_file(sensitivity)))
    decided = fit_table(reading, decision_table(reading.findings))
    if decided.rows:
        yield Heading("When each comparison was decided")
        yield decided
        yield Paragraph(_DECISIONS_NOTE.format(level=level_text(find_level(reading.plan))), Tone.NOTE)


def _stops_by_intervals(reading: Reading) -> bool:
    stop = reading.plan.stop
    return stop is not None and not stop.drops_conditions


def _describe_brackets(reading: Reading) -> str:
    stop = reading.plan.stop
    if stop is not None and stop.drops_conditions:
        held = "Brackets hold 95 % confidence sequences, each for itself, which are good at any look"
    else:
        held = f"Brackets hold {level_text(find_level(reading.plan))} confidence intervals, each for itself"
    if _stops_by_intervals(reading):
        held += "; stopping as soon as they are narrow leaves about 95 % of that"
    return (
        f"{held}: among {len(reading.findings.plt.compared)} comparisons about one in twenty would exclude 0 by "
        "chance. Undecided: the interval contains 0, or there is none; it does not say that nothing changed."
    )


def _describe_tests(reading: Reading, rows_count: int) -> str:
    looked = (
        " They are of a number of blocks that was fixed before; the plan looked after each, so what is told counts at "
        f"{level_text(find_significance(reading.plan))}, as its intervals do, in place of 5 %."
        if _stops_by_intervals(reading)
        else ""
    )
    return (
        "p: signed ranks of the paired differences (Wilcoxon 1945), exact up to 60 pairs that differ; after Holm "
        f"(1979) over these {rows_count}.{looked} Cliff's delta: chance that a load of the treatment takes longer than "
        "one of the baseline, less that of the reverse."
    )


SECTION = Section(id="comparisons", title="Each comparison", link="Comparisons", build=_build)
