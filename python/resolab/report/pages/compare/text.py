"""A comparison of two datasets in words, tables and JSON.

For: the output of `resolab compare`. Not for: the numbers (`changes`), or printing (the command line).
"""

import math
from collections.abc import Sequence
from typing import Any

from resolab.report.pages.compare.changes import (
    SIGNIFICANCE,
    ConditionChange,
    DatasetComparison,
    EffectChange,
    smallest_p_value,
)
from resolab.report.pages.compare.circumstances import FactDifference
from resolab.report.parts.tables import Table
from resolab.report.plots import ABSENT, estimate_text, interval_text, number_text
from resolab.stats import Estimate, SignificantShare

_WIDE = frozenset(("loads A, B", "failed A, B", "A ms", "B ms", "Cliff's delta"))


def verdict(found: DatasetComparison) -> str:
    """Return the answer in one or two sentences: the changes, and their significance."""
    if found.dataset_ids[0] == found.dataset_ids[1]:
        return "Both are the same dataset; nothing can differ."
    total = len(found.conditions)
    if not total:
        return f"The datasets have no condition in common; nothing can be compared.{_elsewhere(found)}"
    changed = [one for one in found.conditions if one.significant]
    moved = sum(one.significant for one in found.effects)
    effects = f"; of {len(found.effects)} effects against a baseline {moved} changed" if found.effects else ""
    settings = [one.what for one in found.ground if not one.is_reading]
    why = f" Settings that differ: {', '.join(settings)}." if settings else " No setting differs."
    if not any(total * smallest_p_value(*_sizes(one)) <= SIGNIFICANCE for one in found.conditions):
        return (
            f"Too few loads to tell: with {total} conditions even loads that are all slower would not reach a "
            f"Holm-adjusted p of 0.05; the intervals beside each change still hold."
            f"{_floor(found)}{why}{_describe_stop(found)}"
        )
    if not changed:
        return (
            f"No change is told from chance: none of {total} conditions (Holm-adjusted p > 0.05){effects}. "
            f"How large one could have been missed say the intervals.{_floor(found)}{why}{_describe_stop(found)}"
        )
    # Shifts in ms, since a relative change may be infinite or unknown where too much failed.
    largest = max(changed, key=lambda one: _least(one.shift_ms))
    return (
        f"More than noise: {len(changed)} of {total} conditions changed (Holm-adjusted p <= 0.05), the most "
        f"{largest.condition} by {_ms(largest.shift_ms)} ({_percent(largest.change)}){effects}."
        f"{_floor(found)}{why}{_describe_stop(found)}"
    )


def _sizes(one: ConditionChange) -> tuple[int, int]:
    """Return the number of values in each dataset: a page loaded in several rounds counts once per block."""
    return one.median_ms[0].n, one.median_ms[1].n


def _least(shift: Estimate) -> float:
    """Return the smallest possible distance of a shift from 0, for shifts known only within bounds."""
    if shift.low is None or shift.high is None:
        return 0.0
    return 0.0 if shift.low <= 0 <= shift.high else min(abs(shift.low), abs(shift.high))


def _describe_stop(found: DatasetComparison) -> str:
    return (
        " What they had shown decided how many blocks there are; p-values here take their number for fixed."
        if found.stopped
        else ""
    )


def _elsewhere(found: DatasetComparison) -> str:
    """Return a sentence about different vantage points, if both datasets are live and differ in them."""
    if not any(one.what == "plan's live, vantage point" for one in found.ground):
        return ""
    return " They are of different vantage points, whose clocks and networks are never compared."


def _floor(found: DatasetComparison) -> str:
    noise = found.noise
    if noise.p95_absolute_difference is None:
        return " No A/A copies, so the noise floor is not measured."
    floor = noise.p95_absolute_difference
    inside = sum(one.shift_ms.value is not None and abs(one.shift_ms.value) <= floor for one in found.conditions)
    return (
        f" A/A noise floor within a run: 95 % of {noise.n} differences up to {number_text(floor)} ms; "
        f"{inside} of {len(found.conditions)} shifts lie within it."
    )


def tables(found: DatasetComparison, *, narrow: bool = False) -> list[tuple[str, Table]]:
    """List every table with rows under its title; `narrow` leaves out columns for a narrow terminal."""
    conditions = _condition_table(found.conditions)
    some = [
        (f"Median {found.outcome.phrase}, B against A", _drop_columns(conditions, _WIDE) if narrow else conditions),
        ("Effects against the baseline, B against A", _effect_table(found.effects)),
        ("Settings that differ", _build_facts_table([one for one in found.ground if not one.is_reading])),
        ("Readings of the instrument", _build_facts_table([one for one in found.ground if one.is_reading])),
        ("Only in A", Table(("condition",), [(name,) for name in found.only[0]], frozenset((0,)))),
        ("Only in B", Table(("condition",), [(name,) for name in found.only[1]], frozenset((0,)))),
    ]
    return [(title, table) for title, table in some if table.rows]


