"""A study that is no page load is one folder: plan, trials, resume, fleet, merge, comparison and report know no name of it."""

import csv
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from study_world import PLAN, coins  # noqa: F401 - a fixture by its name

from resolab.basics.errors import ConfigurationError, ResolabError
from resolab.basics.records import StudyValueRecord, TrialRecord
from resolab.campaign import manifests, provenance, resume_campaign, run_campaign
from resolab.campaign.blocks.one_block import run_block
from resolab.campaign.expectation import estimate_duration_s
from resolab.campaign.run import make_trial_runner
from resolab.cli.main import main
from resolab.extras.fleet.job import FleetRun
from resolab.extras.fleet.results.assemble import assemble
from resolab.extras.fleet.results.bundle import pack
from resolab.extras.fleet.vantage_run import read_vantage_plan
from resolab.plan import Corpus, Plan, parse_plan
from resolab.report import build_report
from resolab.store import ensure_tables, find_finished_trials, load_manifest, open_dataset
from resolab.store.outcomes import Contribution, find_outcome
from resolab.store.study_values import count_failed_trials, describe_failed_trials, read_study_values
from resolab.store.trials import read_trial
from resolab.trials.study.runner import StudyRunner, list_values
from resolab.trials.study.study_trials import StudyResult

pytestmark = pytest.mark.usefixtures("coins", "programs_away")
CLOCKS = {"monotonic_ns", "wall_time_unix_ns", "load_average_1min"}


@pytest.fixture
def programs_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """No resolab-core takes part."""
    monkeypatch.setattr(manifests, "_core_version", lambda: "1")
    monkeypatch.setattr(provenance, "_core_sha256", lambda: None)


def plan_of(text: str = PLAN) -> Plan:
    return parse_plan(text, "coins.toml", Corpus.from_project())


def run(folder: Path, make: Any = make_trial_runner, text: str = PLAN) -> Path:
    run_campaign(plan_of(text), folder, Console(quiet=True), make)
    return folder


def trials(folder: Path) -> dict[str, list[dict[str, Any]]]:
    return {
        name: [
            {key: getattr(record, key) for key in record.__struct_fields__ if key not in CLOCKS}
            for record in read_trial(file)
        ]
        for name, file in find_finished_trials(folder).items()
    }


class KilledError(BaseException):
    """Stands for the end of the process."""


def make_runner_killed_after(count: int) -> Any:
    class KilledRunner(StudyRunner):
        left = count

        async def run_trial(self, condition: Any, trial_id: str) -> Any:
            KilledRunner.left -= 1
            if KilledRunner.left < 0:
                raise KilledError
            return await super().run_trial(condition, trial_id)

    return lambda plan, seed, folder, number: KilledRunner(plan, Corpus.from_project(plan.own_pages), seed)


def test_its_plan_has_conditions_and_a_duration() -> None:
    plan = plan_of()
    ids = ["fiber.dot.once", "fiber.dot.twice", "fiber.doq.once", "fiber.doq.twice"]
    assert [one.id for one in plan.conditions()] == ids
    assert {(one.study, one.study_arm) for one in plan.conditions()} == {("coins", "once"), ("coins", "twice")}
    assert plan.analysis.primary == "coins.last"
    assert estimate_duration_s(plan, Corpus.from_project()) == pytest.approx(9 * 4 * 0.63, abs=1.0)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (PLAN.replace('name = "coins"', 'name = "dice"'), "study.name: must be one of .*coins.*, not 'dice'"),
        (PLAN.replace("coins_count = 3", "coins_count = 10"), "study.coins_count: must be a whole number from 1 to 9"),
        (PLAN.replace("coins_count = 3", "dice_count = 1"), "study.dice_count: unknown key; allowed: name, coins_count"),
        (PLAN.replace('"twice"]', '"thrice"]'), "factors.study_arm: unknown level 'thrice'; allowed: once, twice"),
        (PLAN.replace('study_arm = ["once", "twice"]\n', ""), "factors.study_arm: is missing: name arms of the study"),
        (PLAN.replace("study_arm = [", 'resolver_cache = ["hit"]\nstudy_arm = ['), "resolver_cache: is no factor of the study"),
        (PLAN.replace("study_arm = [", 'study_case = ["silver"]\nstudy_arm = ['), "silver never falls twice"),
        (PLAN.replace('kind = "study"', 'kind = "exchange"'), "study: has no meaning with kind = 'exchange'"),
        (PLAN + '[analysis]\nprimary = "plt"\n', "'plt' is no outcome of these trials; allowed: coins.last, coins.first"),
    ],
)  # fmt: skip
def test_a_wrong_plan_says_what_is_allowed(text: str, problem: str) -> None:
    with pytest.raises(ConfigurationError, match=problem):
        plan_of(text)


