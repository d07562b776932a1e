"""The schedule is the same after every kill, and blocks stay even."""

import itertools

from hypothesis import given, settings
from hypothesis import strategies as st

from resolab.campaign.schedule import list_remaining, schedule
from resolab.plan import load_plan
from resolab.plan.corpus import PROJECT_ROOT

PLAN = load_plan(PROJECT_ROOT / "plans" / "quick.toml")


def test_each_block_holds_each_condition_once():
    planned = schedule(PLAN, PLAN.seed, 3)
    conditions = sorted(condition.id for condition in PLAN.conditions())
    for _, block in itertools.groupby(planned, key=lambda trial: trial.block):
        assert sorted(trial.condition.id for trial in block) == conditions


def test_blocks_differ_in_order_and_seeds_too():
    first, second = (schedule(PLAN, seed, 2) for seed in (1, 2))
    half = len(first) // 2
    orders = [[trial.condition.id for trial in part] for part in (first[:half], first[half:], second[:half])]
    assert orders[0] != orders[1]
    assert orders[0] != orders[2]


@given(st.integers(0, 48), st.integers(0, 2**63 - 1))
@settings(max_examples=25)
def test_a_campaign_stopped_anywhere_goes_on_where_it_was(count, seed):
    planned = schedule(PLAN, seed, 2)
    finished = {trial.trial_id for trial in planned[:count]}
    assert list_remaining(schedule(PLAN, seed, 2), finished) == planned[count:]
