"""Blocks that a comparison needs, held against campaigns that are simulated value by value."""

import numpy as np
import pytest

from resolab.stats import (
    MarginSides,
    PowerRule,
    Sample,
    aim_at_width,
    aim_within_margin,
    blocks_needed,
    estimate_paired_difference,
    excludes_zero,
    make_normal_differences,
    median_at_any_look,
    quantile,
    smallest_margin,
)
from resolab.stats.coverage.power import simulate_coverage

RNG = np.random.default_rng(11)
LARGE = Sample.exact(RNG.normal(0, 10, 1_000))
WAITING = Sample.exact(RNG.normal(0, 10, 1_000) + 5_000 * (RNG.random(1_000) < 0.3))


def share_decided(draw: np.random.Generator, blocks: int, effect: float, width: float, margin: float) -> list[float]:
    counts = np.zeros(3)
    for _ in range(600):
        values = Sample.exact(draw.normal(0, 10, blocks))
        one = estimate_paired_difference(values, Sample.exact(np.zeros(blocks)))
        assert one.ci_low is not None
        assert one.ci_high is not None
        counts += [one.ci_low + effect > 0, one.ci_high - one.ci_low <= width, max(-one.ci_low, one.ci_high) < margin]
    return [float(one) / 600 for one in counts]


def blocks_of(pilot: Sample, aim: object, rule: PowerRule | None = None, most: int = 1_000) -> int | None:
    found = blocks_needed(pilot, aim, rule or PowerRule(), most=most, seed=1)  # type: ignore[arg-type]
    assert found is not None
    return found.blocks


def test_so_many_blocks_decide_four_times_in_five() -> None:
    aims = [excludes_zero(8.0), aim_at_width(11.0), aim_within_margin(9.0)]
    for position, aim in enumerate(aims):
        blocks = blocks_of(LARGE, aim)
        assert blocks is not None
        shares = share_decided(np.random.default_rng(2), blocks, 8.0, 11.0, 9.0)
        # The steps are a twentieth apart, the pilot's spread is known to some per cent.
        assert shares[position] == pytest.approx(0.8, abs=0.08)


def test_what_is_harder_takes_more() -> None:
    assert (blocks_of(LARGE, excludes_zero(4.0)) or 0) > 3 * (blocks_of(LARGE, excludes_zero(8.0)) or 0)
    sequence = PowerRule(at_any_look=True)
    fixed = blocks_of(LARGE, excludes_zero(6.0)) or 0
    assert 1.1 * fixed < (blocks_of(LARGE, excludes_zero(6.0), sequence) or 0) < 2.5 * fixed
    assert (blocks_of(LARGE, excludes_zero(6.0), PowerRule(0.97)) or 0) > fixed
    # A share of seconds moves the median's interval into the upper part of the mode.
    assert (blocks_of(WAITING, excludes_zero(8.0)) or 0) > (blocks_of(LARGE, excludes_zero(8.0)) or 0)


def test_the_pilots_own_difference_stands_in_for_one() -> None:
    moved = Sample.exact(LARGE.low + 8.0 - float(np.median(LARGE.low)))
    assert blocks_of(moved, excludes_zero()) == pytest.approx(blocks_of(LARGE, excludes_zero(8.0)), rel=0.1)


def test_modes_seconds_apart_stay_apart() -> None:
    """Half of a pilot's pairs wait: smoothing by the spread of all would fill the five seconds between."""
    pilot = Sample.exact([*np.linspace(-9, 9, 7), *(5_000 + np.linspace(-9, 9, 5))])
    found = blocks_needed(pilot, aim_at_width(30.0), PowerRule(), most=1_000, seed=1)
    assert found is not None
    assert found.blocks is not None
    assert found.blocks > 100


def test_it_says_when_it_is_not_within_the_most() -> None:
    found = blocks_needed(LARGE.take(range(24)), excludes_zero(0.5), PowerRule(), most=200, seed=1)
    assert found is not None
    assert (found.blocks, found.high, found.most) == (None, None, 200)


def test_a_pilot_that_cannot_say_says_nothing() -> None:
    assert blocks_needed(LARGE.take(range(5)), excludes_zero(8.0), PowerRule(), most=100, seed=1) is None
    failed = Sample.from_censored([1.0] * 4 + [None] * 8, [30.0] * 12)
    assert blocks_needed(failed, excludes_zero(8.0), PowerRule(), most=100, seed=1) is None


def test_the_interval_is_wide_where_the_pilot_is_small_and_mostly_holds() -> None:
    found = [blocks_needed(LARGE.take(range(n)), excludes_zero(6.0), PowerRule(), most=1_000, seed=1) for n in (12, 96)]
    widths = [(one.high or 1_000) / (one.low or 6) for one in found if one is not None]
    assert widths[0] > widths[1] > 1
    assert simulate_coverage("normal", 12, excludes_zero(8.0), PowerRule(), 60).held_ratio >= 0.8


@pytest.mark.parametrize("at_any_look", [False, True])
@pytest.mark.parametrize("sides", [MarginSides.BELOW, MarginSides.ABOVE, MarginSides.WITHIN])
def test_the_smallest_margin_is_decided_in_four_of_five_campaigns(at_any_look: bool, sides: MarginSides) -> None:
    rule = PowerRule(at_any_look=at_any_look)
    margin = smallest_margin(make_normal_differences(5.0), 30, rule, sides=sides)
    assert margin is not None
    rng = np.random.default_rng(4)
    decided = 0
    for _ in range(400):
        found = Sample.exact(rng.normal(0.0, 5.0, 30))
        estimate = median_at_any_look(found) if at_any_look else quantile(found, 0.5)
        assert estimate.ci_low is not None
        assert estimate.ci_high is not None
        below, above = estimate.ci_high < margin, estimate.ci_low > -margin
        decided += {MarginSides.BELOW: below, MarginSides.ABOVE: above, MarginSides.WITHIN: below and above}[sides]
    # A sequence keeps its narrowest ends, so it decides a little more often than its last look alone.
    assert 0.74 < decided / 400 < 0.92


def test_no_margin_without_an_interval() -> None:
    assert (
        smallest_margin(make_normal_differences(5.0), 7, PowerRule(at_any_look=True), sides=MarginSides.BELOW) is None
    )
    assert smallest_margin(Sample.exact([1.0] * 5), 30, PowerRule(), sides=MarginSides.BELOW) is None
