"""The verdicts on a dataset as lines, Markdown, JSON and JUnit XML.

For: people and build pipelines. Not for: deciding (`checks.decision`).

JUnit XML: the plan is the test suite, and each expectation of a comparison a test case. `failure` means not met,
`skipped` means undecided.
"""

import math
from typing import Any
from xml.etree import ElementTree as ET

from resolab.basics.wording import escape_xml_controls, format_count
from resolab.campaign.checks.assumptions import FEW_BLOCKS_COUNT, Doubt, DoubtKind
from resolab.campaign.checks.decision import SHARE_LEVEL, Interval, Verdict
from resolab.plan.expectation import TIME_KINDS
from resolab.report.verdicts.check_result import CheckResult
from resolab.report.verdicts.dataset_check import DatasetCheck, outcome_label
from resolab.stats import LEVEL

MARKDOWN_LINES_MAX_COUNT = 60
ERROR_RATES = "chance of a wrong verdict at most 2.5 % each (false met, false not met)"


def lines(check: DatasetCheck) -> list[str]:
    """Return the verdicts for a terminal, the circumstances first."""
    return [
        *_warnings(check),
        *(f"{one.verdict:9}  {_name(one)}: {one.sentence}" for one in check.results),
        _circumstances(check),
        _sum(check),
    ]


def markdown(check: DatasetCheck) -> str:
    """Return the verdicts as a table of at most 60 lines; the verdicts against an expectation come first."""
    order = {Verdict.NOT_MET: 0, Verdict.UNDECIDED: 1, Verdict.MET: 2}
    ordered = sorted(check.results, key=lambda one: order[one.verdict])
    warnings = [f"> {one}" for one in _warnings(check)]
    head = [f"**{check.plan.name}**: {_sum(check)}", ""]
    head += [*warnings, ""] if warnings else []
    head += ["| verdict | expectation | found |", "|---|---|---|"]
    room = MARKDOWN_LINES_MAX_COUNT - len(head) - 3
    rows = [f"| {one.verdict} | {_escape(_name(one))} | {_escape(one.sentence)} |" for one in ordered[:room]]
    left = len(ordered) - len(rows)
    rows += [f"| | and {left} more | |"] if left else []
    return "\n".join([*head, *rows, "", _circumstances(check)]) + "\n"


def as_json(check: DatasetCheck) -> dict[str, Any]:
    """Return the verdicts as one object."""
    return {
        "plan": check.plan.name,
        "dataset": str(check.folder),
        "met": check.count(Verdict.MET),
        "not_met": check.count(Verdict.NOT_MET),
        "undecided": check.count(Verdict.UNDECIDED),
        "valid_at_any_look": check.is_sequential,
        "wrong_verdict_chance_each": 0.025,
        "warnings": _warnings(check),
        "load_average_median": check.load_average,
        "processors_count": check.manifest.machine.cores_count,
        "equal_copies": {"checks_count": check.copies.total(), "not_met": check.copies[Verdict.NOT_MET]},
        "trials_count": check.trials_count,
        "flagged_trials_count": check.flagged_count,
        "versions": check.manifest.versions.browsers | {"resolab-core": check.manifest.versions.resolab_core},
        "checks": [_object(one) for one in check.results],
    }


def junit(check: DatasetCheck, *, undecided_fails: bool) -> bytes:
    """Return the verdicts as JUnit XML."""
    suite = _suite(check.plan.name, len(check.results))
    failures = check.count(Verdict.NOT_MET) + (check.count(Verdict.UNDECIDED) if undecided_fails else 0)
    suite.set("failures", str(failures))
    suite.set("skipped", str(0 if undecided_fails else check.count(Verdict.UNDECIDED)))
    suite.set("time", f"{sum(one.seconds for one in check.results):.1f}")
    for one in check.results:
        case = ET.SubElement(
            suite, "testcase", classname=one.comparison.treatment.id, name=_name(one), time=f"{one.seconds:.1f}"
        )
        fails = one.verdict is Verdict.NOT_MET or (undecided_fails and one.verdict is Verdict.UNDECIDED)
        if one.verdict is not Verdict.MET:
            tag = "failure" if fails else "skipped"
            ET.SubElement(case, tag, message=_clean(f"{one.verdict}: {one.sentence}"))
        ET.SubElement(case, "system-out").text = _clean(f"{one.sentence}\n{_circumstances(check)}")
    return _encode(suite)


def junit_without_verdict(plan: str, problem: str) -> bytes:
    """Return JUnit XML of a run without a verdict. A pipeline that reads only the file sees the error."""
    suite = _suite(plan, 1)
    suite.set("errors", "1")
    case = ET.SubElement(suite, "testcase", classname=plan, name="the run")
    ET.SubElement(case, "error", message=_clean(f"no verdict: {problem}"))
    return _encode(suite)


def _suite(plan: str, tests_count: int) -> ET.Element:
    return ET.Element("testsuite", name=_clean(plan), tests=str(tests_count), errors="0")


def _encode(suite: ET.Element) -> bytes:
    ET.indent(suite)
    return bytes(ET.tostring(suite, encoding="utf-8", xml_declaration=True)) + b"\n"


def _clean(text: str) -> str:
    return escape_xml_controls(text)


