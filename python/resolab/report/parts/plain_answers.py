"""The answer to each question of a plan in one plain sentence.

For: separating the differences distinguishable from 0 from the others, each with interval and pairs, by the plan's
primary estimand and outcome. Not for: details (`sentences`), estimates (`findings`), or failures (`failure_sentences`).
"""

from collections.abc import Iterable, Sequence

from resolab.basics.wording import format_count
from resolab.plan import Estimand
from resolab.report.findings.estimands import WORDS, choose_deciding, pairs_needed
from resolab.report.findings.estimators import choose_estimators
from resolab.report.findings.findings import Findings, OutcomeFindings, PairResult
from resolab.report.findings.interval_level import find_significance, level_text
from resolab.report.findings.page_loads import count_unpaired, group_by_condition
from resolab.report.parts.labels import name_combination
from resolab.report.plots import estimate_text, interval_text
from resolab.stats import Estimate, least_paired_p_value, pairs_for_significance

NAMED_COUNT = 3
"""The largest number of places named in a sentence; a larger number of places is only counted."""


def plain_answers(findings: Findings) -> list[str]:
    """Answer each comparison named by the plan or, without any, each combination against its baseline."""
    found = findings.primary
    groups: dict[str, list[PairResult]] = {}
    for one in found.comparisons:
        name = (
            one.comparison.name
            if findings.plan.comparison_rules
            else name_combination(findings, one.comparison.treatment)
        )
        groups.setdefault(name, []).append(one)
    answers = [_answer(findings, found, name, group) for name, group in groups.items()]
    return [*answers, _over_pages(findings)] if findings.plan.samples_pages else answers


def _over_pages(findings: Findings) -> str:
    """Explain pairs and intervals for sampled pages."""
    rounds: dict[tuple[str, str], int] = {}
    for load in findings.loads:
        rounds[load.page, load.condition] = rounds.get((load.page, load.condition), 0) + 1
    pages = {page for page, _ in rounds}
    several = max(rounds.values(), default=1) > 1
    again = "; of a page that was loaded in several rounds the mean difference counts" if several else ""
    return (
        f"Pages are what was sampled: {len(pages)} of them, each a block and one pair of every comparison{again}. "
        f"{_unpaired(findings)}"
        "Intervals are over pages and meant for pages like these; failed loads are at least their limit."
    )


def _unpaired(findings: Findings) -> str:
    """Count the loads left out of comparisons because the other side of their round has no usable load."""
    grouped, found = group_by_condition(findings.loads), findings.primary
    arms = [(one.comparison.treatment.id, one.comparison.baseline.id) for one in found.comparisons]
    count = sum(count_unpaired(found.outcome, *(grouped.get(name, []) for name in pair)) for pair in arms)
    if not count:
        return ""
    return (
        f"Comparisons leave out {format_count(count, 'load')}, each counted once a comparison: in the same round the "
        "other side has none, or one that was lost to the instrument or left alone. "
    )


def _answer(findings: Findings, found: OutcomeFindings, name: str, group: Sequence[PairResult]) -> str:
    baselines = dict.fromkeys(name_combination(findings, one.comparison.baseline) for one in group)
    against = next(iter(baselines)) if len(baselines) == 1 else "its baseline"
    estimand = findings.plan.analysis.estimand
    longer, shorter, undecided = _sorted(group, estimand)
    asked = f"{name} against {against}, {found.outcome.phrase} ({WORDS[estimand]})"
    if all(_deciding(one, estimand).ci_low is None for one in group):
        return f"{asked}: {_too_few(findings, estimand, group)}"
    parts = [
        *([f"longer {_places(longer, estimand, len(group))}"] if longer else []),
        *([f"shorter {_places(shorter, estimand, len(group))}"] if shorter else []),
        *([f"undecided {_places(undecided, estimand, len(group))}"] if undecided else []),
    ]
    return f"{asked}: {'; '.join(parts)}.{_after_holm(findings, found, [*longer, *shorter])}"