def test_a_trial_leaves_its_values_and_a_failure_its_limit(tmp_path: Path) -> None:
    folder = run(tmp_path / "dataset")
    head, *_ = read_trial(next(iter(find_finished_trials(folder).values())))
    assert isinstance(head, TrialRecord)
    assert (head.kind, head.study, head.study_case, head.browser) == ("study", "coins", None, None)
    values = {
        one.name: one for one in read_trial(folder / "trials/b000-t000.jsonl") if isinstance(one, StudyValueRecord)
    }
    assert set(values) == {"last_ms", "first_ms", "heads_ratio"}
    assert values["heads_ratio"].limit_ms is None
    last = find_outcome("coins.last").contribution_of_records([*values.values()])
    assert last == Contribution(values["last_ms"].value, 9_000.0)
    ensure_tables(folder)
    with open_dataset(folder) as dataset:
        loads = dataset.measured_loads()
        failures = dataset.failures()
        counts, values_of_conditions = count_failed_trials(dataset), read_study_values(dataset)
    assert len(loads) == 36
    failed = [one for one in loads if one.failure is not None]
    assert sum(one.count for one in failures) == len(failed)
    assert counts == Counter(one.condition for one in failed)
    assert sum(counts.values()) + sum(map(len, values_of_conditions.values())) == 36
    assert all(one.times_ms == {"coins.last": None, "coins.first": None} for one in failed)
    whole = next(one for one in loads if one.failure is None)
    assert set(whole.times_ms) == {"coins.last", "coins.first"}


def test_a_success_without_a_declared_time_is_the_studys_fault() -> None:
    with pytest.raises(ResolabError, match="without a failure and without first_ms"):
        list_values(StudyResult({"last_ms": 1.0}, 9.0), ["last_ms", "first_ms"])


def test_failed_trials_are_told_with_the_conditions_that_have_no_other() -> None:
    assert describe_failed_trials({}, ["a"]) == ""
    assert describe_failed_trials({"a": 1}, ["a"]) == " Failed, without times: 1 trial."
    told = describe_failed_trials({"a": 1, "b": 6}, ["a"])
    assert told.endswith("Failed, without times: 7 trials. Without a successful trial: b.")


def test_a_block_has_one_seed_for_all_its_arms(tmp_path: Path) -> None:
    folder = run(tmp_path / "dataset")
    ensure_tables(folder)
    with open_dataset(folder) as dataset:
        rows = [row for found in read_study_values(dataset).values() for row in found]
    drawn: dict[int, set[float]] = {}
    for row in rows:
        drawn.setdefault(row.block, set()).add(row.values["heads_ratio"])
    assert len(drawn) == len(set.union(*drawn.values())) == 9


def test_killed_and_resumed_it_leaves_what_an_unkilled_run_leaves(tmp_path: Path) -> None:
    whole = run(tmp_path / "whole")
    killed = tmp_path / "killed"
    with pytest.raises(KilledError):
        run(killed, make_runner_killed_after(14))
    assert len(find_finished_trials(killed)) == 14
    resume_campaign(killed, Console(quiet=True))
    assert trials(killed) == trials(whole)
    assert load_manifest(killed).resume_count == 1


