"""Our run as a repeat of Sengupta et al.: sign, overlap and prediction for each cell of Fig. 8, for the sum only.

For: comparing equal quantities, with both studies' spread and size. Not for: `plt`, a different quantity including the
lookup; the closed form's explanation (`changes`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from resolab.report.findings.interval_level import level_text
from resolab.report.parts.named_table import NamedTable
from resolab.report.parts.tables import Table
from resolab.report.plots import ABSENT, estimate_text, interval_text, number_text
from resolab.report.plots.save import Value
from resolab.stats import PrintedChange, Replication, make_printed_change, replication
from resolab.store.outcomes import PLT_SUM
from resolab.studies.s24.loads import LoadTimes
from resolab.studies.s24.paper_quantiles import SHARES, relative_quantiles
from resolab.studies.s24.scope import BASELINE, IN_PAPER, Combination, PaperScope, combination_name

LOADS_A_CELL = 344_616 // 90 // 3
"""Loads per cell, with 5 access networks, 3 pages and 6 combinations (section IV) and three lookups per load."""


@dataclass(frozen=True, slots=True)
class _Cell:
    page: str
    profile: str
    combination: Combination
    theirs: PrintedChange
    ours: Replication | None
    within_count: int
    loads_count: int


def replication_table(times: Sequence[LoadTimes], scope: PaperScope, level: float) -> NamedTable | None:
    """Show both studies side by side at a level, one row per cell; `None` without the paper's sum."""
    sums = next((one for one in times if one.outcome == PLT_SUM), None)
    if sums is None:
        return None
    cells = [
        found
        for (page, profile), conditions in scope.cells.items()
        for combination in IN_PAPER
        if (found := _cell(page, profile, combination, conditions, sums, level)) is not None
    ]
    if not cells:
        return None
    table = Table(_COLUMNS, [_words(one) for one in cells], frozenset((0, 1, 2, 5, 6, 8)))
    return NamedTable(
        "s24_replication", "As a repeat of theirs", table, [_numbers(one) for one in cells], _note(cells, level)
    )


_COLUMNS = (
    "page", "profile", "combination", "theirs %", "ours: sum %", "same sign", "intervals overlap",
    "a repeat of ours lies in %", "theirs does", "our loads in their P10 to P90",
)  # fmt: skip


def _cell(
    page: str,
    profile: str,
    combination: Combination,
    conditions: Mapping[Combination, object],
    sums: LoadTimes,
    level: float,
) -> _Cell | None:
    quantiles = relative_quantiles(page, profile, *combination)
    own, base = (getattr(conditions.get(one), "id", None) for one in (combination, BASELINE))
    if not quantiles or own is None or base is None:
        return None
    # A run that was stopped has conditions without a load.
    if own not in sums.changes or own not in sums.values or base not in sums.medians:
        return None
    by_share = {share: ratio for ratio, share in quantiles}
    theirs = make_printed_change(by_share[0.50], (by_share[0.25], by_share[0.75]), LOADS_A_CELL, level=level)
    baseline = sums.medians[base].value
    steps = sums.values[own].steps
    ratios = [] if baseline is None else [value / baseline - 1 for value, _ in steps]
    within = sum(by_share[SHARES[0]] <= ratio <= by_share[SHARES[-1]] for ratio in ratios)
    ours = replication(sums.changes[own], theirs)
    return _Cell(page, profile, combination, theirs, ours, within, sums.values[own].n)


def _words(one: _Cell) -> tuple[str, ...]:
    place = (one.page, one.profile, combination_name(one.combination))
    theirs = f"{_percent(one.theirs.value)} [{_percent(one.theirs.ci_low)}, {_percent(one.theirs.ci_high)}]"
    loads = f"{one.within_count} of {one.loads_count}"
    if one.ours is None:
        return (*place, theirs, "no interval", *[ABSENT] * 4, loads)
    ours = one.ours.ours
    return (
        *place,
        theirs,
        f"{estimate_text(ours, scale=100, signed=True)} {interval_text(ours, scale=100, signed=True)}",
        _yes(one.ours.same_sign),
        _yes(one.ours.overlaps),
        f"{_percent(one.ours.prediction_low)} to {_percent(one.ours.prediction_high)}",
        _yes(one.ours.is_predicted),
        loads,
    )


def _numbers(one: _Cell) -> dict[str, Value]:
    return {
        "page": one.page,
        "profile": one.profile,
        "combination": combination_name(one.combination),
        "paper_change_ratio": one.theirs.value,
        "paper_ci_low_ratio": one.theirs.ci_low,
        "paper_ci_high_ratio": one.theirs.ci_high,
        "paper_loads_count": LOADS_A_CELL,
        "loads_in_their_p10_p90_count": one.within_count,
        "loads_count": one.loads_count,
        **dict.fromkeys(_OURS, None),
        **({} if one.ours is None else _ours(one.ours)),
    }


_OURS = (
    "plt_sum_change_ratio", "ci_low_plt_sum_change_ratio", "ci_high_plt_sum_change_ratio", "pairs_count", "same_sign",
    "intervals_overlap", "prediction_low_ratio", "prediction_high_ratio", "is_predicted",
)  # fmt: skip


def _ours(found: Replication) -> dict[str, Value]:
    values: tuple[Value, ...] = (
        found.ours.value, found.ours.ci_low, found.ours.ci_high, found.ours.n, _yes(found.same_sign),
        int(found.overlaps), found.prediction_low, found.prediction_high, int(found.is_predicted),
    )  # fmt: skip
    return dict(zip(_OURS, values, strict=True))


def _note(cells: Sequence[_Cell], level: float) -> str:
    told = [one.ours for one in cells if one.ours is not None]
    same, other = (sum(one.same_sign is sign for one in told) for sign in (True, False))
    overlapping, predicted = sum(one.overlaps for one in told), sum(one.is_predicted for one in told)
    counts = (
        f"Of {len(cells)} cells {len(told)} have an interval of ours: in {same} the sign is theirs, in {other} the "
        f"other, in the rest undecided; in {overlapping} the intervals overlap and in {predicted} their number lies "
        f"where a repeat of ours would in {level_text(level)} of cases (Patil, Peng and Leek 2016)."
    )
    return (
        f"{counts} Both are changes of the median of the sum against DoUDP + H3 full. Their interval is that of the "
        f"quartiles of their Fig. 9 and {LOADS_A_CELL:,} loads a cell (McGill, Tukey and Larsen 1978): a third of the "
        "3,829 rows, each load standing with three look-ups. It holds the error of their sample and none of their "
        f"instrument's or ours: chance alone leaves about {(1 - level) * len(cells):.2g} of {len(cells)} numbers "
        "outside their prediction, and what more there are is a difference of the two labs. "
        "Last column: loads of ours between their P10 and P90, where four in five would lie if medians and spreads "
        "were alike."
    )


def _percent(ratio: float) -> str:
    return number_text(ratio * 100, signed=True)


def _yes(value: object) -> str:
    """Format a truth value, possibly unknown."""
    return "undecided" if value is None else "yes" if value else "no"
