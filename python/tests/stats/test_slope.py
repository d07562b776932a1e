"""How much a difference grows with the round-trip time, over blocks."""

import math

import numpy as np
import pytest

from resolab.stats import compute_slope, slope_over_blocks

RTT_MS = (15.0, 25.0, 42.0, 92.0, 105.0)


Points = list[tuple[float, tuple[float, float]]]


def block(slope: float, offset: float = 3.0, changes: dict[float, tuple[float, float]] | None = None) -> Points:
    points = {rtt: (slope * rtt + offset,) * 2 for rtt in RTT_MS}
    return list((points | (changes or {})).items())


def test_a_line_has_its_slope_whatever_its_offset() -> None:
    found = slope_over_blocks([block(2.0), block(2.0, offset=-9.0)] * 4)
    assert (found.value, found.ci_low, found.ci_high, found.n) == pytest.approx((2.0, 2.0, 2.0, 8))


def test_one_load_in_an_odd_place_moves_nothing_much() -> None:
    found = slope_over_blocks([block(1.0, changes={42.0: (5_000.0, 5_000.0)})] * 6)
    assert found.value == pytest.approx(1.0, abs=0.01)


def test_two_levels_are_no_line() -> None:
    two = [(15.0, (1.0, 1.0)), (25.0, (2.0, 2.0)), (25.0, (2.5, 2.5))]
    assert slope_over_blocks([two] * 6).value is None
    assert compute_slope([(15.0, 1.0), (25.0, 2.0), (25.0, 2.5)]) is None
    assert compute_slope([(15.0, 1.0), (25.0, 2.0), (35.0, 3.0)]) == pytest.approx(0.1)


def test_points_that_share_a_level_all_count() -> None:
    known = [(10.0, 10.0), (50.0, 50.0), (50.0, 130.0), (90.0, 90.0)]
    # Slopes between levels: 1, 3 to the odd one, 1, 1 and -1 from it.
    assert compute_slope(known) == pytest.approx(1.0)
    assert compute_slope([(10.0, 0.0), (50.0, 40.0), (50.0, 80.0), (90.0, 160.0)]) == pytest.approx(2.0)
    blocks = [[(level, (value, value)) for level, value in known]] * 6
    assert slope_over_blocks(blocks).value == pytest.approx(1.0)


def test_what_is_known_within_bounds_leaves_the_slope_within_bounds() -> None:
    open_at_the_end = block(1.0, changes={92.0: (80.0, math.inf), 105.0: (100.0, math.inf)})
    found = slope_over_blocks([open_at_the_end] * 6)
    assert found.low is not None
    assert found.high is not None
    assert found.low <= 1.0 <= found.high


@pytest.mark.parametrize("waits", [0.0, 0.1, 0.3])
def test_the_interval_holds_the_slope_though_loads_wait(waits: float) -> None:
    rng, rounds = np.random.default_rng(1), 300
    held = 0
    for _ in range(rounds):
        noise = rng.normal(0, 12, (12, 5)) + 5_000 * (
            (rng.random((12, 5)) < waits).astype(float) - (rng.random((12, 5)) < waits)
        )
        blocks = [[(r, (2 * r + e,) * 2) for r, e in zip(RTT_MS, row, strict=True)] for row in noise]
        found = slope_over_blocks(blocks)
        assert found.ci_low is not None
        assert found.ci_high is not None
        held += found.ci_low <= 2 <= found.ci_high
    assert held / rounds >= 0.95 - 3 * math.sqrt(0.95 * 0.05 / rounds)
