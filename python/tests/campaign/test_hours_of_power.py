"""Hours that comparisons of a plan take, by the trials of a pilot."""

from dataclasses import replace
from pathlib import Path

import pytest
from synthetic_dataset import PLAN_TEXT, make_dataset, make_plan

from resolab.basics.errors import ConfigurationError
from resolab.campaign.power import PowerAims, plan_power
from resolab.plan import Corpus, load_plan
from resolab.store import build_tables, open_dataset


def test_hours_of_a_row_are_those_of_all_paths_as_the_totals(tmp_path: Path) -> None:
    folder = tmp_path / "d"
    plan = make_plan(PLAN_TEXT.replace('dns_transport = ["doudp", "doh", "doq"]', 'dns_transport = ["doudp", "doh"]'))
    make_dataset(folder, plan)
    build_tables(folder)
    several = replace(plan, instrument=replace(plan.instrument, paths=4))
    with open_dataset(folder) as pilot:
        one, four = (plan_power(of, pilot, PowerAims(effect_ms=20.0)) for of in (plan, several))
    hours = [[answer.hours for row in found.rows for answer in row.answers] for found in (one, four)]
    assert all(hours[0])
    assert [each and each / 4 for each in hours[0]] == pytest.approx(hours[1])


def test_a_pilot_of_another_kind_of_trial_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "d"
    make_dataset(folder, make_plan(PLAN_TEXT))
    build_tables(folder)
    plan = load_plan(Path(__file__).parents[3] / "plans" / "exchange-handshakes.toml", Corpus.from_project())
    with open_dataset(folder) as pilot, pytest.raises(ConfigurationError, match="the kind page_load, and the plan"):
        plan_power(plan, pilot, PowerAims(effect_ms=20.0))


def test_a_network_missing_from_the_pilot_leaves_its_total_unknown(tmp_path: Path) -> None:
    folder = tmp_path / "d"
    margin = "[analysis]\nequivalence_margin_rtts = 0.25\n"
    make_dataset(folder, make_plan(PLAN_TEXT))
    build_tables(folder)
    plan = make_plan(PLAN_TEXT.replace('["fiber", "4g"]', '["fiber", "dsl"]') + margin)
    with open_dataset(folder) as pilot:
        found = plan_power(plan, pilot, PowerAims())
    assert found.totals["within the plan's margin"] is None
