"""The section of the comparisons taken together: slopes, equivalence, slow loads, quantiles, adjusted comparisons.

For: choosing the tables and figures. Not for: their content (`parts`).
"""

from resolab.report.parts.across_places import build_across_table
from resolab.report.parts.adjusted import build_adjusted_tables
from resolab.report.parts.closed_form import build_closed_form_table
from resolab.report.parts.effect_tables import effect_tables, slope_sentences
from resolab.report.parts.shift_functions import shift_drawing, shift_table
from resolab.report.sections.blocks import fit_named_table, show_drawing
from resolab.report.sections.missing import Part, note_missing
from resolab.report.sections.reading import Reading
from resolab.report.sections.section import Block, Paragraph, Section, SectionContent

_ADJUSTED = Part("Comparisons adjusted after the first byte", ("requests",), ("adjusted",), "effects")


def _build(reading: Reading) -> SectionContent:
    findings = reading.findings
    made = (
        build_across_table(findings),
        *effect_tables(findings),
        build_closed_form_table(findings),
        shift_table(findings),
        *build_adjusted_tables(findings),
    )
    tables = [fit_named_table(reading, one) for one in made if one is not None]
    if not tables:
        return SectionContent([])
    blocks: list[Block] = [
        *map(Paragraph, slope_sentences(findings)),
        *tables,
        show_drawing(shift_drawing(findings)),
        *(note_missing(reading, _ADJUSTED) if findings.adjusted else []),
    ]
    return SectionContent(blocks)


SECTION = Section(id="effects", title="What the comparisons say together", link="Together", build=_build)
