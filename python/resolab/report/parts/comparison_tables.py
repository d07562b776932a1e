"""The plan's comparisons and its A/A copies, in tables and sentences.

For: rounding and words. Not for: estimates (`findings.comparisons`).
"""

import math
from collections.abc import Sequence

from resolab.plan import Plan
from resolab.report.findings.findings import Findings, Noise, OutcomeFindings, PairResult
from resolab.report.findings.interval_level import find_significance, level_text
from resolab.report.parts.labels import name_combination
from resolab.report.parts.tables import Table, both_text, percent_text
from resolab.report.plots import estimate_text, interval_text, number_text
from resolab.store.outcomes import LoadOutcome


def _columns(outcome: LoadOutcome) -> tuple[str, ...]:
    return (
        "page", "profile", "treatment", "against", "pairs", f"paired difference of {outcome.label}, {outcome.unit}",
        f"Hodges-Lehmann shift {outcome.unit}", f"change of median {outcome.label}, %", "Cliff's delta", "p",
    )  # fmt: skip


def comparisons_title(plan: Plan) -> str:
    """Return the title of a table of comparisons: named by the plan, or each with its baseline."""
    return "The comparisons the plan names" if plan.comparison_rules else "Each condition against its baseline, tested"


def comparison_table(findings: Findings, found: OutcomeFindings) -> Table:
    """List the comparisons named by the plan or, without any, all with the baseline; empty without pairs."""
    paired = [one for one in found.comparisons if one.difference_ms.n]
    if not paired:
        return Table((), ())
    named = bool(findings.plan.comparison_rules)
    columns = (*(("comparison",) * named), *_columns(found.outcome), "p after Holm")
    rows = [
        (*((one.comparison.name,) * named), *_cells(findings, one), p_text(one.adjusted_p_value))
        for one in (found.comparisons if named else paired)
    ]
    return Table(columns, rows, frozenset(range(4 + named)))


def aa_table(findings: Findings, found: OutcomeFindings) -> Table:
    """List the copies of a condition, in pairs."""
    rows = [_cells(findings, one) for one in found.aa]
    return Table(_columns(found.outcome) if rows else (), rows, frozenset((0, 1, 2, 3)))


def _cells(findings: Findings, one: PairResult) -> tuple[str, ...]:
    treatment, baseline = one.comparison.treatment, one.comparison.baseline
    return (
        treatment.page,
        treatment.profile,
        name_combination(findings, treatment),
        name_combination(findings, baseline),
        str(one.difference_ms.n),
        both_text(one.difference_ms, signed=True),
        both_text(one.shift_ms, signed=True),
        percent_text(one.change),
        both_text(one.delta, 2, signed=True),
        p_text(one.p_value),
    )


def p_text(p: float | None) -> str:
    """Format a p-value, with a lower limit of 0.0001."""
    return "" if p is None else "< 0.0001" if p < 1e-4 else number_text(p, 4)


def answer_comparisons(findings: Findings) -> list[str]:
    """Answer each comparison of the plan in a sentence, corrected for the number of all their cells."""
    groups: dict[str, list[PairResult]] = {}
    for one in findings.plt.comparisons if findings.plan.comparison_rules else ():
        groups.setdefault(one.comparison.name, []).append(one)
    return [_answer(findings, name, group) for name, group in groups.items()]


def _answer(findings: Findings, name: str, group: Sequence[PairResult]) -> str:
    baselines = dict.fromkeys(name_combination(findings, one.comparison.baseline) for one in group)
    start = f"{name} against {next(iter(baselines)) if len(baselines) == 1 else 'its baseline'}: "
    known = sorted((one for one in group if one.change.value is not None), key=lambda one: one.change.value or 0.0)
    if not known:
        return start + "no answer yet; too few loads ended."
    places = [_place(known[0]), *([_place(known[-1])] if len(known) > 1 else [])]
    return (
        f"{start}the median {findings.plt.outcome.phrase} changes by {' to '.join(places)}; {_clear(findings, group)}."
    )


def _clear(findings: Findings, group: Sequence[PairResult]) -> str:
    """Count the differences significantly different from 0, by tests or, in plans without tests, by sequences."""
    if findings.plan.stop is not None and findings.plan.stop.drops_conditions:
        clear = sum(one.difference_ms.ci_contains_zero is False for one in group)
        return (
            f"{clear} of {len(group)} paired differences have a confidence sequence without 0, each at 95 % for itself"
        )
    significance = find_significance(findings.plan)
    clear = sum(one.adjusted_p_value <= significance for one in group if one.adjusted_p_value is not None)
    return (
        f"{clear} of {len(group)} differ from 0 at {level_text(significance)} after Holm's correction over the plan's "
        f"{len(findings.plt.comparisons)} comparisons"
    )


def _place(one: PairResult) -> str:
    change = f"{estimate_text(one.change, scale=100, signed=True)} %"
    interval = interval_text(one.change, scale=100, signed=True) or "no interval"
    difference = estimate_text(one.difference_ms, signed=True)
    treatment = one.comparison.treatment
    return f"{change} {interval} ({treatment.page} on {treatment.profile}, {difference} ms)"


def aa_sentences(findings: Findings) -> list[str]:
    """Return the copies' information about the instrument: false alarms, and the noise floor."""
    noise = findings.plt.noise
    if noise is None:
        return []
    return [_false_alarms(noise), *_count_excluding_zero(noise), *_floor(noise)]


def _floor(noise: Noise) -> list[str]:
    """Return the differences between copies; a single floor is no limit for effects on networks of different noise."""
    floor, ratio = noise.difference_ms.p95_absolute_difference, noise.change.p95_absolute_difference
    if floor is None or ratio is None:
        return []
    if not math.isfinite(floor) or not math.isfinite(ratio):
        return ["Noise floor: none, for of too many copies so many loads failed that their difference is not known."]
    sentence = (
        f"Noise floor: 95 % of the A/A differences are at most {number_text(floor)} ms and "
        f"{number_text(100 * ratio)} % of the median, all conditions together. Whether an effect is told from noise "
        "its own interval says: on a quiet network smaller ones are."
    )
    return [sentence]


def _false_alarms(noise: Noise) -> str:
    share, count = noise.difference_ms, noise.comparisons_count
    if share.share is None:
        return f"{count} A/A comparisons: none has pairs yet."
    several = count > noise.conditions_count
    what = (
        f"{noise.conditions_count} conditions, each two of their copies" if several else "a condition with its own copy"
    )
    source = "Korn and Graubard 1998" if several else "Clopper and Pearson 1934"
    return (
        f"{count} A/A comparisons of {what}: {share.significant_count} of {share.n} "
        f"significant at {share.significance * 100:g} %, a share of {share.share * 100:.1f} % "
        f"[{share.ci_low * 100:.1f}, {share.ci_high * 100:.1f}] ({source})."
    )


def _count_excluding_zero(noise: Noise) -> list[str]:
    """Return the number of intervals excluding 0, and so missing the truth; empty without intervals."""
    told = [
        f"of the {name} {found.count} of {found.n}, {found.share * 100:.1f} % "
        f"[{found.ci_low * 100:.1f}, {found.ci_high * 100:.1f}]"
        for name, found in noise.by_interval.items()
        if found.share is not None
    ]
    return [f"Intervals that exclude 0, where nothing differs: {'; '.join(told)}."] if told else []
