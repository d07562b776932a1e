"""The comparisons at every vantage point side by side, and across them, as a table.

For: rounding and words, and the limits of few vantage points. Not for: the numbers (`findings.across_places`).
"""

from collections.abc import Iterable, Mapping

from resolab.report.findings.dataset_plan import is_live
from resolab.report.findings.findings import Findings, VantagePointComparison
from resolab.report.parts.labels import name_combination
from resolab.report.parts.named_table import NamedTable
from resolab.report.parts.tables import Table, both_text
from resolab.report.plots import ABSENT
from resolab.report.plots.save import Value
from resolab.stats import Estimate

NOTE = (
    "Each vantage point is one observation: of its pairs the median, of these the median across, whose interval is "
    "over vantage points. Of five it is from the least to the greatest, at 93.75 % (1 - 2/2^5), and so wide that one "
    "odd place decides an end; of fewer there is none, nor of five where a plan may stop and its level is 97 %. It "
    "speaks of places like these, if they are a sample of any. That five agree in sign happens by chance in 1 of 16 "
    "cases."
)


def build_across_table(findings: Findings) -> NamedTable | None:
    """List the comparisons, one a row; `None` for a single vantage point."""
    found = findings.across_places
    if not found:
        return None
    places = list(dict.fromkeys(place for one in found for place in one.places))
    lab = () if is_live(findings.plan) else ("profile",)
    columns = (
        "page",
        *lab,
        "treatment",
        "against",
        *(f"{place} ms" for place in places),
        "across ms",
        "above, below 0",
    )
    rows = [
        (
            one.treatment.page,
            *(one.treatment.profile for _ in lab),
            name_combination(findings, one.treatment),
            name_combination(findings, one.baseline),
            *place_cells(one.places, one.across, places),
        )
        for one in found
    ]
    title = f"Across vantage points: paired difference of {findings.primary.outcome.label}"
    table = Table(columns, rows, frozenset(range(3 + len(lab))))
    return NamedTable("across_places", title, table, [row for one in found for row in _rows(one)], NOTE)


def place_cells(of_places: Mapping[str, Estimate], across: Estimate, places: Iterable[str]) -> list[str]:
    """Return the estimate of each place, the estimate across, and the number of places on either side of 0."""
    cells = [both_text(of_places[one], signed=True) if one in of_places else ABSENT for one in places]
    return [*cells, both_text(across, signed=True), signs(of_places.values())]


def signs(estimates: Iterable[Estimate]) -> str:
    """Count medians above and below 0; bounds on both sides count as neither."""
    known = [(one.low, one.high) for one in estimates if one.low is not None and one.high is not None]
    return f"{sum(low > 0 for low, _ in known)}, {sum(high < 0 for _, high in known)}"


def estimate_row(place: str, one: Estimate) -> dict[str, Value]:
    """Return the estimate of a place, or across all, as columns of a CSV."""
    return {
        "vantage_point": place,
        "n": one.n,
        "difference_ms": one.value,
        "difference_ci_low_ms": one.ci_low,
        "difference_ci_high_ms": one.ci_high,
        "ci_level": one.level,
        "ci_method": one.method.value,
    }


def _rows(one: VantagePointComparison) -> list[dict[str, Value]]:
    conditions: dict[str, Value] = {"treatment": one.treatment.id, "baseline": one.baseline.id}
    every = {**one.places, "across": one.across}
    return [conditions | estimate_row(place, estimate) for place, estimate in every.items()]
