"""Verdicts on made-up loads whose truth is known."""

import math
from collections import Counter

import pytest
from made_up_loads import LIMIT_MS, PAGES, SIX, load_of, made_up

from resolab.basics.records import PageFailure
from resolab.extras.visit import (
    LOCAL,
    PlannedVisitLoad,
    VisitVerdict,
    choose_baseline,
    configurations,
    order,
    summaries,
)
from resolab.extras.visit.load_budget import joint_level

SEEDS = range(20)
STEPS = [30.0, 0.0, 60.0, 20.0, 10.0, 45.0]
"""Of the six configurations: any two are 10 ms apart, or more."""


def test_differences_of_10_ms_or_more_are_ordered_right() -> None:
    truth = [SIX[index] for index in sorted(range(6), key=STEPS.__getitem__)]
    right = sum([one.configuration for one in summaries(SIX, made_up(STEPS, seed=seed))] == truth for seed in SEEDS)
    assert right >= 18, "noise of 6 ms in each load, a tail in one of 30"


def test_the_fastest_is_right_and_told_from_the_rest() -> None:
    told = 0
    for seed in SEEDS:
        best, *rest = summaries(SIX, made_up(STEPS, seed=seed))
        assert best.configuration == SIX[1]
        assert best.verdict in {VisitVerdict.FASTER, VisitVerdict.NOISE}, "a few outliers among nine pairs may hide it"
        assert best.difference is not None
        assert best.difference.value == pytest.approx(-30, abs=12)
        told += best.verdict is VisitVerdict.FASTER and rest[-1].is_told_from_fastest
    assert told >= 14


def test_noise_is_called_noise() -> None:
    """All verdicts of a visit hold together at 95 %; one in twenty is wrong by chance."""
    wrong = 0
    for seed in SEEDS:
        verdicts = {one.verdict for one in summaries(SIX, made_up([0.0] * 6, seed=seed))}
        assert verdicts <= {*VisitVerdict} - {VisitVerdict.TOO_FEW}
        wrong += bool(verdicts & {VisitVerdict.FASTER, VisitVerdict.SLOWER})
    assert wrong <= 4


def test_nothing_is_told_from_the_fastest_of_ways_that_are_alike() -> None:
    """Of eight alike ways one of ten visits told some from the fastest, which the loads had chosen."""
    eight = configurations(["local", *(f"tls://198.18.2.{number}" for number in range(1, 8))], [])
    wrong = 0
    for seed in range(100):
        found = summaries(eight, made_up([0.0] * 8, compared=eight, pages=PAGES[:1], loads_count=21, seed=seed))
        wrong += any(
            one.is_told_from_fastest or one.verdict in {VisitVerdict.FASTER, VisitVerdict.SLOWER} for one in found
        )
    assert wrong <= 7


@pytest.mark.parametrize(("count", "level"), [(2, 0.95), (3, 0.98091), (6, 0.99562), (8, 0.99756)])
def test_the_level_is_that_of_the_studentised_range(count: int, level: float) -> None:
    """Tables have 2.772, 3.314, 4.030 and 4.286 as its 95 % points with infinitely many degrees of freedom."""
    assert joint_level(count) == pytest.approx(level, abs=5e-5)


def test_what_is_alike_is_shown_to_be() -> None:
    found = [
        one for seed in range(5) for one in summaries(SIX, made_up([0.0] * 6, noise_ms=1.5, loads_count=6, seed=seed))
    ]
    verdicts = Counter(one.verdict for one in found)
    assert verdicts[VisitVerdict.ALIKE] >= 20
    assert verdicts[VisitVerdict.NOISE] <= 3


def test_too_few_pairs_are_too_few_to_tell() -> None:
    for loads_count in (1, 2, 3):  # nine pairs are needed of six, and the first round is none
        found = summaries(SIX, made_up(STEPS, loads_count=loads_count, noise_ms=0.1, first_ms=0.0))
        assert {one.verdict for one in found} == {VisitVerdict.BASELINE, VisitVerdict.TOO_FEW}
        assert found[0].configuration == SIX[1]


