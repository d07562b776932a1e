"""Comparisons beside the closed form: the part explained by round trips and bytes, and the remainder.

For: the residual of every comparison, and the number of intervals holding the expected value. Not for: the closed form
itself (`findings.oracle`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from resolab.basics.records import TrialKind
from resolab.basics.wording import format_count
from resolab.report.findings.findings import Findings, OutcomeFindings, PairResult
from resolab.report.findings.oracle import ExpectedDifference
from resolab.report.parts.labels import name_combination
from resolab.report.parts.named_table import NamedTable
from resolab.report.parts.tables import Table, both_text
from resolab.report.plots import ABSENT, number_text
from resolab.report.plots.save import Value
from resolab.stats import Estimate
from resolab.store.outcomes import FIRST_BYTE, PLT, RESPONSE_START, RESPONSE_TIME

_PREDICTED = (PLT, RESPONSE_START, RESPONSE_TIME, FIRST_BYTE)
"""The outcomes with a closed form: a time, or the difference of times, by round trips and bytes."""
_COLUMNS = (
    "outcome", "page", "profile", "treatment", "against", "pairs", "difference ms", "round trips ms", "with bytes ms",
    "left over ms", "interval holds it",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Row:
    found: OutcomeFindings
    pair: PairResult
    expected: ExpectedDifference

    @property
    def left_over_ms(self) -> float | None:
        value = self.pair.difference_ms.value
        return None if value is None else value - self.expected.total_ms

    def holds(self, expected_ms: float | None) -> bool | None:
        return None if expected_ms is None else _holds(self.pair.difference_ms, expected_ms)


def build_closed_form_table(findings: Findings) -> NamedTable | None:
    """Show the outcomes that the closed form predicts beside it; `None` for page loads without known bytes."""
    study = findings.plan.study
    outcomes = [findings.plt] if study is not None else [findings.find_outcome(one) for one in _PREDICTED]
    rows = [
        _Row(found, pair, expected)
        for found in outcomes
        if found is not None
        for pair in found.comparisons
        if pair.difference_ms.n
        for expected in [findings.oracle.where_known(pair.comparison.treatment, pair.comparison.baseline)]
        if expected is not None
    ]
    has_bytes = any(row.expected.bytes_ms is not None for row in rows)
    if not rows or (not has_bytes and findings.plan.kind is TrialKind.PAGE_LOAD):
        return None
    formula = _ROUND_TRIPS if study is None else study.declaration.closed_form
    note = _note(rows, findings.plan.kind) if has_bytes else _note_without_bytes(rows, formula)
    table = Table(_COLUMNS, [_words(findings, row) for row in rows], frozenset((0, 1, 2, 3, 4, 10)))
    return NamedTable("closed_form", "Against the closed form", table, [_numbers(row) for row in rows], note)


def _words(findings: Findings, row: _Row) -> tuple[str, ...]:
    treatment, baseline = row.pair.comparison.treatment, row.pair.comparison.baseline
    with_bytes = None if row.expected.bytes_ms is None else row.expected.total_ms
    return (
        row.found.outcome.label,
        treatment.page,
        treatment.profile,
        *(name_combination(findings, one) for one in (treatment, baseline)),
        str(row.pair.difference_ms.n),
        both_text(row.pair.difference_ms, signed=True),
        number_text(row.expected.round_trips_ms, signed=True),
        ABSENT if with_bytes is None else number_text(with_bytes, signed=True),
        ABSENT if row.left_over_ms is None else number_text(row.left_over_ms, signed=True),
        _word(row.holds(row.expected.total_ms)),
    )


def _numbers(row: _Row) -> dict[str, Value]:
    pair, total_ms = row.pair, row.expected.total_ms
    by_bytes = None if row.expected.bytes_ms is None else total_ms
    treatment, baseline = (
        replace(one, profile="any").id for one in (pair.comparison.treatment, pair.comparison.baseline)
    )
    return {
        "outcome": row.found.outcome.name,
        "page": pair.comparison.treatment.page,
        "profile": pair.comparison.treatment.profile,
        "treatment": treatment,
        "baseline": baseline,
        "comparison": pair.comparison.name,
        "pairs_count": pair.difference_ms.n,
        "difference_ms": pair.difference_ms.value,
        "ci_low_ms": pair.difference_ms.ci_low,
        "ci_high_ms": pair.difference_ms.ci_high,
        "ci_level": pair.difference_ms.level,
        "ci_method": str(pair.difference_ms.method),
        "round_trips_ms": row.expected.round_trips_ms,
        "closed_form_ms": by_bytes,
        "left_over_ms": row.left_over_ms,
        "interval_holds_round_trips": _flag(row.holds(row.expected.round_trips_ms)),
        "interval_holds_closed_form": _flag(row.holds(by_bytes)),
    }


_SOURCES = {
    TrialKind.PAGE_LOAD: (
        "round trips before the first byte times RTT, and the bytes on that way over the profile's rates, as captured "
        "of loads with a cold look-up (docs/method/accuracy.md). It knows nothing of the browser's own work, of queues "
        "and of loss; where bytes are not known, round trips stand alone."
    ),
    TrialKind.EXCHANGE: (
        "round trips times RTT, and the packets of each flight over the profile's rates: recorded sizes of hellos, "
        "certificates, query and response, headers and padding by the standards (docs/method/accuracy.md). It knows "
        "nothing of the computing time of handshakes, of queues and of loss; the column of what is left over holds all "
        "of these. Where sizes are not recorded, round trips stand alone."
    ),
}


def _note(rows: Sequence[_Row], kind: TrialKind) -> str:
    """Count the intervals holding the closed form, among the comparisons with an interval."""
    parts, without = [], 0
    for label in dict.fromkeys(row.found.outcome.label for row in rows):
        known = [row for row in rows if row.found.outcome.label == label and row.expected.bytes_ms is not None]
        own = [row for row in known if row.holds(row.expected.total_ms) is not None]
        without += len(known) - len(own)
        with_bytes = sum(row.holds(row.expected.total_ms) is True for row in own)
        trips = sum(row.holds(row.expected.round_trips_ms) is True for row in own)
        parts.append(f"of {label} {with_bytes} of {len(own)} ({trips} by round trips alone)")
    lacking = f"{format_count(without, 'comparison')} without an interval left out. " if without else ""
    return (
        f"The interval of the paired difference holds the closed form: {'; '.join(parts)}. {lacking}Closed form: "
        f"{_SOURCES[kind]}"
    )


_ROUND_TRIPS = "round trips of look-up and handshakes times RTT"


def _note_without_bytes(rows: Sequence[_Row], formula: str) -> str:
    own = [holds for row in rows if (holds := row.holds(row.expected.round_trips_ms)) is not None]
    return (
        f"The interval of the paired difference holds the closed form: {sum(own)} of {len(own)}. Closed form: "
        f"{formula}. It knows nothing of bytes, of the client's own work, of queues and "
        "of loss; the column of what is left over holds all of these."
    )


def _holds(estimate: Estimate, expected_ms: float) -> bool | None:
    if estimate.ci_low is None or estimate.ci_high is None:
        return None
    return estimate.ci_low <= expected_ms <= estimate.ci_high


def _flag(holds: object) -> int | None:
    return None if holds is None else int(bool(holds))


def _word(holds: object) -> str:
    return "no interval" if holds is None else "yes" if holds else "no"