def _after_holm(findings: Findings, found: OutcomeFindings, decided: Sequence[PairResult]) -> str:
    """Count the decided comparisons still significant by signed ranks, corrected for the number of all comparisons."""
    adjusted = [one.adjusted_p_value for one in decided if one.adjusted_p_value is not None]
    significance = find_significance(findings.plan)
    if not adjusted or too_few_sentence(found, significance) is not None:
        return ""
    tested = sum(one.adjusted_p_value is not None for one in found.comparisons)
    kept = sum(p <= significance for p in adjusted)
    return (
        f" By signed ranks, after Holm's correction over {tested} comparisons, {kept} of these {len(adjusted)} stand."
    )


def _too_few(findings: Findings, estimand: Estimand, group: Sequence[PairResult]) -> str:
    pairs = max(_deciding(one, estimand).n for one in group)
    needed = pairs_needed(choose_estimators(findings.plan), estimand)
    if pairs >= needed:  # of ratios, whose medians loads must have ended for
        return "undecided: too many of its loads failed for an interval."
    return (
        f"too few {findings.plan.design.unit}s to tell: {format_count(pairs, 'pair')} where an interval takes {needed}."
    )


def _sorted(
    group: Iterable[PairResult], estimand: Estimand
) -> tuple[list[PairResult], list[PairResult], list[PairResult]]:
    """Split comparisons by intervals above 0, below 0 (both farthest first), and others."""
    longer: list[PairResult] = []
    shorter: list[PairResult] = []
    undecided: list[PairResult] = []
    for one in group:
        verdict = _deciding(one, estimand).verdict
        (longer if verdict > 0 else shorter if verdict < 0 else undecided).append(one)
    longer.sort(key=lambda one: -(_deciding(one, estimand).ci_low or 0))
    shorter.sort(key=lambda one: _deciding(one, estimand).ci_high or 0)
    undecided.sort(key=lambda one: _deciding(one, estimand).value or 0)
    return longer, shorter, undecided


def _deciding(one: PairResult, estimand: Estimand) -> Estimate:
    found = choose_deciding(one, estimand)
    assert found is not None  # a pair's result has them all
    return found


def _places(group: Sequence[PairResult], estimand: Estimand, of: int) -> str:
    """Count the places and name some; with too many to name, give the first and the last."""
    shown = list(group) if len(group) <= NAMED_COUNT else [group[0], group[-1]]
    named = (" ... " if len(group) > NAMED_COUNT else ", ").join(_place(one, estimand) for one in shown)
    return f"in {len(group)} of {of}: {named}"


def _place(one: PairResult, estimand: Estimand) -> str:
    found, treatment = _deciding(one, estimand), one.comparison.treatment
    scale, unit = (100, "%") if estimand is Estimand.RELATIVE_CHANGE else (1, "ms")
    value = estimate_text(found, scale=scale, signed=True)
    interval = interval_text(found, scale=scale, signed=True) or "no interval"
    return f"{treatment.page} on {treatment.profile} {value} {unit} {interval} (n = {found.n})"


def too_few_sentence(found: OutcomeFindings, significance: float) -> str | None:
    """Return a sentence when no difference, however clear, could be significant after the correction."""
    tested = [one for one in found.comparisons if one.p_value is not None]
    if not tested:
        return None
    pairs = max(one.difference_ms.n for one in tested)
    least = least_paired_p_value(pairs)
    if len(tested) * least <= significance:
        return None
    has_intervals = any(one.difference_ms.ci_low is not None for one in tested)
    return (
        f"With {format_count(pairs, 'pair')} the test's least p is {least:.2g}; corrected for {len(tested)} "
        f"comparisons nothing could be significant at {level_text(significance)}, however large: "
        f"that takes {pairs_for_significance(len(tested), significance)} pairs."
        f"{' The intervals stand each for itself.' if has_intervals else ''}"
    )
