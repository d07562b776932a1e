"""Live loads beside the lab's: the ratio of their medians, and a test for equivalence within 5 %. Pure.

For: pairs of loads, the estimate, the verdict. Not for: getting loads (`rounds`).

A pair is the nth load of a cell in a round by each side. The interval of the ratio is the bootstrap of pairs. Two
one-sided sign tests of the pairs' ratios decide about equivalence, on the scale of logarithms: their median lies
between 1/1.05 and 1.05. A failed load took at least its limit. A pair of failed loads has no information and is counted
apart.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from benches.common.part import BenchPart
from resolab.basics.errors import ResolabError
from resolab.stats import (
    Equivalence,
    EquivalenceTest,
    Estimate,
    Sample,
    equivalence,
    median,
    relative_change,
    subtract_pairs,
)

MARGIN_RATIO = 0.05
ALL = "all"
SEED = 1
Cell = tuple[str, str, str]
"""A page, a browser and a DNS transport."""


@dataclass(frozen=True)
class ComparedLoad:
    """A measured page load."""

    cell: Cell
    place: int
    """The number of the load in its cell over all rounds; both loads of a pair have the same number."""
    plt_ms: float | None
    """The page load time; None for a failed load."""
    limit_ms: float


@dataclass(frozen=True)
class LiveLabComparison:
    """The comparison of a cell, or of all cells together."""

    cell: Cell
    live_ms: float | None
    lab_ms: float | None
    """The medians of both sides."""
    change: Estimate
    """The estimate of `live / lab - 1`."""
    equivalence: Equivalence
    both_failed_count: int
    alone_count: int
    """The number of loads without a partner."""

    @property
    def ratio_text(self) -> str:
        """Write the ratio with its interval."""
        ends = (self.change.value, self.change.ci_low, self.change.ci_high)
        value, low, high = ("?" if one is None else f"{1 + one:.3f}" for one in ends)
        return value if self.change.ci_low is None else f"{value} [{low}, {high}]"


def number_loads(loads: Iterable[ComparedLoad]) -> list[ComparedLoad]:
    """Count the loads of each cell in order, to make a pair of the nth loads of both sides."""
    counts: dict[Cell, int] = defaultdict(int)
    found = []
    for load in loads:
        found.append(ComparedLoad(load.cell, counts[load.cell], load.plt_ms, load.limit_ms))
        counts[load.cell] += 1
    return found


def compare_cells(live: Sequence[ComparedLoad], lab: Sequence[ComparedLoad]) -> list[LiveLabComparison]:
    """Compare every cell, and then all cells together."""
    own, other = _group_by_pair(live), _group_by_pair(lab)
    cells = sorted({load.cell for load in (*live, *lab)})
    if not cells:
        raise ResolabError("no load of either side: neither live mode nor the lab left any")
    each = [_compare(cell, own, other, cell.__eq__) for cell in cells]
    return each if len(cells) < 2 else [*each, _compare((ALL, ALL, ALL), own, other, lambda _of: True)]


_Pairs = Mapping[tuple[Cell, int], ComparedLoad]


def _group_by_pair(loads: Sequence[ComparedLoad]) -> _Pairs:
    found = {(load.cell, load.place): load for load in loads}
    if len(found) < len(loads):
        raise ValueError("a cell has two loads at one place")
    return found


def _compare(cell: Cell, live: _Pairs, lab: _Pairs, is_of: Callable[[Cell], bool]) -> LiveLabComparison:
    mine = {key for key in live.keys() | lab.keys() if is_of(key[0])}
    both = sorted(key for key in mine if key in live and key in lab)
    kept = [key for key in both if live[key].plt_ms is not None or lab[key].plt_ms is not None]
    one, other = _sample([live[key] for key in kept]), _sample([lab[key] for key in kept])
    ratios = subtract_pairs(_logarithms(one), _logarithms(other))
    margin = math.log1p(MARGIN_RATIO)
    return LiveLabComparison(
        cell=cell,
        live_ms=median(one).value,
        lab_ms=median(other).value,
        change=relative_change(one, other, seed=SEED),
        equivalence=equivalence(ratios, margin, test=EquivalenceTest.SIGN),
        both_failed_count=len(both) - len(kept),
        alone_count=len(mine) - len(both),
    )


def _sample(loads: Sequence[ComparedLoad]) -> Sample:
    return Sample.from_censored([load.plt_ms for load in loads], [load.limit_ms for load in loads])


def _logarithms(sample: Sample) -> Sample:
    return Sample(np.log(sample.low), np.log(sample.high))


def table(found: Sequence[LiveLabComparison]) -> BenchPart:
    """Make the table; a cell without shown equivalence is missed."""
    part = BenchPart(
        "live against lab",
        "page load times of the box's sites",
        ["page", "browser", "DNS", "pairs", "live ms", "lab ms", "ratio of medians [95 %]", "p", "within 5 %"],
    )
    for one in found:
        cells = [*one.cell, str(one.equivalence.n), _ms(one.live_ms), _ms(one.lab_ms), one.ratio_text]
        p_value = one.equivalence.p_value
        verdict = "met" if one.equivalence.is_alike else "MISSED"
        part.add([*cells, "" if p_value is None else f"{p_value:.3f}", verdict], as_data(one))
    part.remarks.append(
        "p: the greater of two one-sided sign tests of the pairs' ratios against 1/1.05 and 1.05; alike at most 0.05"
    )
    # The last row is of all cells, or of the only one.
    failed, alone = found[-1].both_failed_count, found[-1].alone_count
    if failed or alone:
        part.remarks.append(f"left out: {failed} pairs of which both failed, {alone} loads without their other half")
    return part


def as_data(one: LiveLabComparison) -> dict[str, object]:
    """Return the comparison for machines."""
    change = one.change
    return {
        "page": one.cell[0], "browser": one.cell[1], "dns_transport": one.cell[2], "pairs_count": one.equivalence.n,
        "live_median_ms": one.live_ms, "lab_median_ms": one.lab_ms,
        "ratio": None if change.value is None else 1 + change.value,
        "ratio_ci": [None if end is None else 1 + end for end in (change.ci_low, change.ci_high)],
        "p_value": one.equivalence.p_value, "margin_ratio": MARGIN_RATIO, "is_alike": one.equivalence.is_alike,
        "both_failed_count": one.both_failed_count, "alone_count": one.alone_count,
    }  # fmt: skip


def _ms(value: float | None) -> str:
    return "?" if value is None else f"{value:.1f}"
