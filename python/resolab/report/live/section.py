"""The figures and tables of a live dataset, by the numbers of Hounsel et al. (WWW 2020).

For: the list of figures and tables. Not for: any of their contents.
"""

from collections.abc import Iterator
from functools import cached_property

from resolab.plots import Drawing
from resolab.report.findings.findings import Findings
from resolab.report.h20.amortisation import (
    AmortisationCosts,
    amortisation_drawings,
    amortisation_row,
    amortisation_table,
    amortisations,
)
from resolab.report.h20.notes import AMORTISATION_NOTE
from resolab.report.live.cache_states import cache_state_table
from resolab.report.live.failures import status_table
from resolab.report.live.findings import LiveFindings
from resolab.report.live.lookups import lookup_table
from resolab.report.live.matrix import matrix_drawings
from resolab.report.live.pings import ping_table
from resolab.report.live.responses import response_drawings
from resolab.report.live.study import LiveStudy
from resolab.report.named_table import NamedTable
from resolab.report.places.differences import difference_table, load_table
from resolab.report.tables import rename_live_columns
from resolab.store import Dataset


class LiveSection:
    """The figures and tables of a live dataset; the dataset must be open."""

    def __init__(self, dataset: Dataset, findings: Findings, live: LiveFindings) -> None:
        self.study = LiveStudy(dataset, findings)
        self.live = live

    @cached_property
    def _paid(self) -> list[AmortisationCosts]:
        return amortisations(self.study)

    def drawings(self) -> Iterator[Drawing]:
        """Draw every figure with data in the dataset."""
        yield from response_drawings(self.study)
        yield from matrix_drawings(self.study, self.live.pairs)
        yield from amortisation_drawings(self.study, self._paid)

    def tables(self) -> list[NamedTable]:
        """Make every table with data in the dataset."""
        study, live = self.study, self.live
        found = [
            status_table(study, live.outcomes),
            lookup_table(study, live.lookups),
            difference_table(study),
            load_table(study, live.pairs),
            ping_table(study, live.pings),
            cache_state_table(study),
            self._amortisation(),
        ]
        return [one for one in found if one.rows]

    def _amortisation(self) -> NamedTable:
        rows = [amortisation_row(one) for one in self._paid]
        cached = " Of answers from the cache and queries without an answer alone." if self.study.knows_caches else ""
        table = rename_live_columns(amortisation_table(self.study, self._paid))
        return NamedTable("live_amortisation", "Amortisation", table, rows, AMORTISATION_NOTE + cached)

    def missing(self) -> list[str]:
        """List the missing figures and tables with the missing data, one line each."""
        study, lacks = self.study, []
        if "queries" in study.findings.missing_tables:
            lacks.append("look-ups, hits and misses, amortisation: this published folder has no table queries")
        elif not study.lookups:
            lacks.append("live_fig1 and look-ups: no trial asked for its page's names")
        elif not study.knows_caches:
            lacks.append("hits and misses: the state of the cache is not known of any look-up")
        if not any(one.curve.median_ms.n for one in self.live.pairs):
            lacks.append("live_fig2: no two configurations loaded the same site")
        if "pings" in study.findings.missing_tables:
            lacks.append("pings: this published folder has no table pings")
        elif not self.live.pings:
            lacks.append("pings: none was sent")
        if not self._paid and "queries" not in study.findings.missing_tables:
            lacks.append("amortisation: no resolver was asked over Do53 and over a connection, cold and open")
        return lacks
