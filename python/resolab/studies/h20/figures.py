"""The section of the figures and tables of Hounsel et al. (WWW 2020), by the paper's numbers.

For: the list of figures and tables. Not for: any of their contents (`responses`, `differences`, `statuses`, `networks`,
`amortisation`).
"""

from collections.abc import Iterator, Sequence

from resolab.report.parts.named_table import NamedTable
from resolab.report.plots import Drawing
from resolab.report.sections.blocks import list_notes
from resolab.report.sections.reading import Reading
from resolab.report.sections.section import Block, Heading, Paragraph, Section, SectionContent, Tone
from resolab.studies.h20.amortisation import (
    AmortisationCosts,
    amortisation_drawings,
    amortisation_row,
    amortisation_table,
    amortisations,
    describe_missing_amortisation,
)
from resolab.studies.h20.differences import difference_drawings, list_missing_differences
from resolab.studies.h20.networks import network_rows, network_tables
from resolab.studies.h20.notes import (
    AMORTISATION_NOTE,
    FASTEST_NOTE,
    FOLLOW_UP_NOTE,
    NETWORKS_NOTE,
    STATUSES_NOTE,
    TABLE_1_NOTE,
)
from resolab.studies.h20.responses import (
    fastest_rows,
    fastest_table,
    follow_up_rows,
    follow_up_table,
    list_missing_responses,
    response_drawings,
)
from resolab.studies.h20.statuses import STATUSES_CITATION, status_rows, status_table, table_1
from resolab.studies.h20.study import H20Study, has_h20_network


def find_drawings(study: H20Study, paid: Sequence[AmortisationCosts]) -> Iterator[Drawing]:
    """Draw every figure with data in the dataset."""
    yield from response_drawings(study)
    yield from difference_drawings(study)
    yield from amortisation_drawings(study, paid)


def find_tables(study: H20Study, paid: Sequence[AmortisationCosts]) -> list[NamedTable]:
    """Make every table with data in the dataset."""
    amortised = [amortisation_row(one) for one in paid]
    found = [
        _networks(study),
        NamedTable("h20_table1", "Table 1", table_1(study), status_rows(study), TABLE_1_NOTE),
        NamedTable("h20_amortisation", "Amortisation", amortisation_table(study, paid), amortised, AMORTISATION_NOTE),
        NamedTable("h20_fastest", "Fastest answers", fastest_table(study), fastest_rows(study), FASTEST_NOTE),
        NamedTable(
            "h20_follow_up", "Cold DoH by distance", follow_up_table(study), follow_up_rows(study), FOLLOW_UP_NOTE
        ),
    ]
    return [one for one in found if one.rows]


def _networks(study: H20Study) -> NamedTable:
    rows = network_rows(study)
    medians, losses, reasons = network_tables(study, rows)
    further = (("What lost packets do to look-ups", losses), ("Why", reasons))
    return NamedTable("h20_networks", "Medians by network", medians, rows, NETWORKS_NOTE, further)


def list_missing(study: H20Study, paid: Sequence[AmortisationCosts]) -> list[str]:
    """List the missing figures with the missing data, one line each."""
    lacking, missing = study.findings.missing_tables, list_missing_differences(study)
    if "queries" in lacking:
        missing.append("figures and tables of DNS queries: this published folder has no table queries")
    else:
        missing = [*list_missing_responses(study), *missing, *describe_missing_amortisation(paid)]
    if "requests" in lacking:
        missing.append("names a page, and loads that lose a look-up: this published folder has no table requests")
    return missing


def _statuses(study: H20Study) -> list[Block]:
    """Return the table of statuses, for a dataset with failed loads."""
    table = status_table(study.findings)
    if not table.rows:
        return []
    return [Heading(f"Status of page loads, as in {STATUSES_CITATION}"), table, Paragraph(STATUSES_NOTE, Tone.NOTE)]


def _build(reading: Reading) -> SectionContent:
    study = H20Study(reading.dataset, reading.findings)
    paid = amortisations(study)
    drawn = list(find_drawings(study, paid))
    if not drawn and not reading.lacks(["queries"]):
        return SectionContent([])
    missing = list_notes(list_missing(study, paid))
    return SectionContent([*_statuses(study), *find_tables(study, paid), *drawn, *missing])


SECTION = Section(
    id="h20",
    title="Hounsel et al. (2020), figure by figure",
    link="Hounsel et al. (2020), by figure",
    applies=lambda reading: not reading.is_live and reading.has_page_loads and has_h20_network(reading.findings),
    build=_build,
)
