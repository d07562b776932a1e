"""Figs. 8 to 12 of Sengupta et al.: page load times against DoUDP + H3 with a full handshake.

For: a dataset's content for each of these figures, once for `plt` and once for `plt_sum`, never for both together. Not
for: the tables beside them (`changes`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from resolab.report.findings.findings import Findings, OutcomeFindings
from resolab.report.findings.interval_level import find_level, level_text
from resolab.report.findings.page_loads import group_by_condition, select_contributing
from resolab.report.parts.captions import how_sure, intervals_text
from resolab.report.parts.failure_sentences import describe_left_out, flags_and_drops
from resolab.report.plots import (
    CdfAxis,
    Curve,
    Drawing,
    HeatCell,
    draw_cdfs,
    draw_heat_map,
    estimate_text,
    interval_text,
    number_text,
    transport_look,
)
from resolab.stats import Estimate
from resolab.store.outcomes import PLT, PLT_SUM, LoadOutcome, contributions
from resolab.store.rows import LoadRow
from resolab.studies.paper_profiles import find_paper_profile
from resolab.studies.s24.distributions import Distribution, make_distribution, median_text
from resolab.studies.s24.paper_numbers import CITATION, plt_change_percent, plt_median_ms
from resolab.studies.s24.paper_quantiles import medians_quantiles, quantiles_ms, relative_quantiles
from resolab.studies.s24.scope import (
    BASELINE,
    IN_PAPER,
    LEFT_OUT,
    Combination,
    PaperScope,
    combination_in_paper,
    combination_name,
)


@dataclass(frozen=True, slots=True)
class LoadTimes:
    """An outcome of the page loads with the content of all figures."""

    outcome: LoadOutcome
    values: Mapping[str, Distribution]
    """The loads of each condition in milliseconds, with failed loads as missing values."""
    medians: Mapping[str, Estimate]
    changes: Mapping[str, Estimate]
    """The change of each condition's median against DoUDP + H3 full."""


def list_load_times(findings: Findings) -> list[LoadTimes]:
    """Return `plt`, and `plt_sum` if present in the dataset."""
    found = (findings.find_outcome(one) for one in (PLT, PLT_SUM))
    return [_load_times(one, findings.loads) for one in found if one is not None]


def _load_times(found: OutcomeFindings, loads: Sequence[LoadRow]) -> LoadTimes:
    grouped = group_by_condition(select_contributing(found.outcome, loads))
    return LoadTimes(
        outcome=found.outcome,
        values={condition: make_distribution(_values(found.outcome, own)) for condition, own in grouped.items()},
        medians={one.condition.id: one.median_ms for one in found.conditions},
        changes={
            one.condition.id: comparison.change
            for one, comparison in found.compared
            if combination_in_paper(comparison.baseline) == BASELINE
        },
    )


def _values(outcome: LoadOutcome, loads: Sequence[LoadRow]) -> list[float | None]:
    values, _ = contributions(outcome, loads)
    return values


_NETWORKS = ("fiber", "4g")
_THEIRS = (
    "Crosses on thin lines: the paper's P10, P25, P50, P75 and P90 of the same combination, which are of its sum and "
    "its own page."
)


def load_drawings(times: LoadTimes, findings: Findings, scope: PaperScope) -> Iterator[Drawing]:
    """Draw Figs. 8 to 12 of an outcome, each if the dataset has its data."""
    if any(cell.change and cell.change.n for cell in _cells(times, scope)):
        yield _heat_map(times, findings, scope)
        yield _medians(times, findings, scope)
    relative = _relative(times, scope)
    if any(curve.n for curve in relative):
        yield _draw(
            f"s24_fig9{times.outcome.suffix}", "Fig. 9", _GRID, relative, _RELATIVE_AXIS, times, findings, scope
        )
    for name, number, page in (("s24_fig10", "Fig. 10", "wikipedia"), ("s24_fig11", "Fig. 11", "instagram")):
        curves = _absolute(times, scope, page)
        if curves:
            axis = CdfAxis(f"{times.outcome.label}, ms", times.outcome.column, shared=False)
            medians = [times.medians[one] for one in _conditions(scope, page)]
            words = (
                f"The {page} page on fiber and 4G: {times.outcome.meaning}. In the legend the medians, with "
                f"{intervals_text(medians)}. {_THEIRS} They are the changes of its Fig. 9 on the baseline it prints "
                "or, where it prints none, one computed from its figures."
            )
            yield _draw(f"{name}{times.outcome.suffix}", number, words, curves, axis, times, findings, scope)


