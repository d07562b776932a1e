"""A run's own doubts: order, drift, correlation and few blocks; seldom without a reason."""

import numpy as np
import pytest

from resolab.campaign.checks.assumptions import SIGNIFICANCE, DoubtKind, find_doubts
from resolab.stats import Sample

RANDOM = np.random.default_rng(5)


def kinds(values: np.ndarray, second: list[bool]) -> set[DoubtKind]:
    return {one.kind for one in find_doubts(Sample.exact(values), second)}


def coins(count: int) -> list[bool]:
    return [bool(one) for one in RANDOM.integers(0, 2, count)]


def test_an_arm_always_second_is_seen_from_the_first_verdict_on() -> None:
    doubts = find_doubts(Sample.exact(RANDOM.normal(0, 5, 8)), [True] * 8)
    assert [one.kind for one in doubts] == [DoubtKind.ORDER, DoubtKind.FEW_BLOCKS]
    assert "second in 8 of 8 blocks" in doubts[0].clause


def test_slow_first_blocks_are_a_drift_once_there_are_later_ones() -> None:
    values = RANDOM.normal(0, 5, 40)
    values[:10] += 15
    assert DoubtKind.DRIFT in kinds(values, coins(40))
    assert DoubtKind.FEW_BLOCKS in kinds(values[:10], coins(10))


def test_neighbouring_blocks_alike_are_seen() -> None:
    values = np.zeros(60)
    for block in range(1, 60):
        values[block] = 0.8 * values[block - 1] + RANDOM.normal()
    assert DoubtKind.CORRELATION in kinds(values, coins(60))


@pytest.mark.parametrize("kind", [DoubtKind.ORDER, DoubtKind.DRIFT, DoubtKind.CORRELATION])
def test_a_good_run_is_seldom_doubted(kind: DoubtKind) -> None:
    rng = np.random.default_rng(2)
    found = [
        find_doubts(Sample.exact(rng.standard_t(2, 40)), [bool(one) for one in rng.integers(0, 2, 40)])
        for _ in range(400)
    ]
    # Expected at most 4 of 400; above 12 is a chance of one in two thousand.
    assert sum(any(one.kind is kind for one in each) for each in found) <= 12 < 400 * SIGNIFICANCE * 4


def test_more_checks_need_more_evidence_each() -> None:
    """Eight of eight pairs in one order have a chance of 0.8 %: below 1 %, above 0.5 %."""
    differences = Sample.exact(RANDOM.normal(0, 5, 8))
    assert DoubtKind.ORDER in {one.kind for one in find_doubts(differences, [True] * 8, 1)}
    assert DoubtKind.ORDER not in {one.kind for one in find_doubts(differences, [True] * 8, 2)}


def test_nothing_is_doubted_without_pairs_or_with_equal_differences() -> None:
    assert find_doubts(Sample.exact([]), []) == []
    assert kinds(np.zeros(30), coins(30)) == set()