def test_a_fleet_of_two_makes_one_dataset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provenance, "_commit", lambda: "c0ffee")
    plan = plan_of()
    ground = provenance.describe_provenance(plan, Corpus.from_project(), manifests.versions_now(plan))
    fleet = FleetRun(
        id="fleet-1", plan_name=plan.name, plan_text=PLAN, seed=plan.seed, blocks=2, ground=ground,
        vantages=["fra", "syd"], created_unix_ns=1,
    )  # fmt: skip
    bundles: dict[str, dict[int, Path]] = {}
    for vantage in fleet.vantages:
        for block in range(2):
            spool = tmp_path / vantage / str(block)
            run_block(
                read_vantage_plan(fleet, vantage), spool, Console(quiet=True), block, make_trial_runner,
                fleet_run=fleet.id,
            )  # fmt: skip
            file = tmp_path / f"{vantage}-{block}.tar.gz"
            pack(spool, block, file)
            bundles.setdefault(vantage, {})[block] = file
    assemble(fleet, bundles, tmp_path / "dataset")
    build_report(tmp_path / "dataset")
    assert len(find_finished_trials(tmp_path / "dataset")) == 2 * 2 * 4
    assert "Heads or tails" in (tmp_path / "dataset/report/index.html").read_text("utf-8")


def test_its_report_has_intervals_the_closed_form_and_its_own_section(tmp_path: Path) -> None:
    folder = run(tmp_path / "dataset", text=PLAN.replace("blocks = 9", "blocks = 12"))
    build_report(folder)
    page = (folder / "report" / "index.html").read_text("utf-8")
    assert "Heads or tails, by trial." in page
    assert "time to the last coin" in page
    assert "Other outcomes of the same trials" in page
    assert "the browser told" not in page
    assert 'id="dns"' not in page
    with (folder / "report/figures/closed_form.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {row["outcome"] for row in rows} == {"coins.last"}
    assert len(rows) == 2
    # Three coins more, a round trip of 14.77 ms each.
    assert all(float(row["round_trips_ms"]) == pytest.approx(44.3, abs=0.1) for row in rows)
    assert all(float(row["ci_low_ms"]) < 44.3 + 1 < float(row["ci_high_ms"]) + 1 for row in rows)


def test_two_datasets_are_compared_and_other_trials_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = run(tmp_path / "first"), run(tmp_path / "second")
    assert main(["compare", str(first), str(second), "--outcome", "coins.first"]) == 0
    assert "no outcome" not in capsys.readouterr().err
    assert main(["compare", str(first), str(second), "--outcome", "coins.third"]) == 3
    assert "choose one of coins.last, coins.first" in capsys.readouterr().err
    expected = PLAN + EXPECTATION
    third, fourth = run(tmp_path / "third", text=expected), run(tmp_path / "fourth", text=expected)
    capsys.readouterr()
    assert main(["compare", "--check", str(third), str(fourth)]) == 0
    assert "twice takes longer" in capsys.readouterr().out


EXPECTATION = """
[[expect]]
name = "twice takes longer"
kind = "not_slower_than"
margin_ms = 5
outcome = "coins.last"
treatment = { study_arm = ["twice"] }
baseline = { study_arm = "once" }
"""


def test_a_stopping_rule_and_an_expectation_decide_by_its_outcome(tmp_path: Path) -> None:
    deciding = """
[analysis]
primary = "coins.first"
[stop]
rule = "confidence_sequence"
ci_width_ms = 4.0
decided_by = ["width"]
"""
    folder = run(tmp_path / "dataset", text=PLAN.replace("blocks = 9", "blocks = 40") + EXPECTATION + deciding)
    manifest = load_manifest(folder)
    assert manifest.stop_reason == "decided"
    assert 8 <= (manifest.blocks_finished_count or 0) < 40
    # Twice as long is slower than the margin.
    assert main(["check", str(folder)]) == 1
