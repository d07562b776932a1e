"""The comparisons of the primary outcome with their verdicts.

For: one verdict for figure, table, sentences and terminal. Not for: estimates and tests, which `findings` holds.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from resolab.plan import Condition, DecisionCriterion, Estimand, PlannedComparison
from resolab.report.findings.estimands import choose_deciding
from resolab.report.findings.findings import ConditionResult, Findings, PairResult
from resolab.report.plots import Verdict
from resolab.stats import Estimate


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """A comparison, its deciding estimate, and the verdict."""

    comparison: PlannedComparison
    estimate: Estimate
    verdict: Verdict
    within_margin: bool
    """True when the equivalence test holds, also for an interval without 0."""
    margin_ms: float | None
    """`None` without a declared margin, or for a margin in round trips on a link without round-trip time."""
    equivalence_p_value: float | None
    p_value: float | None
    adjusted_p_value: float | None
    failed_count: int
    """Failed loads of both conditions."""
    loads_count: int
    """Loads of both conditions, without those lost to the instrument."""

    @property
    def words(self) -> str:
        """Return the verdict; a decided difference may be smaller than the margin."""
        is_small = self.within_margin and self.verdict is not Verdict.EQUIVALENT
        return f"{self.verdict} (within margin)" if is_small else str(self.verdict)


@dataclass(frozen=True, slots=True)
class _Equivalence:
    margin_ms: float | None
    p_value: float | None
    is_alike: bool


_Pair = tuple[str, str]


def answer_rows(findings: Findings) -> list[AnswerRow]:
    """Judge every comparison of the primary outcome, in the plan's order."""
    tested = _equivalences(findings)
    loads = {one.condition.id: one for one in findings.primary.conditions}
    return [_row(findings, one, tested, loads) for one in findings.primary.comparisons]


def _row(
    findings: Findings, one: PairResult, tested: Mapping[_Pair, _Equivalence], loads: Mapping[str, ConditionResult]
) -> AnswerRow:
    estimate = choose_deciding(one, findings.plan.analysis.estimand)
    assert estimate is not None  # a pair's result has them all
    pair = one.comparison.treatment.id, one.comparison.baseline.id
    equivalence = tested.get(pair) or _Equivalence(_margin_ms(findings, one.comparison.treatment), None, is_alike=False)
    sides = [loads[name] for name in pair if name in loads]
    return AnswerRow(
        comparison=one.comparison,
        estimate=estimate,
        verdict=_verdict(estimate, is_alike=equivalence.is_alike),
        within_margin=equivalence.is_alike,
        margin_ms=equivalence.margin_ms,
        equivalence_p_value=equivalence.p_value,
        p_value=one.p_value,
        adjusted_p_value=one.adjusted_p_value,
        failed_count=sum(side.failed_count for side in sides),
        loads_count=sum(side.trials_count - side.unusable_count for side in sides),
    )


def _verdict(estimate: Estimate, *, is_alike: bool) -> Verdict:
    if estimate.verdict:
        return Verdict.SLOWER if estimate.verdict > 0 else Verdict.FASTER
    return Verdict.EQUIVALENT if is_alike else Verdict.NOT_DECIDED


def _equivalences(findings: Findings) -> dict[_Pair, _Equivalence]:
    """Return the tests within the margin, or the decisions of a run that stopped by confidence sequences."""
    tested = {
        (one.treatment.id, one.baseline.id): _Equivalence(one.tested.margin, one.tested.p_value, one.tested.is_alike)
        for one in findings.equivalences
    }
    conditions = {one.id: one for one in findings.plan.conditions()}
    decided = {
        (one.treatment, one.baseline): _Equivalence(
            _margin_ms(findings, conditions[one.treatment]), None, DecisionCriterion.EQUIVALENCE in one.reasons
        )
        for one in findings.manifest.decisions
        if one.treatment in conditions
    }
    return decided | tested


def _margin_ms(findings: Findings, treatment: Condition) -> float | None:
    margin = findings.plan.analysis.equivalence_margin
    if margin is None:
        return None
    return margin.compute_ms(findings.rtt_ms.get(treatment.profile, 0.0)) or None


def margin_text(findings: Findings) -> str | None:
    """Return the plan's margin as declared; `None` without a margin."""
    margin = findings.plan.analysis.equivalence_margin
    if margin is None:
        return None
    return (
        f"{margin.ms:g} ms" if margin.ms is not None else f"{margin.rtts:g} round trip{'' if margin.rtts == 1 else 's'}"
    )


_TITLES = {
    Estimand.PAIRED_DIFFERENCE: "difference",
    Estimand.RELATIVE_CHANGE: "change of the median",
    Estimand.SHIFT: "shift",
}


def title_of(estimand: Estimand) -> str:
    """Return the head of a column of estimates, with the unit: a difference in ms is no change of the median in %."""
    return f"{_TITLES[estimand]}, {scale_of(estimand)[1]}"


def scale_of(estimand: Estimand) -> tuple[float, str]:
    """Return the factor from an estimate to its printed unit, and the unit."""
    return (100.0, "%") if estimand is Estimand.RELATIVE_CHANGE else (1.0, "ms")
