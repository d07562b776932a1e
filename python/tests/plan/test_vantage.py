"""The same plan and name give the same seed anywhere, and another name another order."""

import pytest
from synthetic_dataset import make_plan

from resolab.basics.errors import ConfigurationError
from resolab.plan import block_order, stream_seed
from resolab.plan.live.vantage import move_to_vantage, place_at
from resolab.plan.model import HIGHEST_SEED

PLAN = make_plan()
LIVE = make_plan("""
name = "live"
question = "q?"
seed = 7
[network]
kind = "live"
vantage_point = "Home"
operator_url = "https://study.resolab.test/"
[sites]
urls = ["https://one.test/", "https://two.test/"]
[resolvers.quick]
doudp = "198.18.8.1"
[factors]
resolver = ["quick"]
dns_transport = ["doudp"]
browser = ["firefox"]
[baseline]
resolver = "quick"
""")


def test_a_name_gives_a_seed_that_does_not_change_between_versions() -> None:
    assert move_to_vantage(PLAN, "fra").seed == 5167923104044311157
    assert move_to_vantage(PLAN, "fra").seed == stream_seed(7, "vantage_point", "fra") & HIGHEST_SEED


def test_every_seed_is_one_a_plan_may_have() -> None:
    seeds = [move_to_vantage(PLAN, f"v{number}").seed for number in range(200)]
    assert len(set(seeds)) == 200
    assert all(0 <= seed <= HIGHEST_SEED for seed in seeds)
    assert max(stream_seed(7, "vantage_point", f"v{number}") for number in range(200)) > HIGHEST_SEED


def test_orders_differ_between_vantage_points_and_conditions_do_not() -> None:
    plans = [move_to_vantage(PLAN, name) for name in ("lab", "fra", "syd")]
    orders = [[one.id for one in block_order(plan, plan.seed, 0)] for plan in plans]
    assert len({tuple(order) for order in orders}) == 3
    assert len({frozenset(order) for order in orders}) == 1


def test_the_lab_keeps_the_plan_as_it_is() -> None:
    assert move_to_vantage(PLAN, "lab") == PLAN
    assert PLAN.vantage_point == "lab"


def test_a_plan_says_where_it_is_run() -> None:
    assert move_to_vantage(PLAN, "fra").vantage_point == "fra"
    live = move_to_vantage(LIVE, "fra")
    assert live.live is not None
    assert (live.vantage_point, live.live.vantage_point, live.at) == ("fra", "fra", "lab")
    assert LIVE.vantage_point == "Home"


def test_placing_keeps_the_seed_and_takes_names_that_plans_had() -> None:
    assert (place_at(PLAN, "fra").seed, place_at(PLAN, "fra").vantage_point) == (7, "fra")
    assert place_at(LIVE, "Home") == LIVE


@pytest.mark.parametrize("name", ["", "Fra", "a.b", "a/b", "..", "-a", "a b", "f\n", "x" * 41, "ü"])
def test_what_could_not_name_a_subject_or_a_file_is_refused(name: str) -> None:
    with pytest.raises(ConfigurationError, match="a vantage point's name has small letters"):
        move_to_vantage(PLAN, name)


def test_nothing_live_is_run_in_the_lab() -> None:
    with pytest.raises(ConfigurationError, match="'lab' is where nothing is live"):
        move_to_vantage(LIVE, "lab")
