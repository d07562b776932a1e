"""Quantile differences of the comparisons as a table and a figure.

For: rounding, words and panels. Not for: the numbers (`findings.effects`).
"""

from dataclasses import replace

from resolab.report.findings.findings import Findings, ShiftResult
from resolab.report.parts.captions import shift_caption
from resolab.report.parts.labels import name_combination
from resolab.report.parts.named_table import NamedTable
from resolab.report.parts.tables import Table, both_text
from resolab.report.plots import Drawing, ShiftLine, draw_shift_functions
from resolab.report.plots.save import Value
from resolab.stats import QuantileDifference, pairs_for_quantile
from resolab.stats.quantile_shift import PROBABILITIES

MOST_PANELS = 24
"""With more panels, no figure is drawn; the table always has all comparisons."""


def shift_table(findings: Findings) -> NamedTable | None:
    """List the quantiles of every comparison with enough pairs."""
    if not findings.shifts:
        return None
    names = tuple(f"P{probability * 100:g}" for probability in PROBABILITIES)
    columns = ("page", "profile", "treatment", "against", "pairs", *names)
    rows = [_words(findings, one) for one in findings.shifts]
    note = (
        f"{findings.primary.outcome.label}, ms: the treatment's quantile less the baseline's (the shift function, "
        "Doksum 1974), pairs resampled together. A quantile needs so many pairs for an interval that some two lie "
        f"beyond it, {pairs_for_quantile(0.5)} at least; with fewer its place is empty. Each interval stands for "
        "itself."
    )
    table = Table(columns, rows, frozenset(range(4)))
    numbers = [_numbers(one, found) for one in findings.shifts for found in one.found]
    return NamedTable("quantile_differences", "Quantiles: what changes where in the distribution", table, numbers, note)


def shift_drawing(findings: Findings) -> Drawing | None:
    """Draw the quantile differences; `None` for too many panels, and without comparisons."""
    lines = [_line(findings, one) for one in findings.shifts]
    if not lines or len({one.place for one in lines}) > MOST_PANELS:
        return None
    label = findings.primary.outcome.label
    offered = [found.difference for line in lines for found in line.found if found.difference.ci_low is not None]
    caption = shift_caption(findings, offered)
    return draw_shift_functions(lines, caption, label)


def _line(findings: Findings, one: ShiftResult) -> ShiftLine:
    treatment, baseline = (name_combination(findings, each) for each in (one.treatment, one.baseline))
    return ShiftLine(
        place=f"{one.treatment.page}, {one.treatment.profile}",
        label=f"{treatment} against {baseline}",
        dns_transport=one.treatment.dns_transport,
        requested_handshake_mode=one.treatment.requested_handshake_mode,
        found=one.found,
    )


def _words(findings: Findings, one: ShiftResult) -> tuple[str, ...]:
    labels = (name_combination(findings, each) for each in (one.treatment, one.baseline))
    count = one.found[0].difference.n
    cells = ("" if found.difference.ci_low is None else both_text(found.difference, signed=True) for found in one.found)
    return one.treatment.page, one.treatment.profile, *labels, str(count), *cells


def _numbers(one: ShiftResult, found: QuantileDifference) -> dict[str, Value]:
    treatment, baseline = (replace(each, profile="any").id for each in (one.treatment, one.baseline))
    return {
        "page": one.treatment.page,
        "profile": one.treatment.profile,
        "treatment": treatment,
        "baseline": baseline,
        "probability_ratio": found.probability,
        "difference_ms": found.difference.value,
        "ci_low_ms": found.difference.ci_low,
        "ci_high_ms": found.difference.ci_high,
        "ci_level": found.difference.level,
        "ci_method": str(found.difference.method),
        "pairs_count": found.difference.n,
    }