def test_the_first_round_stands_apart() -> None:
    loads = made_up([0.0, 20.0, 0.0, 0.0, 0.0, 0.0], noise_ms=0.0, first_ms=0.0)
    slow = [load_of(one.visit, 9_000.0) if one.visit.round == 0 else one for one in loads]
    for one in summaries(SIX, slow):
        assert one.first_plt_ms == 9_000
        assert one.median_plt_ms is not None
        assert one.median_plt_ms < 2_000
    assert summaries(SIX, [one for one in loads if one.visit.round == 0])[0].first_plt_ms is None


@pytest.mark.parametrize(("failing", "verdict"), [(PAGES, VisitVerdict.SLOWER), (PAGES[1:], VisitVerdict.NOISE)])
def test_failed_loads_count_as_longer_than_their_limit(failing: list[str], verdict: VisitVerdict) -> None:
    loads = [
        load_of(one.visit, None, PageFailure.PAGE_TIMEOUT)
        if one.visit.configuration == SIX[1] and one.visit.url in failing
        else one
        for one in made_up([0.0] * 6)
    ]
    *_, last = summaries(SIX, loads)
    assert (last.configuration, last.verdict) == (SIX[1], verdict)
    assert last.failures == {"page_timeout": 4 * len(failing)}
    assert last.median_plt_ms == math.inf
    assert last.difference is not None
    assert last.difference.ci_high == math.inf
    assert last.difference.low is not None
    assert last.difference.low > LIMIT_MS - 2_000


@pytest.mark.parametrize("failure", [PageFailure.DRIVER, PageFailure.BROWSER_CRASH, PageFailure.LEFT_ALONE])
def test_a_load_that_says_nothing_of_the_network_is_left_out_and_named(failure: PageFailure) -> None:
    loads = [
        load_of(one.visit, None, failure) if one.visit.configuration == SIX[2] else one for one in made_up([0.0] * 6)
    ]
    *_, last = summaries(SIX, loads)
    assert (last.configuration, last.place, last.verdict) == (SIX[2], None, VisitVerdict.TOO_FEW)
    assert last.failures == {failure.value: 12}
    assert last.median_plt_ms is None


def test_the_baseline_may_be_what_failed() -> None:
    loads = [
        load_of(one.visit, None, PageFailure.LEFT_ALONE) if one.visit.configuration == SIX[0] else one
        for one in made_up(STEPS, noise_ms=0.1)
    ]
    found = summaries(SIX, loads)
    assert [one.place for one in found] == [1, 2, 3, 4, 5, None]
    assert found[0].configuration == SIX[1]


def test_two_resolvers_need_fewer_pairs() -> None:
    two = configurations(["tls://198.18.2.1", "local"], [])
    found = summaries(two, made_up([0.0, 40.0], compared=two, loads_count=3))
    assert choose_baseline(two).name == LOCAL
    assert [one.verdict for one in found] == [VisitVerdict.FASTER, VisitVerdict.BASELINE]


def test_the_order_is_drawn_in_blocks_and_by_the_seed() -> None:
    visits = order(PAGES, SIX, loads_count=3, seed=7)
    assert visits == order(PAGES, SIX, loads_count=3, seed=7)
    assert visits[:18] == order(PAGES, SIX, loads_count=1, seed=7), "further rounds change none before them"
    assert visits != order(PAGES, SIX, loads_count=3, seed=8)
    assert len(set(visits)) == 54
    blocks = [visits[start : start + 6] for start in range(0, 54, 6)]
    for block in blocks:
        assert len({(one.url, one.round) for one in block}) == 1
        assert {one.configuration for one in block} == set(SIX)
    assert len({tuple(one.configuration for one in block) for block in blocks}) > 5, "no two blocks need be alike"
    assert [block[0].round for block in blocks] == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert isinstance(visits[0], PlannedVisitLoad)


def test_limits_are_those_of_the_records() -> None:
    assert made_up([0.0] * 6)[0].limit_ms == LIMIT_MS
