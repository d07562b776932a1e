"""The section of the figures and tables of a live dataset, by the numbers of Hounsel et al. (WWW 2020).

For: the list of figures and tables. Not for: any of their contents.
"""

from collections.abc import Iterator, Sequence

from resolab.report.live.failures import status_table
from resolab.report.live.findings import LiveFindings
from resolab.report.live.lookups import lookup_table
from resolab.report.live.pings import ping_table
from resolab.report.parts.named_table import NamedTable
from resolab.report.parts.tables import rename_live_columns
from resolab.report.plots import Drawing
from resolab.report.sections.blocks import list_notes
from resolab.report.sections.reading import Reading
from resolab.report.sections.section import Block, Section, SectionContent
from resolab.studies.h20.amortisation import (
    AmortisationCosts,
    amortisation_drawings,
    amortisation_row,
    amortisation_table,
    amortisations,
)
from resolab.studies.h20.live.cache_states import cache_state_table
from resolab.studies.h20.live.matrix import matrix_drawings
from resolab.studies.h20.live.places import difference_table, load_table
from resolab.studies.h20.live.responses import response_drawings
from resolab.studies.h20.live.study import LiveQueryStudy
from resolab.studies.h20.notes import AMORTISATION_NOTE

TITLE = "By resolver and vantage point, as Hounsel et al. (2020)"


def find_drawings(study: LiveQueryStudy, live: LiveFindings, paid: Sequence[AmortisationCosts]) -> Iterator[Drawing]:
    """Draw every figure with data in the dataset."""
    yield from response_drawings(study)
    yield from matrix_drawings(study, live.pairs)
    yield from amortisation_drawings(study, paid)


def find_tables(study: LiveQueryStudy, live: LiveFindings, paid: Sequence[AmortisationCosts]) -> list[NamedTable]:
    """Make every table with data in the dataset."""
    found = [
        status_table(study, live.outcomes),
        lookup_table(study, live.lookups),
        difference_table(study),
        load_table(study, live.pairs),
        ping_table(study, live.pings),
        cache_state_table(study),
        _amortisation(study, paid),
    ]
    return [one for one in found if one.rows]


def _amortisation(study: LiveQueryStudy, paid: Sequence[AmortisationCosts]) -> NamedTable:
    rows = [amortisation_row(one) for one in paid]
    cached = " Of answers from the cache and queries without an answer alone." if study.knows_caches else ""
    table = rename_live_columns(amortisation_table(study, paid))
    return NamedTable("live_amortisation", "Amortisation", table, rows, AMORTISATION_NOTE + cached)


def list_missing(study: LiveQueryStudy, live: LiveFindings, paid: Sequence[AmortisationCosts]) -> list[str]:
    """List the missing figures and tables with the missing data, one line each."""
    tables, lacks = study.findings.missing_tables, []
    if "queries" in tables:
        lacks.append("look-ups, hits and misses, amortisation: this published folder has no table queries")
    elif not study.lookups:
        lacks.append("live_fig1 and look-ups: no trial asked for its page's names")
    elif not study.knows_caches:
        lacks.append("hits and misses: the state of the cache is not known of any look-up")
    if not any(one.curve.median_ms.n for one in live.pairs):
        lacks.append("live_fig2: no two configurations loaded the same site")
    if "pings" in tables:
        lacks.append("pings: this published folder has no table pings")
    elif not live.pings:
        lacks.append("pings: none was sent")
    if not paid and "queries" not in tables:
        lacks.append("amortisation: no resolver was asked over Do53 and over a connection, cold and open")
    return lacks


def _build(reading: Reading) -> SectionContent:
    if reading.live is None:
        return SectionContent([])
    study = LiveQueryStudy(reading.dataset, reading.findings)
    parts = study, reading.live, amortisations(study)
    blocks: list[Block] = [*find_tables(*parts), *find_drawings(*parts), *list_notes(list_missing(*parts))]
    return SectionContent(blocks, is_open=True)


SECTION = Section(
    id="live",
    title=f"{TITLE}, figure by figure",
    link=TITLE,
    applies=lambda reading: reading.is_live,
    build=_build,
)