_GRID = (
    "Every load against the median of DoUDP + H3 full on the same page and profile (the line at 0); each panel has its "
    f"own axis. {_THEIRS}"
)
_RELATIVE_AXIS = CdfAxis(
    "change against the baseline's median, %", "relative_change_ratio", (0,), shared=False, percent=True
)


def _cells(times: LoadTimes, scope: PaperScope) -> list[HeatCell]:
    cells = []
    for combination in scope.list_combinations((*IN_PAPER, *LEFT_OUT)):
        for profile in scope.profiles:
            for page in scope.pages:
                condition = scope.cells.get((page, profile), {}).get(combination)
                theirs = plt_change_percent(profile, page, *combination)
                change = None if condition is None else times.changes.get(condition.id)
                reference = None if theirs is None else theirs / 100
                cells.append(HeatCell(combination_name(combination), page, profile, change, reference))
    return cells


def _heat_map(times: LoadTimes, findings: Findings, scope: PaperScope) -> Drawing:
    cells = _cells(times, scope)
    caption = (
        f"Fig. 8 of {CITATION}, here: change of the median {times.outcome.meaning} against DoUDP + H3 full on the same "
        "page and profile, paired by block; in italics the paper's, which is always of its sum. A dashed frame marks "
        "cells whose interval contains 0; colours leave white at 0, blue for less and red for more. DoUDP and DoH with "
        "0-RTT are not in the paper. "
        f"{how_sure([cell.change for cell in cells if cell.change])} {_tail(times, findings, scope)}"
    )
    quantity = times.outcome.label
    return draw_heat_map(cells, caption, name=f"s24_fig8{times.outcome.suffix}", quantity=quantity)


def _relative(times: LoadTimes, scope: PaperScope) -> list[Curve]:
    curves = []
    for profile in scope.profiles:
        for page in scope.pages:
            cell = scope.cells.get((page, profile), {})
            for combination in scope.list_combinations((*IN_PAPER, *LEFT_OUT)):
                one = _divide_by_median(times, cell, combination)
                label = combination_name(combination)
                theirs = relative_quantiles(page, profile, *combination)
                key = {"page": page, "profile": profile}
                curves.append(_curve(profile, page, label, combination, one, key, theirs))
    return curves


def _divide_by_median(times: LoadTimes, cell: Mapping[Combination, object], combination: Combination) -> Distribution:
    """Divide every load by the baseline's median; return an empty distribution if this median is not a number."""
    condition, baseline = cell.get(combination), cell.get(BASELINE)
    middle = times.medians.get(getattr(baseline, "id", ""))
    values = times.values.get(getattr(condition, "id", ""))
    if middle is None or middle.value is None or values is None:
        return Distribution([], 0)
    return Distribution([(value / middle.value - 1, count) for value, count in values.steps], values.n)


def _absolute(times: LoadTimes, scope: PaperScope, page: str) -> list[Curve]:
    curves = []
    for profile in _networks(scope):
        for combination in scope.list_combinations((BASELINE, *IN_PAPER, *LEFT_OUT)):
            condition = scope.cells.get((page, profile), {}).get(combination)
            if condition is None or condition.id not in times.values:
                continue
            one = times.values[condition.id]
            label = f"{combination_name(combination)}: {_median_beside_theirs(times, condition.id, combination)}"
            theirs = quantiles_ms(page, profile, *combination)
            curves.append(_curve("", profile, label, combination, one, {"page": page, "profile": profile}, theirs))
    return curves


