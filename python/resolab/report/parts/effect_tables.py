"""Findings over several comparisons, as tables and sentences: slopes on the round-trip time, equivalence, slow loads.

For: rounding and words. Not for: the numbers (`findings.effects`).
"""

from dataclasses import replace

from resolab.basics.wording import format_count
from resolab.plan import Condition
from resolab.report.findings.effects import SLOW_MS
from resolab.report.findings.findings import EquivalenceResult, Findings, SlopeResult, TailResult
from resolab.report.findings.interval_level import find_significance, level_text
from resolab.report.parts.comparison_tables import p_text
from resolab.report.parts.labels import name_combination
from resolab.report.parts.named_table import NamedTable
from resolab.report.parts.tables import Table, both_text
from resolab.report.plots import estimate_text, interval_text, number_text
from resolab.report.plots.save import Value
from resolab.stats import Estimate


def effect_tables(findings: Findings) -> list[NamedTable]:
    """List the tables with rows."""
    made = (_slopes(findings), _equivalences(findings), _slow(findings))
    return [one for one in made if one.table.rows]


def slope_sentences(findings: Findings) -> list[str]:
    """Return a sentence for each slope of the primary outcome, in round trips."""
    return [_slope_sentence(findings, one) for one in findings.slopes if one.outcome == findings.primary.outcome]


def _slope_sentence(findings: Findings, one: SlopeResult) -> str:
    treatment, baseline = _label(findings, one.treatment), _label(findings, one.baseline)
    slope = both_text(one.slope, 2, signed=True)
    of = f"{one.profiles_count} profiles, n = {format_count(one.slope.n, 'block')}"
    where = f"{one.treatment.page}, {one.outcome.phrase}, {of}"
    return f"{treatment} takes {slope} round trips of the link more than {baseline} ({where})."


def _label(findings: Findings, one: Condition) -> str:
    return name_combination(findings, one)


def _slopes(findings: Findings) -> NamedTable:
    columns = ("outcome", "page", "treatment", "against", "profiles", "blocks", "slope, round trips", "closed form")
    rows = [
        (
            one.outcome.label,
            one.treatment.page,
            _label(findings, one.treatment),
            _label(findings, one.baseline),
            str(one.profiles_count),
            str(one.slope.n),
            both_text(one.slope, 2, signed=True),
            "" if one.expected is None else number_text(one.expected, 2, signed=True),
        )
        for one in findings.slopes
    ]
    note = (
        "By how many milliseconds the paired difference grows with each millisecond of the link's round trip: the "
        "number of round trips that the treatment takes more, where profiles differ in nothing else. Where they differ "
        "in rate or loss, too, what that does is in it. Of every block the slope of Theil "
        "and Sen through its profiles, of the blocks' slopes the median, its interval between order "
        "statistics: what a transport costs at no distance at all is not in it. A full handshake against "
        "0-RTT is the round trip that 0-RTT gains."
    )
    return NamedTable(
        "slopes", "Round trips: the slope of the difference on the round-trip time",
        Table(columns, rows, frozenset((0, 1, 2, 3))), [_slope_row(one) for one in findings.slopes],
        note,
    )  # fmt: skip


def _slope_row(one: SlopeResult) -> dict[str, Value]:
    return {
        "outcome": one.outcome.name,
        **_conditions(one.treatment, one.baseline),
        "profiles_count": one.profiles_count,
        "closed_form_rtts": one.expected,
        **_columns("slope_rtts", one.slope),
    }


