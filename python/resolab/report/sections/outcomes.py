"""The section of the other outcomes of the same loads, one folded part for each.

For: outcomes without a section of their own. Not for: their statistics (`findings`).
"""

from collections.abc import Iterator

from resolab.report.findings.findings import OutcomeFindings
from resolab.report.parts.comparison_tables import aa_table, comparison_table, comparisons_title
from resolab.report.parts.figures import outcome_drawings
from resolab.report.parts.outcome_tables import further_outcomes, outcome_table
from resolab.report.sections.blocks import fit_table
from resolab.report.sections.reading import Reading
from resolab.report.sections.section import Block, Folded, Heading, Paragraph, Section, SectionContent, Tone

_NOTE = (
    "Instants that the browser told of the same page loads, each from navigationStart, with the same statistics as "
    "PLT. A load that failed is at least its limit in each of them, even where it had reached the instant; but the "
    "first byte of one that is incomplete or met its time limit counts as it was seen. A load that ended without the "
    "browser telling it is left out."
)


_NOTE_OF_OUR_CLIENT = (
    "Further times of the same trials, by our own client, with the same statistics as the main outcome. After a failed "
    "trial, each of these times counts as at least the trial's limit."
)


def _applies(reading: Reading) -> bool:
    return bool(further_outcomes(reading.findings))


def _build(reading: Reading) -> SectionContent:
    folded = [
        Folded(f"{one.outcome.label}: {one.outcome.meaning}", list(_blocks(reading, one)))
        for one in further_outcomes(reading.findings)
    ]
    title = "" if reading.has_page_loads else "Other outcomes of the same trials"
    note = _NOTE if reading.has_page_loads else _NOTE_OF_OUR_CLIENT
    return SectionContent([Paragraph(note, Tone.NOTE), *folded], title=title)


def _blocks(reading: Reading, found: OutcomeFindings) -> Iterator[Block]:
    findings = reading.findings
    yield fit_table(reading, outcome_table(findings, found))
    compared, copies = comparison_table(findings, found), aa_table(findings, found)
    if compared.rows:
        yield Heading(f"{comparisons_title(reading.plan)}, of {found.outcome.label}")
        yield fit_table(reading, compared)
    if copies.rows:
        yield Heading(f"A/A, of {found.outcome.label}")
        yield fit_table(reading, copies)
    yield from outcome_drawings(findings, found)


SECTION = Section(
    id="outcomes", title="Other outcomes of the same loads", link="Other outcomes", applies=_applies, build=_build
)
