"""The section of the page load time as a sum, the page load time of Sengupta et al.

For: the sum beside the page load time, for every condition with sums. Not for: replicating the paper (`replication`).
"""

from resolab.report.findings.findings import Findings
from resolab.report.parts.labels import name_combination
from resolab.report.parts.outcome_tables import place_word
from resolab.report.parts.tables import Table, both_text, percent_text
from resolab.report.sections.blocks import fit_table
from resolab.report.sections.reading import Reading
from resolab.report.sections.section import Paragraph, Section, SectionContent, Tone
from resolab.store.outcomes import PLT, PLT_SUM
from resolab.studies.s24.paper_numbers import CITATION

_NOTE = (
    f"PLT sum: load time without the look-up plus a look-up measured apart, as {CITATION} made theirs. It stands here "
    "to be compared with PLT, which has the look-up inside; no other number of this report is made of it. n counts "
    "loads with a sum, and failed loads, which are at least their limit in both; the difference is of loads that ended."
)


def sum_table(findings: Findings) -> Table:
    """List the page load time as a sum beside the page load time, for every condition with sums."""
    own, other = PLT_SUM, PLT
    found = findings.find_outcome(own)
    columns = (
        "page", "profile", "condition", "n", f"median {other.label} ms", f"median {own.label} ms",
        f"sum - {other.label} ms", f"change of median {own.label}",
    )  # fmt: skip
    rows = [
        (
            one.condition.page,
            one.condition.profile,
            name_combination(findings, one.condition),
            str(one.median_ms.n),
            both_text(within.other_ms),
            both_text(one.median_ms),
            both_text(within.difference_ms, signed=True),
            place_word(one) if one.comparison is None else percent_text(one.comparison.change),
        )
        for one in (() if found is None else found.told)
        for within in [findings.sums[one.condition.id]]
    ]
    return Table(columns, rows, frozenset(range(3)))


def _build(reading: Reading) -> SectionContent:
    table = fit_table(reading, sum_table(reading.findings))
    return SectionContent([table, Paragraph(_NOTE, Tone.NOTE)] if table.rows else [])


SECTION = Section(id="plt-sum", title="Page load time as a sum", link="As a sum", follows="outcomes", build=_build)