def _escape(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _name(one: CheckResult) -> str:
    expected = f"{one.expectation.kind.value.replace('_', ' ')} {one.expectation.bound}"
    return f"{one.expectation.name} ({outcome_label(one)} {expected}): {one.comparison.treatment.id}"


def _sum(check: DatasetCheck) -> str:
    counts = [f"{check.count(one)} {one}" for one in Verdict if check.count(one)]
    return f"{format_count(len(check.results), 'check')}: {', '.join(counts)}"


def _warnings(check: DatasetCheck) -> list[str]:
    """Say first when the machine was busy, then name the assumptions that the run does not bear out."""
    return [*check.notes, *_warn_of_busy_machine(check), *_warn_of_doubts(check), *_note_few_blocks(check)]


def _warn_of_busy_machine(check: DatasetCheck) -> list[str]:
    """Say why few checks can be decided: a wide spread or late trials."""
    busy, found = check.busy_results, []
    # Late trials are the machine's; a wide spread may come from a lossy link or a heavy page.
    cause = "busy machine" if check.is_late else "wide spread (a busy machine, a lossy link or a heavy page)"
    if busy:
        worst = max(busy, key=lambda one: one.spread_ms or 0.0)
        wide = f"{len(busy)} of {len(check.results)} checks have a wide spread, up to {worst.spread_ms:.0f} ms"
        quiet = f"a quiet machine has at most {worst.reference_spread_ms:g} ms for {outcome_label(worst)}"
        found += [wide, f"{quiet} on light pages without loss"]
    if check.is_late:
        found.append(f"{check.late_count} of {check.trials_count} trials were late")
    return [f"warning: {cause}: {'; '.join([*found, _load_average(check)])}"] if found else []


def _warn_of_doubts(check: DatasetCheck) -> list[str]:
    """Write a line for each kind of doubt, with its first check."""
    doubted: dict[DoubtKind, list[tuple[CheckResult, Doubt]]] = {}
    for one in check.results:
        for doubt in one.doubts:
            if doubt.kind is not DoubtKind.FEW_BLOCKS:
                doubted.setdefault(doubt.kind, []).append((one, doubt))
    return [
        f"warning: {len(found)} of {len(check.results)} checks: {found[0][1].clause} ({_name(found[0][0])})"
        for found in doubted.values()
    ]


def _note_few_blocks(check: DatasetCheck) -> list[str]:
    few = [
        one
        for one in check.results
        if one.verdict is not Verdict.UNDECIDED and any(doubt.kind is DoubtKind.FEW_BLOCKS for doubt in one.doubts)
    ]
    if not few:
        return []
    remedy = "more blocks tell them apart"
    if check.is_sequential:
        remedy = f"with [stop] min_blocks = {FEW_BLOCKS_COUNT} a warning names most of such verdicts"
    rest = f"{format_count(len(few), 'verdict rests', 'verdicts rest')} on fewer than {FEW_BLOCKS_COUNT} blocks"
    return [f"note: {rest}, where a slow start of one arm looks like a slower arm; {remedy}"]


def _circumstances(check: DatasetCheck) -> str:
    looks = "valid at any look" if check.is_sequential else "a number of blocks fixed in advance"
    copies = check.copies.total()
    alike = f"{check.copies[Verdict.NOT_MET]} of {format_count(copies, 'check')} not met on equal copies; "
    return (
        f"{format_count(check.trials_count, 'trial')}, {check.flagged_count} flagged; {_load_average(check)}; "
        f"{looks}; {ERROR_RATES}; {alike if copies else ''}resolab-core {check.manifest.versions.resolab_core}"
    )


def _load_average(check: DatasetCheck) -> str:
    load = "unknown" if check.load_average is None else f"{check.load_average:.1f}"
    return f"load average {load} (median) on {format_count(check.manifest.machine.cores_count, 'processor')}"


def _object(one: CheckResult) -> dict[str, Any]:
    return {
        "name": one.expectation.name,
        "kind": one.expectation.kind.value,
        "outcome": str(one.expectation.outcome),
        "bound": one.expectation.bound,
        "treatment": one.comparison.treatment.id,
        "baseline": one.comparison.baseline.id,
        "verdict": one.verdict.value.replace(" ", "_"),
        "sentence": one.sentence,
        "blocks_count": one.blocks_count,
        "difference_ms": one.estimate_ms,
        **_ends("ms", one.interval_ms),
        "share": one.share,
        **_ends("share", one.share_interval),
        "failures_count": one.failures_count,
        "spread_ms": one.spread_ms,
        "reference_spread_ms": one.reference_spread_ms,
        "level": LEVEL if one.expectation.kind in TIME_KINDS else SHARE_LEVEL,
        "looks_count": one.looks_count,
        "slower_tail_pairs_count": one.tail_counts[0],
        "faster_tail_pairs_count": one.tail_counts[1],
        "blocks_to_verdict_count": None if one.blocks_needed is None else one.blocks_needed.blocks,
        "doubts": [{"kind": doubt.kind.value, "clause": doubt.clause} for doubt in one.doubts],
        "seconds": one.seconds,
    }


def _ends(unit: str, interval: Interval | None) -> dict[str, float | None]:
    """Return the ends of an interval; JSON has no infinity."""
    ends = (None, None) if interval is None else (interval.low, interval.high)
    low, high = (end if end is not None and math.isfinite(end) else None for end in ends)
    return {f"ci_low_{unit}": low, f"ci_high_{unit}": high}