def _drop_columns(table: Table, columns: frozenset[str]) -> Table:
    kept = [position for position, column in enumerate(table.columns) if column not in columns]
    words = frozenset(place for place, position in enumerate(kept) if position in table.words)
    return Table([table.columns[one] for one in kept], [[row[one] for one in kept] for row in table.rows], words)


def _condition_table(changes: Sequence[ConditionChange]) -> Table:
    columns = (
        "condition", "loads A, B", "failed A, B", "A ms", "B ms", "change", "shift ms", "Cliff's delta", "Holm p", ""
    )  # fmt: skip
    rows = [
        (
            one.condition,
            "{}, {}".format(*one.loads_count),
            "{}, {}".format(*one.failed_count),
            estimate_text(one.median_ms[0]),
            estimate_text(one.median_ms[1]),
            _percent(one.change),
            _both(one.shift_ms),
            _both(one.delta, 2),
            _p(one.holm_p_value),
            "changed" if one.significant else "~",
        )
        for one in changes
    ]
    return Table(columns, rows, frozenset((0, 9)))


def _effect_table(effects: Sequence[EffectChange]) -> Table:
    columns = ("condition", "baseline", "effect in A ms", "effect in B ms", "shift ms", "Holm p", "")
    rows = [
        (
            one.condition,
            one.baseline,
            _both(one.effect_ms[0]),
            _both(one.effect_ms[1]),
            _both(one.shift_ms),
            _p(one.holm_p_value),
            "changed" if one.significant else "~",
        )
        for one in effects
    ]
    return Table(columns, rows, frozenset((0, 1, 6)))


def _build_facts_table(differences: Sequence[FactDifference]) -> Table:
    return Table(("what", "A", "B"), [(one.what, one.first, one.second) for one in differences], frozenset(range(3)))


def _both(estimate: Estimate, digits: int = 1) -> str:
    return f"{estimate_text(estimate, digits, signed=True)} {interval_text(estimate, digits, signed=True)}".rstrip()


def _ms(estimate: Estimate) -> str:
    return f"{estimate_text(estimate, signed=True)} ms {interval_text(estimate, signed=True)}".rstrip()


def _percent(change: Estimate) -> str:
    if change.low is None:
        return ABSENT
    text = f"{estimate_text(change, scale=100, signed=True)} % {interval_text(change, scale=100, signed=True)}"
    return text.rstrip()


def _p(p_value: float | None) -> str:
    if p_value is None:
        return ABSENT
    return "< 0.001" if p_value < 0.001 else f"{p_value:.3f}"


def as_json(found: DatasetComparison) -> dict[str, Any]:
    """Return the comparison as JSON: null for an infinite end, `method` none for a missing interval."""
    return {
        "verdict": verdict(found),
        "dataset_ids": list(found.dataset_ids),
        "conditions": [
            {
                "condition": one.condition,
                "loads_count": list(one.loads_count),
                "failed_count": list(one.failed_count),
                found.outcome.column: [_estimate(each) for each in one.median_ms],
                "change_ratio": _estimate(one.change),
                "shift_ms": _estimate(one.shift_ms),
                "cliffs_delta": _estimate(one.delta),
                "p_value": one.p_value,
                "holm_p_value": one.holm_p_value,
                "significant": one.significant,
            }
            for one in found.conditions
        ],
        "effects": [
            {
                "condition": one.condition,
                "baseline": one.baseline,
                "effect_ms": [_estimate(each) for each in one.effect_ms],
                "shift_ms": _estimate(one.shift_ms),
                "p_value": one.p_value,
                "holm_p_value": one.holm_p_value,
                "significant": one.significant,
            }
            for one in found.effects
        ],
        "only": {"first": list(found.only[0]), "second": list(found.only[1])},
        "ground": [
            {"what": one.what, "first": one.first, "second": one.second, "is_reading": one.is_reading}
            for one in found.ground
        ],
        "noise": _noise(found.noise),
    }


def _noise(noise: SignificantShare) -> dict[str, Any]:
    return {
        "comparisons_count": noise.n,
        "significant_count": noise.significant_count,
        "share_ci": [noise.ci_low, noise.ci_high],
        "median_absolute_difference_ms": noise.median_absolute_difference,
        "p95_absolute_difference_ms": noise.p95_absolute_difference,
    }


def _estimate(estimate: Estimate) -> dict[str, Any]:
    return {
        "value": estimate.value,
        "low": _finite(estimate.low),
        "high": _finite(estimate.high),
        "ci_low": _finite(estimate.ci_low),
        "ci_high": _finite(estimate.ci_high),
        "n": estimate.n,
        "censored_count": estimate.censored_count,
        "level": estimate.level,
        "method": estimate.method.value,
    }


def _finite(number: float | None) -> float | None:
    return number if number is not None and math.isfinite(number) else None
