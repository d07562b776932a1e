"""The figures and tables of Sengupta et al. (TNSM 2024), each from one dataset, under the paper's numbers.

For: one list of them for the report, and what the dataset lacks.
Not for: what is in each (`exchanges`, `loads`, `changes`, `profiles`, `beside`).
"""

from collections.abc import Iterable, Iterator

from resolab.plots import Drawing
from resolab.report.findings.findings import Findings
from resolab.report.named_table import NamedTable
from resolab.report.s24.changes import changes_table, overhead_table
from resolab.report.s24.exchanges import exchange_drawings, timings_of
from resolab.report.s24.loads import load_drawings, measures_of
from resolab.report.s24.profiles import connect_table, profile_table
from resolab.report.s24.scope import scope_of
from resolab.store import Dataset

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


def s24_drawings(dataset: Dataset, findings: Findings) -> Iterator[Drawing]:
    """Draw every figure of the paper for which the dataset has something."""
    scope = scope_of(findings.plan)
    yield from exchange_drawings(timings_of(dataset, findings, scope), findings, scope)
    for measure in measures_of(dataset, findings):
        yield from load_drawings(measure, findings, scope)


def s24_tables(dataset: Dataset, findings: Findings) -> list[NamedTable]:
    """Make every table that compares with the paper for which the dataset has something."""
    scope = scope_of(findings.plan)
    measures, loads = measures_of(dataset, findings), dataset.measured_loads()
    rtt_ms = {one.name: one.up.one_way_delay_ms + one.down.one_way_delay_ms for one in findings.manifest.profiles}
    found = [
        profile_table(findings),
        connect_table(timings_of(dataset, findings, scope)),
        changes_table(measures, scope, rtt_ms),
        overhead_table(loads, findings, scope, of_sum=False),
        overhead_table(loads, findings, scope, of_sum=True) if len(measures) > 1 else None,
    ]
    return [one for one in found if one is not None]


def s24_missing(drawn: Iterable[str]) -> list[str]:
    """Name the figures of the paper that are not among those drawn, one line each with what the dataset would need."""
    names = set(drawn)
    return [f"{name}: needs {what}." for name, what in _NEEDS.items() if name not in names]
