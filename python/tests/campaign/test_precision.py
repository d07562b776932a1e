"""The stopping rule looks at the numbers the report shows."""

from dataclasses import replace
from pathlib import Path

import pytest
from synthetic_dataset import PLAN_TEXT, Faults, make_dataset, make_plan

from resolab.campaign.precision import FixedWidthRule
from resolab.campaign.remaining_trials import RemainingTrials
from resolab.plan import Plan, StopSettings
from resolab.report.findings.comparisons import comparison_results
from resolab.store import build_tables, find_finished_trials, load_manifest, open_dataset, read_trial
from resolab.store.outcomes import LCP, PLT, PLT_SUM, RESPONSE_START, LoadOutcome

NAMED = """
[[comparison]]
name = "DoQ"
treatment = { dns_transport = ["doq"], page = ["example"] }
baseline = { dns_transport = "doudp" }
[[repeat]]
dns_transport = ["doudp"]
"""


def precision_of(plan: Plan, folder: Path, stop: StopSettings, outcome: LoadOutcome = PLT) -> FixedWidthRule:
    precision = FixedWidthRule(plan, stop, plan.seed, outcome)
    for file in find_finished_trials(folder).values():
        records = list(read_trial(file))
        precision.add(records[0].condition, records[0].block, records)
    return precision


@pytest.mark.parametrize("outcome", [PLT, PLT_SUM, RESPONSE_START, LCP], ids=lambda one: one.name)
@pytest.mark.parametrize("extra", ["", NAMED])
def test_a_look_has_the_widths_of_the_reports_intervals(tmp_path: Path, extra: str, outcome: LoadOutcome) -> None:
    plan = make_plan(PLAN_TEXT + extra)
    folder = make_dataset(tmp_path / "d", plan, Faults(timeouts=True, sums=True, lost=True, paints=True))
    build_tables(folder)
    with open_dataset(folder) as dataset:
        results = comparison_results(
            replace(plan, stop=StopSettings(ci_width_ms=1.0)), dataset.measured_loads(), outcome
        )
    in_ms = precision_of(plan, folder, StopSettings(ci_width_ms=1.0), outcome).look(plan.blocks)
    in_ratio = precision_of(plan, folder, StopSettings(ci_width_ratio=1.0), outcome).look(plan.blocks)
    assert len(in_ms.widths) == len(results) == (4 if extra else 20)
    for result, ms, ratio in zip(results, in_ms.widths, in_ratio.widths, strict=True):
        assert (ms.treatment, ms.ci_width_ratio, ratio.ci_width_ms) == (result.comparison.treatment.id, None, None)
        assert ms.ci_width_ms == finite(result.difference_ms.ci_width)
        assert ratio.ci_width_ratio == finite(result.change.ci_width)
    assert not in_ms.reached


def finite(width: float | None) -> float | None:
    return None if width is None or width == float("inf") else width


def test_a_campaign_is_precise_when_the_widest_interval_is(tmp_path: Path) -> None:
    plan = make_plan()
    folder = make_dataset(tmp_path / "d", plan)
    look = precision_of(plan, folder, StopSettings(ci_width_ms=1.0, min_blocks=plan.blocks)).look(plan.blocks)
    widest = max(one.ci_width_ms or 0.0 for one in look.widths)
    assert look.widest == widest
    assert (
        precision_of(plan, folder, StopSettings(ci_width_ms=widest, min_blocks=plan.blocks)).look(plan.blocks).reached
    )
    short = precision_of(plan, folder, StopSettings(ci_width_ms=widest * 0.99, min_blocks=plan.blocks))
    assert not short.look(plan.blocks).reached
    assert short.estimate_blocks(short.look(plan.blocks), cap=100) == plan.blocks + 1
    half = precision_of(plan, folder, StopSettings(ci_width_ms=widest / 2, min_blocks=plan.blocks))
    assert half.estimate_blocks(half.look(plan.blocks), cap=100) == 4 * plan.blocks
    assert half.estimate_blocks(half.look(plan.blocks), cap=20) == 20
    assert half.text(half.look(plan.blocks)).startswith(f"widest interval {widest:.3g} ms of {widest / 2:g} ms asked")


def test_looks_come_from_the_fewest_blocks_on_at_their_distance() -> None:
    stop = StopSettings(ci_width_ms=1.0, min_blocks=4, check_every_blocks=3)
    assert [blocks for blocks in range(12) if stop.is_due(blocks)] == [4, 7, 10]
    # The last block has a look of its own.
    assert [stop.count_looks(blocks) for blocks in (0, 3, 4, 7, 8)] == [0, 1, 1, 2, 3]


def test_a_look_at_nothing_is_unbounded() -> None:
    look = FixedWidthRule(make_plan(), StopSettings(ci_width_ms=1.0), 1).look(0)
    assert look.widest == float("inf")
    assert not look.reached


def test_few_blocks_are_never_narrow_enough(tmp_path: Path) -> None:
    plan = make_plan()
    folder = make_dataset(tmp_path / "d", plan)
    reached = {
        least: precision_of(plan, folder, StopSettings(ci_width_ms=5_000.0, min_blocks=least)).look(plan.blocks).reached
        for least in (plan.blocks, plan.blocks + 1)
    }
    assert reached == {plan.blocks: True, plan.blocks + 1: False}


@pytest.mark.parametrize(("whole", "looked_at"), [(2, None), (3, 3), (5, 3)])
def test_who_goes_on_between_two_looks_knows_the_last(tmp_path: Path, whole: int, looked_at: int | None) -> None:
    plan = make_plan(PLAN_TEXT + "[stop]\nci_width_ms = 1.0\nmin_blocks = 3\ncheck_every_blocks = 3\n")
    folder = make_dataset(tmp_path / "d", plan, Faults(trials_count=24 * whole + 1))
    looks = RemainingTrials(plan, load_manifest(folder), find_finished_trials(folder))
    assert (None if looks.last is None else looks.last.blocks) == looked_at
