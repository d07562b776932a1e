"""The section of the figures and tables of Sengupta et al. (TNSM 2024), each from a single dataset, by their numbers.

For: the list of figures and tables, and the missing data. Not for: the content of each (`exchanges`, `loads`,
`changes`, `replication`, `profiles`).
"""

from collections.abc import Iterable, Iterator

from resolab.report.findings.interval_level import level_of_loads
from resolab.report.parts.named_table import NamedTable
from resolab.report.plots import Drawing
from resolab.report.sections.blocks import list_notes
from resolab.report.sections.reading import Reading
from resolab.report.sections.section import Section, SectionContent
from resolab.studies.s24.changes import changes_table, overhead_table
from resolab.studies.s24.exchanges import exchange_drawings
from resolab.studies.s24.loads import load_drawings
from resolab.studies.s24.profiles import connect_table, profile_table
from resolab.studies.s24.replication import replication_table
from resolab.studies.s24.scope import choose_scope
from resolab.studies.s24.study import S24Study

_NEEDS = {
    "s24_fig3": "page loads over HTTP/3",
    "s24_fig4": "page loads over HTTP/3 on fiber or 4g",
    "s24_fig5": "cold DNS exchanges with a full handshake",
    "s24_fig6": "cold DNS exchanges with a full handshake on fiber or 4g",
    "s24_fig7": "cold DNS exchanges with a full handshake",
    "s24_fig8": "a baseline DoUDP + H3 full, and DoQ or DoH beside it",
    "s24_fig9": "ended loads of DoUDP + H3 full, and DoQ or DoH beside it",
    "s24_fig10": "loads of the page wikipedia on fiber or 4g",
    "s24_fig11": "loads of the page instagram on fiber or 4g",
    "s24_fig12": "a baseline DoUDP + H3 full, and DoQ or DoH beside it",
}


def find_drawings(study: S24Study) -> Iterator[Drawing]:
    """Draw every figure of the paper with data in the dataset."""
    yield from exchange_drawings(study.timings, study.findings, study.scope)
    for times in study.times:
        yield from load_drawings(times, study.findings, study.scope)


def find_tables(study: S24Study) -> list[NamedTable]:
    """Make every table of comparisons with the paper, given data in the dataset."""
    found = [
        profile_table(study.findings),
        connect_table(study.timings),
        changes_table(study.times, study.scope, study.findings),
        replication_table(study.times, study.scope, level_of_loads(study.findings.plan)),
        *(overhead_table(times.outcome, study.findings, study.scope) for times in study.times),
    ]
    return [one for one in found if one is not None]


def list_missing(drawn: Iterable[str]) -> list[str]:
    """List the paper's figures missing from the names in `drawn`, each with the data needed."""
    names = set(drawn)
    return [f"{name}: needs {what}." for name, what in _NEEDS.items() if name not in names]


def _build(reading: Reading) -> SectionContent:
    study = S24Study(reading.dataset, reading.findings)
    drawn = list(find_drawings(study))
    lacks_queries = reading.lacks(["queries"])
    if not drawn and not lacks_queries:
        return SectionContent([])
    missing = list_missing(one.name for one in drawn)
    if lacks_queries:
        missing.append("Figures and tables of DNS exchanges: this published folder has no table queries.")
    return SectionContent([*find_tables(study), *drawn, *list_notes(missing)])


SECTION = Section(
    id="s24",
    title="Sengupta et al. (2024), figure by figure",
    link="Sengupta et al. (2024), by figure",
    applies=lambda reading: not reading.is_live and reading.has_page_loads and bool(choose_scope(reading.plan).cells),
    build=_build,
)
