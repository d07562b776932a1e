"""What decides, once more without the loads one may doubt."""

from pathlib import Path

import pytest
from synthetic_dataset import PLAN_TEXT, Faults, make_dataset, make_plan

from resolab.plan import Estimand
from resolab.report.findings.analysis import analyse
from resolab.report.findings.estimands import choose_deciding
from resolab.report.findings.findings import Findings, Sensitivity
from resolab.report.findings.sensitivity import ALL, CHOICES, REACHED, UNFLAGGED
from resolab.report.parts.sensitivity import sensitivity_table
from resolab.stats import Estimate, Method
from resolab.store import build_tables, open_dataset
from resolab.store.rows import LoadRow


def findings_of(folder: Path, analysis: str = "", faults: Faults | None = None) -> Findings:
    make_dataset(folder, make_plan(PLAN_TEXT + analysis), faults)
    build_tables(folder)
    with open_dataset(folder) as dataset:
        return analyse(dataset)


def test_without_doubtful_loads_every_choice_takes_the_same_pairs(tmp_path: Path) -> None:
    found = findings_of(tmp_path / "d")
    assert found.sensitivities
    assert all(one.changes_nothing and not one.turns for one in found.sensitivities)
    assert {row[-1] for row in sensitivity_table(found).table.rows} == {"the same pairs"}


def test_flagged_trials_and_missed_handshakes_are_left_out_by_their_choice_alone(tmp_path: Path) -> None:
    found = findings_of(tmp_path / "d", faults=Faults(late=True, rejected_early_data=True))
    pairs = {name: sum(one.estimates[name].n for one in found.sensitivities) for name in (ALL, UNFLAGGED, REACHED)}
    assert pairs[ALL] == 6 * len(found.sensitivities)
    assert pairs[UNFLAGGED] < pairs[ALL]
    assert pairs[REACHED] < pairs[ALL]


def test_loads_that_failed_before_any_handshake_missed_none(tmp_path: Path) -> None:
    found = findings_of(tmp_path / "d", faults=Faults(timeouts=True))
    for one in found.sensitivities:
        assert one.estimates[REACHED] == one.estimates[ALL]
    assert any(one.estimates[ALL].censored_count for one in found.sensitivities)


@pytest.mark.parametrize(
    ("asked", "happened", "reached"),
    [
        (("cold", "zero_rtt"), ("cold", "zero_rtt"), True),
        (("cold", "zero_rtt"), ("cold", "resumed"), False),
        (("cold", "full"), ("warm", "full"), False),
        (("warm", "full"), ("warm", "resumed"), True),  # a warm look-up asks for no handshake
        (("cold", "full"), (None, None), True),  # over Do53, or nobody saw it
    ],
)
def test_a_look_up_that_missed_its_handshake_missed_one(
    asked: tuple[str, str], happened: tuple[str | None, str | None], reached: bool
) -> None:
    load = LoadRow(
        trial_id="b0", block=0, condition="c", page="example", profile="4g", dns_transport="doq", http_version="h3",
        requested_handshake_mode="full", resolver_path="stub", loaded=True, handshake_mode="full", limit_ms=30_000.0,
        failure=None, times_ms={}, requested_dns_connection_state=asked[0], requested_dns_handshake_mode=asked[1],
        dns_connection_state=happened[0], dns_handshake_mode=happened[1],
    )  # fmt: skip
    assert CHOICES[REACHED](load) is reached


def test_a_choice_that_decides_less_is_no_other_sign() -> None:
    def estimate(low: float, high: float) -> Estimate:
        return Estimate((low + high) / 2, (low + high) / 2, low, high, 8, 0, 0.95, Method.ORDER_STATISTIC)

    comparison = make_plan(PLAN_TEXT).comparisons()[0]
    fewer = Sensitivity(comparison, {ALL: estimate(1, 3), UNFLAGGED: estimate(-1, 4)})
    other = Sensitivity(comparison, {ALL: estimate(1, 3), UNFLAGGED: estimate(-4, -1)})
    assert (fewer.turns, fewer.decides_by_some) == (False, True)
    assert (other.turns, other.decides_by_some) == (True, False)


@pytest.mark.parametrize("estimand", list(Estimand))
def test_all_loads_give_the_estimate_that_decides(tmp_path: Path, estimand: Estimand) -> None:
    found = findings_of(tmp_path / "d", f'[analysis]\nprimary = "response_start"\nestimand = "{estimand}"\n')
    assert found.primary.outcome.name == "response_start"
    told = {one.condition.id: choose_deciding(comparison, estimand) for one, comparison in found.primary.compared}
    assert {one.comparison.treatment.id: one.estimates[ALL] for one in found.sensitivities} == told
    unit = "ratio" if estimand is Estimand.RELATIVE_CHANGE else "ms"
    rows = sensitivity_table(found).rows
    assert all(f"value_{unit}" in row for row in rows)
    assert len(rows) == 3 * len(found.sensitivities)
