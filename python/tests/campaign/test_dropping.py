"""A campaign that decides comparison by comparison: which trials it has, alone, side by side, and resumed."""

import io
from pathlib import Path
from typing import Self

import pytest
from rich.console import Console
from test_paths_at_a_time import Lab, load_of, run, trials_of

from resolab.basics.errors import ResolabError
from resolab.basics.records import BrowserKind
from resolab.campaign import manifests, resume_campaign
from resolab.campaign.remaining_trials import RemainingTrials
from resolab.campaign.schedule import schedule
from resolab.plan import Condition, DecisionCriterion, Plan, parse_plan
from resolab.report import build_report
from resolab.store import Manifest, RunStatus, StopReason, find_finished_trials, load_manifest, read_trial
from resolab.trials.trial_result import TrialResult

PLAN = """
name = "dropping"
question = "What is left out?"
seed = 3
blocks = 30
[factors]
page = ["example", "wikipedia"]
profile = ["fiber"]
dns_transport = ["doudp", "doh", "dot"]
http_version = ["h3"]
requested_handshake_mode = ["full"]
[resolver_path]
doudp = "native"
doh = "native"
dot = "stub"
[baseline]
dns_transport = "doudp"
[stop]
rule = "confidence_sequence"
ci_width_ms = 9.0
[instrument]
paths = {paths}
"""


@pytest.fixture(autouse=True)
def _without_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(manifests, "_VERSION_OF", {browser: lambda: "1" for browser in BrowserKind})
    monkeypatch.setattr(manifests, "_core_version", lambda: "1")


def plan_of(paths: int = 1, *, blocks: int = 30) -> Plan:
    text = PLAN.replace("{paths}", str(paths)).replace("blocks = 30", f"blocks = {blocks}")
    return parse_plan(text, "dropping.toml", None)


def plt_of(condition: Condition, trial_id: str) -> float:
    """DoH costs 20 ms on one page; whatever else differs swings, on the other page more and more."""
    block = int(trial_id[1:4])
    far = 20.0 if condition.dns_transport == "doh" and condition.page == "example" else 0.0
    size = 4.0 if condition.page == "example" else 30.0 if condition.dns_transport == "doh" else 6.0
    swing = 0.0 if condition.dns_transport == "doudp" else size * ((block * 7) % 11 - 5) / 5
    return 100.0 + block + far + swing


class Loads(Lab):
    """Trials whose time depends on condition and block alone."""

    def __init__(self, fail_at: str = "") -> None:
        super().__init__()
        self.fail_at = fail_at

    def make(self, plan: Plan, seed: int, folder: Path, number: int) -> "Loading":  # type: ignore[override]
        return Loading(self, number)


class Loading:
    def __init__(self, lab: Loads, number: int) -> None:
        self._lab, self._number = lab, number

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        return

    async def run_trial(self, condition: Condition, trial_id: str) -> TrialResult:
        self._lab.begun.append((self._number, trial_id))
        if trial_id == self._lab.fail_at:
            raise ResolabError("cut")
        return TrialResult([load_of(condition, plt_of(condition, trial_id))], [], failed=False)


def conditions_by_block(folder: Path) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for file in find_finished_trials(folder).values():
        head = next(iter(read_trial(file)))
        found.setdefault(head.block, []).append(head.condition)  # type: ignore[union-attr]
    return found


def kept(manifest: Manifest) -> tuple[object, ...]:
    return (
        manifest.status, manifest.stop_reason, manifest.decisions, manifest.widths_reached,
        manifest.blocks_finished_count, manifest.trials_finished_count,
    )  # fmt: skip


