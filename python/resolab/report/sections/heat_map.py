"""The section of the page load time against the baseline, drawn.

For: the figures of changes, and of pages with different numbers of names. Not for: drawing (`parts`).
"""

from resolab.report.findings.findings import Findings
from resolab.report.parts.figures import outcome_drawings
from resolab.report.parts.labels import baseline_label
from resolab.report.parts.name_counts import is_about_names, names_drawing
from resolab.report.sections.blocks import show_drawing
from resolab.report.sections.missing import Part, note_missing
from resolab.report.sections.reading import Reading
from resolab.report.sections.section import Block, Section, SectionContent
from resolab.store.connections.loads import TABLES_OF_LOAD_CONNECTIONS

_BY_NAMES = Part("Differences by number of names", TABLES_OF_LOAD_CONNECTIONS, ("plt_by_names",))


def _build(reading: Reading) -> SectionContent:
    findings = reading.findings
    drawn = [show_drawing(one) for one in outcome_drawings(findings, findings.plt)]
    by_names = names_drawing(findings)
    blocks: list[Block] = [
        *(drawn or [show_drawing(None), show_drawing(None)]),
        *([] if by_names is None else [by_names]),
        *(note_missing(reading, _BY_NAMES) if is_about_names(findings) else []),
    ]
    return SectionContent(blocks, title=f"{_name(findings)} against {baseline_label(findings)}")


def _name(findings: Findings) -> str:
    phrase = findings.plt.outcome.phrase
    return f"{phrase[0].upper()}{phrase[1:]}"


SECTION = Section(id="heat-map", title="Page load time against the baseline", link="Page load time", build=_build)
