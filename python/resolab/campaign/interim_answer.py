"""The answer of a running campaign so far: median paired differences over its whole blocks.

For: a first answer on the terminal, minutes before the report. Not for: tests, decisions about stopping
(`remaining_trials`), or the results of a dataset (`report`).
"""

from collections.abc import Iterable
from dataclasses import dataclass

from resolab.basics.records import Record
from resolab.campaign.contributions import OutcomeContributions, make_sample
from resolab.plan import ComparisonKind, Plan, pool_pages
from resolab.stats import Estimate, estimate_paired_difference, pairs
from resolab.store.outcomes import find_outcome

FIRST_BLOCKS_COUNT = 2
"""Fewer blocks make no pair of differences, so that no reader would see how far they vary."""


@dataclass(frozen=True, slots=True)
class InterimRow:
    """One comparison: the conditions' identifiers and the median paired difference, in the outcome's unit."""

    treatment: str
    baseline: str
    difference: Estimate


class InterimAnswer:
    """The primary outcome of all finished trials, by condition and block."""

    def __init__(self, plan: Plan) -> None:
        plan = pool_pages(plan)
        self.outcome = find_outcome(plan.analysis.primary)
        self._comparisons = [one for one in plan.comparisons() if one.kind is not ComparisonKind.AA]
        self._measured = OutcomeContributions(self.outcome, plan.conditions())

    def add(self, condition: str, block: int, records: Iterable[Record]) -> None:
        """Add the records of a finished trial. `block` counts from 0."""
        self._measured.add(condition, block, records)

    def rows(self, blocks_count: int) -> list[InterimRow]:
        """Return a row for each comparison with a pair in the first blocks; none before the second block."""
        if blocks_count < FIRST_BLOCKS_COUNT:
            return []
        rows = []
        for one in self._comparisons:
            own, other = (
                self._measured.select_first_blocks(arm.id, blocks_count) for arm in (one.treatment, one.baseline)
            )
            treated, compared = pairs(sorted(own), sorted(other))
            if treated:
                difference = estimate_paired_difference(
                    make_sample(own).take(treated), make_sample(other).take(compared)
                )
                rows.append(InterimRow(one.treatment.id, one.baseline.id, difference))
        return rows