def test_blocks_hold_both_arms_of_open_comparisons_in_the_order_they_always_had(tmp_path: Path) -> None:
    said = run(Loads(), plan_of(), tmp_path / "d")
    manifest, blocks = load_manifest(tmp_path / "d"), conditions_by_block(tmp_path / "d")
    decided = {one.treatment: one.after_blocks for one in manifest.decisions}
    assert decided["example.fiber.doh.h3.full"] == 8
    wide = decided["wikipedia.fiber.dot.h3.full"]
    assert wide is not None
    assert 8 < wide < 30
    assert decided["wikipedia.fiber.doh.h3.full"] is None
    reasons = {one.treatment: one.reasons for one in manifest.decisions}
    assert reasons["wikipedia.fiber.dot.h3.full"] == [DecisionCriterion.WIDTH]
    full = schedule(plan_of(), 3, 30)
    for block in range(30):
        still = [one for one in manifest.decisions if one.after_blocks is None or one.after_blocks > block]
        needed = {arm for one in still for arm in (one.treatment, one.baseline)}
        order = [one.condition.id for one in full if one.block == block and one.condition.id in needed]
        assert blocks[block] == order
    assert set(trials_of(tmp_path / "d")) < {one.trial_id for one in full}
    assert (manifest.status, manifest.stop_reason) == (RunStatus.FINISHED, StopReason.CAP)
    assert manifest.blocks_finished_count == 30
    assert "comparisons decided" in said


@pytest.mark.parametrize("paths", [1, 3])
def test_resumed_after_any_trial_it_ends_as_it_would_have(tmp_path: Path, paths: int) -> None:
    run(Loads(), plan_of(), tmp_path / "whole")
    trials = trials_of(tmp_path / "whole")
    for number, cut in enumerate([*trials[5::17], trials[-1]]):
        folder = tmp_path / f"cut{number}"
        with pytest.raises(ResolabError, match="cut"):
            run(Loads(fail_at=cut), plan_of(paths), folder)
        assert load_manifest(folder).stop_reason is StopReason.INTERRUPTED
        resume_campaign(folder, Console(file=io.StringIO()), Loads().make)  # type: ignore[arg-type]
        assert trials_of(folder) == trials
        assert kept(load_manifest(folder)) == kept(load_manifest(tmp_path / "whole"))


def test_it_ends_when_all_is_decided_and_a_resume_adds_nothing(tmp_path: Path) -> None:
    text = PLAN.replace("{paths}", "1").replace("9.0", "90.0").replace("blocks = 30", "blocks = 50")
    plan = parse_plan(text, "dropping.toml", None)
    run(Loads(), plan, tmp_path / "d")
    manifest = load_manifest(tmp_path / "d")
    assert (manifest.status, manifest.stop_reason) == (RunStatus.FINISHED, StopReason.DECIDED)
    assert manifest.blocks_finished_count == max(one.after_blocks or 99 for one in manifest.decisions) < 50
    lab = Loads()
    resume_campaign(tmp_path / "d", Console(file=io.StringIO()), lab.make)  # type: ignore[arg-type]
    assert lab.begun == []
    again = RemainingTrials(plan, manifest, find_finished_trials(tmp_path / "d"))
    assert again.is_enough
    assert again.left == []


def test_the_report_says_when_and_why_and_has_the_sequences_intervals(tmp_path: Path) -> None:
    run(Loads(), plan_of(), tmp_path / "d")
    page = build_report(tmp_path / "d").read_text("utf-8")
    assert "When each comparison was decided" in page
    assert "not decided" in page
    assert "it is as narrow as asked" in page
    assert "confidence sequence, valid at any look" in page
    assert "of 4 comparisons decided" in page


def test_the_plans_primary_outcome_and_margin_decide(tmp_path: Path) -> None:
    text = PLAN.replace("{paths}", "1").replace("blocks = 30", "blocks = 12").replace("ci_width_ms = 9.0\n", "")
    margin = "[analysis]\nequivalence_margin_ms = 8.0\n"
    run(Loads(), parse_plan(text + margin, "dropping.toml", None), tmp_path / "plt")
    reasons = {one.treatment: one.reasons for one in load_manifest(tmp_path / "plt").decisions}
    assert reasons["example.fiber.dot.h3.full"] == [DecisionCriterion.EQUIVALENCE]
    assert reasons["example.fiber.doh.h3.full"] == [DecisionCriterion.DIFFERENCE]
    # These loads have no first byte: all that is known of it is that it took no less than the limit.
    first_byte = margin + 'primary = "response_start"\n'
    run(Loads(), parse_plan(text + first_byte, "dropping.toml", None), tmp_path / "start")
    assert all(
        one.after_blocks is None and one.pairs_count == 12 for one in load_manifest(tmp_path / "start").decisions
    )
