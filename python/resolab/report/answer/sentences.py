"""The three sentences of an answer: the verdicts, the correction for their number, and the failures.

For: the first screen of the page, and the terminal. Every sentence comes from a template below. Not for: single
estimates; the table has each with its interval.
"""

from collections.abc import Sequence

from resolab.basics.wording import format_count
from resolab.plan.kind import KIND_RULES
from resolab.report.answer.lines import common_baseline
from resolab.report.answer.rows import AnswerRow
from resolab.report.findings.dataset_plan import is_live
from resolab.report.findings.estimands import pairs_needed
from resolab.report.findings.estimators import choose_estimators
from resolab.report.findings.findings import Findings
from resolab.report.findings.interval_level import find_significance, level_text
from resolab.report.plots import Verdict
from resolab.stats import least_paired_p_value, pairs_for_significance

NO_TRIAL = "No trial has finished: no answer yet."
NO_COMPARISON = "The plan compares no conditions; the medians of each stand below."


def verdict_sentence(findings: Findings, rows: Sequence[AnswerRow]) -> str:
    """Count the verdicts of all comparisons."""
    if not findings.trials_count:
        return NO_TRIAL
    if not rows:
        return NO_COMPARISON
    if all(row.estimate.ci_low is None for row in rows):
        return _no_interval(findings, rows)
    counts = {one: [row for row in rows if row.verdict is one] for one in Verdict}
    parts = [f"{len(found)} {_verdict_words(verdict, found)}" for verdict, found in counts.items() if found]
    baseline = common_baseline(findings, rows)
    against = f" with {baseline}" if baseline else ""
    return f"Of {format_count(len(rows), 'comparison')}{against}, {_listed(parts)}."


def _verdict_words(verdict: Verdict, found: Sequence[AnswerRow]) -> str:
    if verdict is Verdict.EQUIVALENT:
        return "equivalent within the margin"
    small = sum(row.within_margin for row in found)
    return f"{verdict} ({small} of them by less than the margin)" if small else str(verdict)


def _listed(parts: Sequence[str]) -> str:
    """Join counts as a list; the verb follows the first count."""
    first, *others = parts
    count, words = first.split(" ", 1)
    begun = f"{count} {'is' if count == '1' else 'are'} {words}"
    return begun if not others else f"{', '.join([begun, *others[:-1]])} and {others[-1]}"


def _no_interval(findings: Findings, rows: Sequence[AnswerRow]) -> str:
    pairs = max(row.estimate.n for row in rows)
    needed = pairs_needed(choose_estimators(findings.plan), findings.plan.analysis.estimand)
    start = f"None of {format_count(len(rows), 'comparison')} is decided"
    if pairs >= needed:  # of ratios, whose medians loads must have ended for
        return f"{start}: too many {KIND_RULES[findings.plan.kind].plural} failed for an interval."
    so_far = format_count(pairs, "pair")
    return f"{start}: {so_far} of {findings.plan.design.unit}s so far, and an interval takes {needed}."


def correction_sentence(findings: Findings, rows: Sequence[AnswerRow]) -> str | None:
    """Return the number of comparisons left after Holm's correction, or the reason for a missing test."""
    if all(row.estimate.ci_low is None for row in rows):
        return None
    adjusted = [row for row in rows if row.adjusted_p_value is not None]
    if not adjusted:
        return (
            "Each interval is a confidence sequence for itself, valid at any look; none is corrected for their number."
        )
    significance, pairs = find_significance(findings.plan), max(row.estimate.n for row in adjusted)
    if len(adjusted) * least_paired_p_value(pairs) > significance:
        needed = pairs_for_significance(len(adjusted), significance)
        few = f"{format_count(pairs, 'pair')} {'is' if pairs == 1 else 'are'} too few for Holm's correction"
        over = f"over {format_count(len(adjusted), 'comparison')} (that takes {needed})"
        chance = f"by chance about {level_text(significance)} of intervals exclude 0"
        return f"{few} {over}: each verdict counts alone, and {chance}."
    kept = sum((row.adjusted_p_value or 0.0) <= significance for row in adjusted)
    of = f"{kept} of {format_count(len(adjusted), 'comparison')} {'is' if kept == 1 else 'are'}"
    return f"After Holm's correction {of} significant at {level_text(significance)} by signed ranks."


def failure_sentence(findings: Findings) -> str:
    """Count failed loads, loads lost to the instrument and flags, and say when the run is not complete."""
    failed = sum(one.failed_count for one in findings.conditions)
    flags = sum(one.count for one in findings.flags)
    planned = findings.manifest.trials_planned_count
    as_limit = f" and count as {findings.primary.outcome.failed_load_meaning}" if failed else ""
    parts = [
        *([_unfinished(findings, planned)] if findings.trials_count < planned else []),
        f"{failed} of {findings.trials_count} {_count_noun(findings)} failed{as_limit}",
        *_lost(findings),
        f"trials have {format_count(flags, 'flag')} and are kept" if flags else "no trial is flagged",
        *_of_instrument(findings),
    ]
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}."


def _count_noun(findings: Findings) -> str:
    rules = KIND_RULES[findings.plan.kind]
    return rules.noun if findings.trials_count == 1 else rules.plural


def _lost(findings: Findings) -> list[str]:
    lost = sum(one.unusable_count for one in findings.conditions)
    alone = " or left alone" if is_live(findings.plan) else ""
    return [f"{lost} more {'was' if lost == 1 else 'were'} lost to the instrument{alone} and left out"] if lost else []


def _unfinished(findings: Findings, planned: int) -> str:
    return f"the run is {findings.manifest.status}, with {findings.trials_count} of {planned} trials"


def _of_instrument(findings: Findings) -> list[str]:
    drops = sum(one.dropped_device_count for one in findings.lateness)
    repeated = findings.manifest.instrument_failures_count
    return [
        *([f"packets lost by the instrument: {drops}"] if drops else []),
        *([f"trials repeated after an instrument failure: {repeated}"] if repeated else []),
    ]


def answer_sentences(findings: Findings, rows: Sequence[AnswerRow]) -> list[str]:
    """Return the answer in at most three sentences, the verdicts first."""
    first = verdict_sentence(findings, rows)
    if not findings.trials_count:
        return [first]
    correction = correction_sentence(findings, rows) if rows else None
    return [first, *([correction] if correction else []), failure_sentence(findings)]
