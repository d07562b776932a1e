"""Stopping by the width of the relative change keeps the level: the rule of docs/method/statistics.md, simulated.

The table there has more data, widths and runs (`scripts/coverage_simulations/relative_stopping.py`).
"""

import numpy as np
import pytest
from scipy import stats

from resolab.stats import STOPPING_LEVEL, STOPPING_MIN_BLOCKS, bootstrap
from resolab.stats.coverage.stopping import WidthStoppingRule, pair, simulate, typical_width

ROUNDS = 120
FALSE_ALARM = 1e-3
"""Chance that runs whose final intervals hold the truth in 95 % would fail this test, were its seed another one."""
LEAST_HELD = float(stats.binom.ppf(FALSE_ALARM, ROUNDS, 0.95)) / ROUNDS
"""106 of 120: of intervals that held it in 85 %, 81 in 100 such tests would fail."""


@pytest.fixture(autouse=True)
def fewer_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "RESAMPLES_COUNT", 400)


@pytest.mark.parametrize("kind", ["skewed", "bimodal", "tied", "loads"])
def test_the_final_interval_holds_the_truth_as_often_as_it_says(kind: str) -> None:
    rule = WidthStoppingRule(STOPPING_LEVEL, STOPPING_MIN_BLOCKS, cap_blocks=40, every_blocks=4)
    (stopped,) = simulate(kind, [typical_width(kind, 20, rule.level, rounds=40)], rule, ROUNDS)
    assert stopped.held_ratio >= LEAST_HELD
    # It stopped by the rule, neither at its first look nor at its last.
    assert 14 < stopped.blocks_mean < 32
    assert stopped.capped_ratio < 0.25


def test_a_rule_that_looks_too_early_at_too_low_a_level_is_found_out() -> None:
    rule = WidthStoppingRule(0.75, 8, cap_blocks=40, every_blocks=1)
    (stopped,) = simulate("skewed", [typical_width("skewed", 15, rule.level, rounds=40)], rule, ROUNDS)
    assert stopped.held_ratio < LEAST_HELD


def test_a_wider_interval_is_reached_sooner_and_the_cap_ends_what_is_not_reached() -> None:
    rule = WidthStoppingRule(STOPPING_LEVEL, STOPPING_MIN_BLOCKS, cap_blocks=16, every_blocks=2)
    assert rule.looks() == [12, 14, 16]
    wide, narrow = simulate("loads", [10.0, 1e-6], rule, rounds=3)
    assert (wide.blocks_mean, wide.capped_ratio) == (12, 0)
    assert (narrow.blocks_mean, narrow.capped_ratio) == (16, 1)


def test_pairs_share_their_blocks() -> None:
    treatment, baseline = pair("loads", np.random.default_rng(3), 2_000)
    assert np.corrcoef(np.log(treatment.low), np.log(baseline.low))[0, 1] > 0.3