def _networks(scope: PaperScope) -> list[str]:
    found = {find_paper_profile(profile): profile for profile in reversed(scope.profiles)}
    return [found[one] for one in _NETWORKS if one in found]


def _conditions(scope: PaperScope, page: str) -> list[str]:
    cells = (scope.cells.get((page, profile), {}) for profile in _networks(scope))
    return [condition.id for cell in cells for condition in cell.values()]


def _median_beside_theirs(times: LoadTimes, condition: str, combination: Combination) -> str:
    ours = times.medians[condition]
    page, profile = condition.split(".")[:2]
    theirs = plt_median_ms(profile, page, *combination)
    text = f"{estimate_text(ours)} {interval_text(ours)} ms, n = {ours.n}".replace("  ", " ")
    return text + (f" (paper {number_text(theirs)})" if theirs is not None else "")


def _medians(times: LoadTimes, findings: Findings, scope: PaperScope) -> Drawing:
    curves = []
    level = find_level(findings.plan)
    for combination in scope.list_combinations((*IN_PAPER, *LEFT_OUT)):
        known = [cell[combination].id for cell in scope.cells.values() if combination in cell]
        found = [times.changes[one] for one in known if one in times.changes and times.changes[one].n]
        one = make_distribution([change.value for change in found])
        label = f"{combination_name(combination)}: {median_text(one.scale(100), level, 1)} %, n = {one.n}"
        theirs = medians_quantiles(list(scope.cells), *combination)
        curves.append(_curve("", "", label, combination, one, {}, theirs))
    axis = CdfAxis("change of the median, %", "relative_change_ratio", (0,), percent=True)
    words = (
        f"The changes of the median {times.outcome.meaning} against DoUDP + H3 full, one for each page and "
        f"profile; in the legend the median of those, with {level_text(level)} intervals by order statistics. "
        "Crosses on thin lines: the paper's changes of the same combination in the same cells, which are of its sum."
    )
    return _draw(f"s24_fig12{times.outcome.suffix}", "Fig. 12", words, curves, axis, times, findings, scope)


def _curve(
    row: str,
    column: str,
    label: str,
    combination: Combination,
    one: Distribution,
    key: Mapping[str, str],
    theirs: Sequence[tuple[float, float]] = (),
) -> Curve:
    return Curve(
        row=row,
        column=column,
        label=label,
        look=transport_look(*combination),
        points=one.points if one.n else [],
        n=one.n,
        failed_count=one.failed_count,
        key={**key, "combination": combination_name(combination)},
        reference=theirs,
    )


def _draw(
    name: str,
    number: str,
    words: str,
    curves: Sequence[Curve],
    axis: CdfAxis,
    times: LoadTimes,
    findings: Findings,
    scope: PaperScope,
) -> Drawing:
    counts = [curve.n for curve in curves if curve.n]
    caption = (
        f"{number} of {CITATION}, here: {words} n = {min(counts)} to {max(counts)} a curve. The axis may end before "
        f"the slowest twentieth; the CSV holds all. {_tail(times, findings, scope)}"
    )
    size = (3.1, 1.75) if name.startswith("s24_fig9") else (5.1, 2.6)
    return draw_cdfs(name, curves, axis, caption, panel_inch=size)


def _tail(times: LoadTimes, findings: Findings, scope: PaperScope) -> str:
    conditions = {one.id for cell in scope.cells.values() for one in cell.values()}
    parts = [times.values[one] for one in conditions if one in times.values]
    failed, total = sum(part.failed_count for part in parts), sum(part.n for part in parts)
    return (
        f"{failed} of {total} loads failed and count as never ended; {flags_and_drops(findings)}."
        f"{describe_left_out(sum(load.condition in conditions for load in findings.loads) - total)}{scope.note} "
        f"Dataset {findings.manifest.dataset_id}."
    )
