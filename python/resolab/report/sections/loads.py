"""The section of all conditions: the page load time of each, against its baseline.

For: the table of the page load time. Not for: other outcomes, or the table's cells (`parts.outcome_tables`).
"""

from resolab.report.parts.outcome_tables import outcome_table
from resolab.report.sections.blocks import fit_table
from resolab.report.sections.reading import Reading
from resolab.report.sections.section import Paragraph, Section, SectionContent, Tone

_NOTE = (
    "PLT: loadEventStart - navigationStart, look-up inside. Differences are medians of differences within blocks, not "
    "differences of medians."
)
_CLOSED_FORM = (
    " The closed form counts what is before the first request: the round trips of the look-up and of the page's "
    "handshake and, where known, their bytes over the rate."
)


def _build(reading: Reading) -> SectionContent:
    table = fit_table(reading, outcome_table(reading.findings, reading.findings.plt))
    return SectionContent([table, Paragraph(_NOTE if reading.is_live else _NOTE + _CLOSED_FORM, Tone.NOTE)])


SECTION = Section(id="loads", title="All conditions", link="All conditions", build=_build)
