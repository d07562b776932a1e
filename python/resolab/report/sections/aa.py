"""The section of A/A comparisons: conditions against their own copies.

For: plans with copies of conditions. Not for: the statistics of false alarms (`findings.comparisons`).
"""

from resolab.report.parts.comparison_tables import aa_sentences, aa_table
from resolab.report.sections.blocks import fit_table
from resolab.report.sections.reading import Reading
from resolab.report.sections.section import Paragraph, Section, SectionContent


def _build(reading: Reading) -> SectionContent:
    table = fit_table(reading, aa_table(reading.findings, reading.findings.plt))
    return SectionContent([*map(Paragraph, aa_sentences(reading.findings)), table])


SECTION = Section(
    id="aa",
    title="A/A: conditions against their own copies",
    link="A/A",
    applies=lambda reading: bool(reading.findings.plt.aa),
    build=_build,
)
