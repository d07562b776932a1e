"""Figures and tables of Hounsel et al. (WWW 2020) for a dataset, by the paper's numbers.

For: the list of figures and tables. Not for: any of their contents (`responses`, `differences`, `statuses`, `networks`,
`amortisation`).
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
    describe_missing_amortisation,
)
from resolab.report.h20.differences import difference_drawings, list_missing_differences
from resolab.report.h20.networks import network_rows, network_tables
from resolab.report.h20.notes import (
    AMORTISATION_NOTE,
    FASTEST_NOTE,
    FOLLOW_UP_NOTE,
    NETWORKS_NOTE,
    TABLE_1_NOTE,
)
from resolab.report.h20.responses import (
    fastest_rows,
    fastest_table,
    follow_up_rows,
    follow_up_table,
    list_missing_responses,
    response_drawings,
)
from resolab.report.h20.statuses import status_rows, table_1
from resolab.report.h20.study import H20Study
from resolab.report.named_table import NamedTable
from resolab.store import Dataset


class H20Section:
    """The paper's figures and tables of a dataset, with common parts computed once; the dataset must be open."""

    def __init__(self, dataset: Dataset, findings: Findings) -> None:
        self.study = H20Study(dataset, findings)

    @cached_property
    def _paid(self) -> list[AmortisationCosts]:
        return amortisations(self.study)

    @property
    def is_theirs(self) -> bool:
        """True when the dataset has a network of the paper."""
        return bool(self.study.profiles)

    def drawings(self) -> Iterator[Drawing]:
        """Draw every figure with data in the dataset."""
        yield from response_drawings(self.study)
        yield from difference_drawings(self.study)
        yield from amortisation_drawings(self.study, self._paid)

    def tables(self) -> list[NamedTable]:
        """Make every table with data in the dataset."""
        study, paid = self.study, self._paid
        amortised = [amortisation_row(one) for one in paid]
        found = [
            self._networks(),
            NamedTable("h20_table1", "Table 1", table_1(study), status_rows(study), TABLE_1_NOTE),
            NamedTable(
                "h20_amortisation",
                "Amortisation",
                amortisation_table(study, paid),
                amortised,
                AMORTISATION_NOTE,
            ),
            NamedTable("h20_fastest", "Fastest answers", fastest_table(study), fastest_rows(study), FASTEST_NOTE),
            NamedTable(
                "h20_follow_up",
                "Cold DoH by distance",
                follow_up_table(study),
                follow_up_rows(study),
                FOLLOW_UP_NOTE,
            ),
        ]
        return [one for one in found if one.rows]

    def _networks(self) -> NamedTable:
        rows = network_rows(self.study)
        medians, losses, reasons = network_tables(self.study, rows)
        further = (("What lost packets do to look-ups", losses), ("Why", reasons))
        return NamedTable("h20_networks", "Medians by network", medians, rows, NETWORKS_NOTE, further)

    def missing(self) -> list[str]:
        """List the missing figures with the missing data, one line each."""
        lacking, missing = self.study.findings.missing_tables, list_missing_differences(self.study)
        if "queries" in lacking:
            missing.append("figures and tables of DNS queries: this published folder has no table queries")
        else:
            missing = [*list_missing_responses(self.study), *missing, *describe_missing_amortisation(self._paid)]
        if "requests" in lacking:
            missing.append("names a page, and loads that lose a look-up: this published folder has no table requests")
        return missing