def _equivalences(findings: Findings) -> NamedTable:
    columns = ("page", "profile", "treatment", "against", "pairs", "margin ms", "p of both one-sided tests", "says")
    rows = [
        (
            *_place(findings, one.treatment, one.baseline),
            str(one.tested.n),
            number_text(one.tested.margin),
            p_text(one.tested.p_value),
            "alike within the margin" if one.tested.is_alike else "not shown to be alike",
        )
        for one in findings.equivalences
    ]
    alike = sum(one.tested.is_alike for one in findings.equivalences)
    note = (
        f"{alike} of {len(rows)} comparisons are alike at {level_text(find_significance(findings.plan))}: "
        f"{findings.primary.outcome.label} lies neither lower nor higher by the margin that the plan "
        "declared (Schuirmann 1987; two one-sided tests, each for itself and not corrected for their number). What is "
        "not shown to be alike need not differ."
    )
    return NamedTable(
        "equivalence", "Equivalence within the plan's margin",
        Table(columns, rows, frozenset((0, 1, 2, 3, 7))), [_equivalence_row(one) for one in findings.equivalences],
        note,
    )  # fmt: skip


def _equivalence_row(one: EquivalenceResult) -> dict[str, Value]:
    return {
        **_conditions(one.treatment, one.baseline),
        "profile": one.treatment.profile,
        "margin_ms": one.tested.margin,
        "p_value": one.tested.p_value,
        "pairs_count": one.tested.n,
        "test": str(one.tested.test),
        "is_alike": int(one.tested.is_alike),
    }


def _slow(findings: Findings) -> NamedTable:
    columns = (
        "page", "profile", "treatment", "against", "pairs", "slow %", "of the baseline %", "difference %", "p",
        "pairs with neither", "their median ms",
    )  # fmt: skip
    rows = [
        (
            *_place(findings, one.treatment, one.baseline),
            str(one.found.difference.n),
            *(_percent(share) for share in (one.found.treatment, one.found.baseline)),
            _percent(one.found.difference, signed=True),
            p_text(one.found.p_value),
            str(one.neither_ms.n),
            both_text(one.neither_ms, signed=True),
        )
        for one in findings.slow_loads
    ]
    note = (
        f"Loads that took longer than {SLOW_MS / 1e3:g} s, failed ones among them; comparisons without any "
        "are left out. Shares with Wilson's interval, the paired difference with Newcombe's (1998, method 10), p by "
        "McNemar's exact test. The last columns part what set-up costs from what waiting does: the median difference "
        "of the pairs of which neither load was slow, which is no estimate for all loads, as those were chosen by "
        "how they ended."
    )
    return NamedTable(
        "slow_loads", f"Loads slower than {SLOW_MS / 1e3:g} s",
        Table(columns, rows, frozenset((0, 1, 2, 3))), [_slow_row(one) for one in findings.slow_loads],
        note,
    )  # fmt: skip


def _slow_row(one: TailResult) -> dict[str, Value]:
    return {
        **_conditions(one.treatment, one.baseline),
        "profile": one.treatment.profile,
        "limit_ms": one.found.limit,
        "share_ratio": one.found.treatment.value,
        "baseline_share_ratio": one.found.baseline.value,
        "p_value": one.found.p_value,
        **_columns("difference_ratio", one.found.difference),
        "neither_slow_pairs_count": one.neither_ms.n,
        "neither_slow_difference_ms": one.neither_ms.value,
        "ci_low_neither_slow_difference_ms": one.neither_ms.ci_low,
        "ci_high_neither_slow_difference_ms": one.neither_ms.ci_high,
    }


def _place(findings: Findings, treatment: Condition, baseline: Condition) -> tuple[str, ...]:
    return treatment.page, treatment.profile, _label(findings, treatment), _label(findings, baseline)


def _percent(one: Estimate, *, signed: bool = False) -> str:
    value, interval = (text(one, scale=100, signed=signed) for text in (estimate_text, interval_text))
    return f"{value} {interval}".rstrip()


def _conditions(*both: Condition) -> dict[str, Value]:
    treatment, baseline = (replace(one, profile="any").id for one in both)
    return {"page": both[0].page, "treatment": treatment, "baseline": baseline}


def _columns(name: str, one: Estimate) -> dict[str, Value]:
    return {
        name: one.value,
        f"ci_low_{name}": one.ci_low,
        f"ci_high_{name}": one.ci_high,
        "ci_level": one.level,
        "ci_method": str(one.method),
        "n": one.n,
    }
