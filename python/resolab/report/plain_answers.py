"""The answer in one plain sentence for each question of a plan.

For: which of the differences are told from 0 and which are not, each with interval and pairs, by the one estimand and
outcome that the plan holds primary. Not for: details (`sentences`), estimates (`findings`), or what
went wrong (`trouble`).
"""

from collections.abc import Iterable, Sequence

from resolab.plots import estimate_text, interval_text
from resolab.report.comparison_tables import SIGNIFICANCE
from resolab.report.findings.findings import Findings, OutcomeFindings, PairResult
from resolab.report.labels import combination_of
from resolab.stats import Estimate, least_paired_p_value, pairs_for_significance
from resolab.store.outcomes import OUTCOMES

NAMED_COUNT = 3
"""Places of one kind named in a sentence; of more it says how many."""
PAIRED_DIFFERENCE, RELATIVE_CHANGE, SHIFT = "paired_difference", "relative_change", "shift"
_ESTIMANDS = {
    PAIRED_DIFFERENCE: "median of the paired differences",
    RELATIVE_CHANGE: "change of the median",
    SHIFT: "Hodges-Lehmann shift of the pairs",
}


def primary_outcome(findings: Findings) -> OutcomeFindings:
    """Return the outcome by which the plan's question is decided."""
    name = getattr(getattr(findings.plan, "analysis", None), "primary", "plt")
    return findings.of(OUTCOMES[str(name)]) or findings.plt


def primary_estimand(findings: Findings) -> str:
    """Name the estimand by which the plan's question is decided."""
    return str(getattr(getattr(findings.plan, "analysis", None), "estimand", PAIRED_DIFFERENCE))


def plain_answers(findings: Findings) -> list[str]:
    """Answer each comparison that the plan names or, without any, each combination against its baseline."""
    found = primary_outcome(findings)
    groups: dict[str, list[PairResult]] = {}
    for one in found.comparisons:
        name = (
            one.comparison.name
            if findings.plan.comparison_rules
            else combination_of(findings, one.comparison.treatment)
        )
        groups.setdefault(name, []).append(one)
    return [_answer(findings, found, name, group) for name, group in groups.items()]


def _answer(findings: Findings, found: OutcomeFindings, name: str, group: Sequence[PairResult]) -> str:
    baselines = dict.fromkeys(combination_of(findings, one.comparison.baseline) for one in group)
    against = next(iter(baselines)) if len(baselines) == 1 else "its baseline"
    estimand = primary_estimand(findings)
    longer, shorter, undecided = _sorted(group, estimand)
    parts = [
        *([f"longer {_places(longer, estimand, len(group))}"] if longer else []),
        *([f"shorter {_places(shorter, estimand, len(group))}"] if shorter else []),
        *([f"undecided {_places(undecided, estimand, len(group))}"] if undecided else []),
    ]
    adjusted = [one.adjusted_p_value for one in group if one.adjusted_p_value is not None]
    kept = sum(p <= SIGNIFICANCE for p in adjusted)
    counted = sum(one.adjusted_p_value is not None for one in found.comparisons)
    holm = ""
    if adjusted and too_few_sentence(found) is None:
        holm = f" After Holm's correction over {counted} comparisons {kept} of {len(adjusted)} stand."
    return f"{name} against {against}, {found.outcome.phrase} ({_ESTIMANDS[estimand]}): {'; '.join(parts)}.{holm}"


def _sorted(group: Iterable[PairResult], estimand: str) -> tuple[list[PairResult], list[PairResult], list[PairResult]]:
    """Part those whose interval lies above 0 and below it, farthest first, from the others."""
    longer, shorter, undecided = [], [], []
    for one in group:
        found = estimate_of(one, estimand)
        if found.ci_low is not None and found.ci_low > 0:
            longer.append(one)
        elif found.ci_high is not None and found.ci_high < 0:
            shorter.append(one)
        else:
            undecided.append(one)
    longer.sort(key=lambda one: -(estimate_of(one, estimand).ci_low or 0))
    shorter.sort(key=lambda one: estimate_of(one, estimand).ci_high or 0)
    undecided.sort(key=lambda one: estimate_of(one, estimand).value or 0)
    return longer, shorter, undecided


def estimate_of(one: PairResult, estimand: str) -> Estimate:
    """Take the estimand out of a comparison's estimates."""
    return {PAIRED_DIFFERENCE: one.difference_ms, RELATIVE_CHANGE: one.change, SHIFT: one.shift_ms}[estimand]


def _places(group: Sequence[PairResult], estimand: str, of: int) -> str:
    """Count the places and name some; of more than can be named, the first and the last."""
    shown = list(group) if len(group) <= NAMED_COUNT else [group[0], group[-1]]
    named = (" ... " if len(group) > NAMED_COUNT else ", ").join(_place(one, estimand) for one in shown)
    return f"in {len(group)} of {of}: {named}"


def _place(one: PairResult, estimand: str) -> str:
    found, treatment = estimate_of(one, estimand), one.comparison.treatment
    scale, unit = (100, "%") if estimand == RELATIVE_CHANGE else (1, "ms")
    value = estimate_text(found, scale=scale, signed=True)
    interval = interval_text(found, scale=scale, signed=True) or "no interval"
    return f"{treatment.page} on {treatment.profile} {value} {unit} {interval} (n = {found.n})"


def too_few_sentence(found: OutcomeFindings) -> str | None:
    """Say so where no difference, however clear, could be significant after the correction."""
    tested = [one for one in found.comparisons if one.p_value is not None]
    if not tested:
        return None
    pairs = max(one.difference_ms.n for one in tested)
    least = least_paired_p_value(pairs)
    if len(tested) * least <= SIGNIFICANCE:
        return None
    return (
        f"With {pairs} pairs the test's least p is {least:.2g}; corrected for {len(tested)} comparisons nothing could "
        f"be significant at {SIGNIFICANCE:.0%}, however large: that takes {pairs_for_significance(len(tested))} pairs. "
        "The intervals stand each for itself."
    )
