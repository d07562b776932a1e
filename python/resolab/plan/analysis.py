"""A plan's declaration of its analysis before any load: the deciding outcome and estimand, the equivalence margin.

For: `[analysis]`. Not for: the outcomes themselves (`store.outcomes`) or estimates (`stats`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Annotated

from resolab.plan.section import PlanSection
from resolab.plan.settings import ChoiceOf, NumberBounds, WordOf, read_table


class OutcomeName(StrEnum):
    """The outcomes of a trial, by name; `store.outcomes` has a row for each."""

    PLT = "plt"
    PLT_SUM = "plt_sum"
    RESPONSE_START = "response_start"
    LAST_BYTE = "last_byte"
    FCP = "fcp"
    LCP = "lcp"
    RESPONSE_TIME = "response_time"
    FIRST_BYTE = "first_byte"
    PAGE_COMPLETE = "page_complete"


class Estimand(StrEnum):
    """The estimand of a comparison."""

    PAIRED_DIFFERENCE = "paired_difference"
    """The median of the differences within blocks."""
    RELATIVE_CHANGE = "relative_change"
    """The ratio of the medians less 1."""
    SHIFT = "shift"
    """The Hodges-Lehmann shift of the pairs."""


@dataclass(frozen=True, slots=True)
class EquivalenceMargin:
    """The equivalence margin for two conditions, in ms or round trips."""

    ms: float | None = None
    rtts: float | None = None

    def compute_ms(self, rtt_ms: float) -> float:
        """Return the margin in ms for a given round trip."""
        return self.ms if self.ms is not None else (self.rtts or 0.0) * rtt_ms


@dataclass(frozen=True, slots=True)
class Analysis:
    """The deciding outcome and estimand; a report shows all others in addition."""

    primary: Annotated[str, WordOf(tuple(OutcomeName))] = OutcomeName.PLT
    """Without the key, the main outcome of the plan's kind of trial; a study's outcome is `STUDY.TIME`."""
    estimand: Annotated[Estimand, ChoiceOf(tuple(Estimand))] = Estimand.PAIRED_DIFFERENCE
    equivalence_margin_ms: Annotated[float | None, NumberBounds(0, 60_000)] = None
    equivalence_margin_rtts: Annotated[float | None, NumberBounds(0, 100, "Of the link's round trip.")] = None

    @property
    def equivalence_margin(self) -> EquivalenceMargin | None:
        """Return the declared margin, or `None`: without a margin no result counts as equivalent."""
        if self.equivalence_margin_ms is None and self.equivalence_margin_rtts is None:
            return None
        return EquivalenceMargin(self.equivalence_margin_ms, self.equivalence_margin_rtts)


def read_analysis(section: PlanSection, outcomes: Sequence[str]) -> Analysis:
    """Read the deciding outcome, estimand and margin; without an outcome in the table, the first of `outcomes`."""
    has_primary = "primary" in section
    analysis = read_table(section, Analysis)
    if not has_primary:
        analysis = replace(analysis, primary=outcomes[0])
    if analysis.primary not in outcomes:
        section.fail(
            "primary", f"{str(analysis.primary)!r} is no outcome of these trials; allowed: {', '.join(outcomes)}"
        )
    if analysis.equivalence_margin_ms is not None and analysis.equivalence_margin_rtts is not None:
        section.fail("", "takes one of equivalence_margin_ms and equivalence_margin_rtts, not both")
    return analysis
