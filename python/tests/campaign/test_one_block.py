"""Blocks one by one leave what a whole run leaves, and what stands between them is what is whole."""

import asyncio
import io
import json
from collections.abc import Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from resolab.basics.errors import ConfigurationError, MachineError, ResolabError
from resolab.basics.records import BrowserKind, PageLoadRecord
from resolab.campaign import loop, manifests, provenance, resume_campaign, run_campaign
from resolab.campaign.blocks.one_block import BlockOutcome, carry_out_block, run_block
from resolab.campaign.blocks.testbed_pool import TestbedPool
from resolab.campaign.stop_request import StopRequest
from resolab.cli.main import main
from resolab.plan import Condition, Corpus, Plan, parse_plan
from resolab.plan.live.vantage import move_to_vantage
from resolab.store import RunStatus, StopReason, load_manifest
from resolab.trials.trial_result import TrialResult

CLOCKS = {"monotonic_ns", "wall_time_unix_ns", "load_average_1min"}
PLAN = """
name = "blocks"
question = "Does it matter who gives the blocks?"
seed = 5
blocks = 4
[factors]
page = ["example"]
profile = ["fiber", "4g"]
dns_transport = ["doudp", "doh"]
http_version = ["h3"]
requested_handshake_mode = ["full"]
[resolver_path]
doudp = "native"
doh = "native"
[baseline]
dns_transport = "doudp"
[instrument]
paths = {paths}
"""
STOPPING = """
[stop]
ci_width_ms = 600000.0
min_blocks = 8
check_every_blocks = 1
"""


def well(_number: int, _trial: str) -> None:
    """Let every trial end."""


class Lab:
    """Makes testbeds that only do as if, and counts those that stand."""

    def __init__(self, scene: Callable[[int, str], None] = well) -> None:
        self.scene = scene
        self.standing: list[int] = []
        self.begun: list[int] = []
        self.ran: list[str] = []

    @asynccontextmanager
    async def make(self, plan: Plan, seed: int, folder: Path, number: int) -> Any:
        self.begun.append(number)
        self.standing.append(number)
        try:
            yield Pretended(self, number)
        finally:
            self.standing.remove(number)


class Pretended:
    def __init__(self, lab: Lab, number: int) -> None:
        self._lab, self._number = lab, number

    async def run_trial(self, condition: Condition, trial_id: str) -> TrialResult:
        await asyncio.sleep(0)
        self._lab.scene(self._number, trial_id)
        self._lab.ran.append(trial_id)
        load = PageLoadRecord(
            url="https://example.resolab.test/", browser="chromium", browser_version="1", measured=True,
            requested_handshake_mode=condition.requested_handshake_mode,
            handshake_mode=condition.requested_handshake_mode, plt_ms=float(len(condition.id)), limit_ms=30_000.0,
        )  # fmt: skip
        return TrialResult([load], [], failed=False)


@pytest.fixture(autouse=True)
def without_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(manifests, "_VERSION_OF", {browser: lambda: "1" for browser in BrowserKind})
    monkeypatch.setattr(manifests, "_core_version", lambda: "1")
    monkeypatch.setattr(provenance, "_core_sha256", lambda: None)
    monkeypatch.setattr(provenance, "_commit", lambda: "c0ffee")
    monkeypatch.setattr(loop, "other_paths", lambda: 0)


def plan_of(*, paths: int = 1, more: str = "", vantage: str = "fra", blocks: int = 4) -> Plan:
    plan = parse_plan(PLAN.format(paths=paths) + more, "blocks.toml", Corpus.from_project())
    return move_to_vantage(replace(plan, blocks=blocks), vantage)


def quiet() -> Console:
    return Console(file=io.StringIO())


def one(plan: Plan, folder: Path, block: int, lab: Lab | None = None, **more: Any) -> BlockOutcome:
    return run_block(plan, folder, quiet(), block, (lab or Lab()).make, **more)


def trials(folder: Path) -> dict[str, list[dict[str, Any]]]:
    return {
        file.name: [
            {key: value for key, value in json.loads(line).items() if key not in CLOCKS}
            for line in file.read_text().splitlines()
        ]
        for file in (folder / "trials").iterdir()
    }


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [2, 0, 3, 1]])
def test_blocks_in_any_order_leave_the_trials_of_a_run(tmp_path: Path, order: list[int]) -> None:
    plan = plan_of()
    run_campaign(plan, tmp_path / "run", quiet(), Lab().make)
    for block in order:
        assert one(plan, tmp_path / "blocks", block) == BlockOutcome(4, 4)
    assert trials(tmp_path / "blocks") == trials(tmp_path / "run")
    ours, theirs = load_manifest(tmp_path / "blocks"), load_manifest(tmp_path / "run")
    assert (ours.status, ours.stop_reason) == (RunStatus.FINISHED, StopReason.CAP)
    assert (ours.resume_count, len(ours.starts), ours.warnings) == (0, 1, [])
    for key in ("seed", "blocks", "vantage_point", "plan_text", "trials_planned_count", "trials_finished_count"):
        assert getattr(ours, key) == getattr(theirs, key)


def test_between_blocks_the_manifest_says_how_far_it_is(tmp_path: Path) -> None:
    one(plan_of(), tmp_path / "d", 2, fleet_run="r1")
    manifest = load_manifest(tmp_path / "d")
    assert (manifest.trials_finished_count, manifest.trials_planned_count) == (4, 16)
    assert (manifest.blocks_finished_count, manifest.status) == (1, RunStatus.INTERRUPTED)
    assert (manifest.vantage_point, manifest.fleet_run) == ("fra", "r1")


def test_finished_trials_are_not_repeated_and_a_second_beginning_is_told(tmp_path: Path) -> None:
    plan, folder = plan_of(), tmp_path / "d"
    one(plan, folder, 1)
    kept = (folder / "trials" / "b001-t002.jsonl").read_bytes()
    for position in (0, 3):
        (folder / "trials" / f"b001-t{position:03}.jsonl").unlink()
    (folder / "trials" / "b001-t003.jsonl.partial").write_text("cut")
    lab = Lab()
    assert one(plan, folder, 1, lab) == BlockOutcome(4, 4)
    assert lab.ran == ["b001-t000", "b001-t003"]
    assert (folder / "trials" / "b001-t002.jsonl").read_bytes() == kept
    assert not list((folder / "trials").glob("*.partial"))
    manifest = load_manifest(folder)
    assert (manifest.resume_count, len(manifest.starts)) == (1, 2)
    lab = Lab()
    assert one(plan, folder, 1, lab) == BlockOutcome(4, 4)
    assert lab.begun == []


def test_a_stopping_rule_is_not_looked_at(tmp_path: Path) -> None:
    plan = plan_of(more=STOPPING, blocks=10)
    run_campaign(plan, tmp_path / "run", quiet(), Lab().make)
    assert load_manifest(tmp_path / "run").blocks_finished_count == 8
    for block in range(10):
        assert not one(plan, tmp_path / "d", block).interrupted
    manifest = load_manifest(tmp_path / "d")
    assert (manifest.trials_finished_count, manifest.widths_reached) == (40, [])


def test_another_run_and_a_changed_page_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "d"
    one(plan_of(), folder, 0)
    with pytest.raises(ConfigurationError, match="its dataset has another seed"):
        one(plan_of(vantage="syd"), folder, 1)
    with pytest.raises(ConfigurationError, match="its dataset has another run of a fleet"):
        one(plan_of(), folder, 1, fleet_run="r2")
    with pytest.raises(ConfigurationError, match="could not run block 4 of blocks: it has blocks 0 to 3"):
        one(plan_of(), folder, 4)
    monkeypatch.setattr(provenance, "_folder_sha256", lambda _folder: "another")
    with pytest.raises(ConfigurationError, match="page 'example' has changed since the run began"):
        one(plan_of(), folder, 1)
    assert len(trials(folder)) == 4


def test_other_programs_are_told_of_at_their_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "d"
    one(plan_of(), folder, 0)
    monkeypatch.setattr(provenance, "_commit", lambda: "decade")
    one(plan_of(), folder, 1)
    manifest = load_manifest(folder)
    assert manifest.warnings == ["from resume 1 on, the code's git commit is decade; before it was c0ffee"]
    assert len(manifest.starts) == 2


def test_a_block_that_could_not_begin_leaves_no_dataset(tmp_path: Path) -> None:
    @asynccontextmanager
    async def nowhere(*_: object) -> Any:
        raise MachineError("there is no path here")
        yield

    with pytest.raises(MachineError):
        run_block(plan_of(), tmp_path / "d", quiet(), 0, nowhere)
    assert not (tmp_path / "d").exists()


def test_a_run_at_a_vantage_point_resumes_there(tmp_path: Path) -> None:
    plan, folder = plan_of(), tmp_path / "d"
    run_campaign(plan, folder, quiet(), Lab().make)
    before = trials(folder)
    assert {lines[0]["vantage_point"] for lines in before.values()} == {"fra"}
    for file in (folder / "trials").glob("b002-*"):
        file.unlink()
    resume_campaign(folder, quiet(), Lab().make)
    assert trials(folder) == before
    assert load_manifest(folder).seed == plan.seed


def test_a_dataset_of_a_fleet_does_not_resume(tmp_path: Path) -> None:
    one(plan_of(), tmp_path / "d", 0, fleet_run="r1")
    with pytest.raises(ConfigurationError, match="it is of run r1 of a fleet"):
        resume_campaign(tmp_path / "d", quiet(), Lab().make)


def several(lab: Lab, plan: Plan, folder: Path, blocks: list[int], stop: StopRequest | None = None) -> list[list[int]]:
    """Run blocks in one process; returns what stood after each of them."""
    stood = []

    async def carry_out() -> None:
        beds = TestbedPool(lab.make)
        try:
            for block in blocks:
                await carry_out_block(plan, folder, quiet(), block, beds, stop=stop)
                stood.append(list(lab.standing))
        finally:
            await beds.close()

    asyncio.run(carry_out())
    assert lab.standing == []
    return stood


@pytest.mark.parametrize("paths", [1, 2])
def test_testbeds_stand_from_block_to_block(tmp_path: Path, paths: int) -> None:
    lab = Lab()
    stood = several(lab, plan_of(paths=paths), tmp_path / "d", [0, 1, 2, 3])
    assert stood == [list(range(1, paths + 1))] * 4
    assert lab.begun == list(range(1, paths + 1))
    assert len(lab.ran) == 16


def test_after_a_failure_of_the_instrument_all_are_made_anew(tmp_path: Path) -> None:
    failures = ["b001-t001"]

    def scene(_number: int, trial: str) -> None:
        if trial in failures:
            failures.remove(trial)
            raise ResolabError("the browser is gone")

    lab = Lab(scene)
    several(lab, plan_of(paths=2), tmp_path / "d", [0, 1, 2])
    assert sorted(lab.begun) == [1, 1, 2, 2]
    assert sorted(lab.ran) == sorted(set(lab.ran))
    assert load_manifest(tmp_path / "d").instrument_failures_count == 1


def test_what_fails_for_good_does_not_stand_on(tmp_path: Path) -> None:
    def scene(_number: int, _trial: str) -> None:
        raise ResolabError("nothing works")

    lab = Lab(scene)
    with pytest.raises(ResolabError, match="nothing works"):
        several(lab, plan_of(), tmp_path / "d", [0])
    assert lab.begun == [1] * loop.INSTRUMENT_FAILURES_LIMIT


def test_a_path_that_is_not_needed_any_more_does_not_stand_on(tmp_path: Path) -> None:
    lab = Lab()
    folder = tmp_path / "d"

    async def carry_out() -> None:
        beds = TestbedPool(lab.make)
        for paths in (2, 1):
            loans = [beds(plan_of(), 1, folder, number) for number in range(1, paths + 1)]
            for loan in loans:
                await loan.__aenter__()
            for loan in reversed(loans):
                await loan.__aexit__(None, None, None)
        assert lab.standing == [1]
        assert beds.paths_count() == 1
        async with beds(plan_of(vantage="syd"), 1, folder, 1):
            assert lab.standing == [1]
        assert lab.begun == [1, 2, 1]
        await beds.close()

    asyncio.run(carry_out())
    assert lab.standing == []


def test_the_own_paths_are_nobody_elses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lab, said = Lab(), io.StringIO()
    monkeypatch.setattr(loop, "other_paths", lambda: len(lab.standing))

    async def carry_out() -> None:
        beds = TestbedPool(lab.make)
        for block in range(2):
            await carry_out_block(plan_of(), tmp_path / "d", Console(file=said), block, beds)
        await beds.close()

    asyncio.run(carry_out())
    assert "warning" not in said.getvalue()


def test_who_is_asked_to_stop_begins_no_trial_more(tmp_path: Path) -> None:
    stop = StopRequest()

    def scene(_number: int, trial: str) -> None:
        stop.requested = stop.requested or trial == "b000-t001"

    lab = Lab(scene)
    several(lab, plan_of(), tmp_path / "d", [0], stop)
    assert lab.ran == ["b000-t000", "b000-t001"]
    assert load_manifest(tmp_path / "d").status is RunStatus.INTERRUPTED


LIVE = """
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
dot = "tls://198.18.8.1"
[factors]
resolver = ["quick"]
dns_transport = ["doudp", "dot"]
browser = ["firefox"]
[baseline]
dns_transport = "doudp"
"""


@pytest.mark.parametrize("vantage", [None, "syd"])
@pytest.mark.parametrize("older", [False, True])
def test_a_live_run_resumes_where_it_was_begun(tmp_path: Path, vantage: str | None, older: bool) -> None:
    """An older dataset does not have the key, and its plan says where it was begun."""
    plan = parse_plan(LIVE, "live.toml", Corpus.from_project())
    if vantage is not None:
        plan = move_to_vantage(plan, vantage)
        older = False
    folder = tmp_path / "d"
    run_campaign(plan, folder, quiet(), Lab().make)
    if older:
        text = json.loads((folder / "manifest.json").read_text())
        del text["vantage_point"]
        (folder / "manifest.json").write_text(json.dumps(text))
    before = trials(folder)
    assert {lines[0]["vantage_point"] for lines in before.values()} == {vantage or "Home"}
    (folder / "trials" / "b001-t001.jsonl").unlink()
    resume_campaign(folder, quiet(), Lab().make)
    assert trials(folder) == before
    live = load_manifest(folder).live
    assert live is not None
    assert live.vantage_point == (vantage or "Home")


def test_the_command_line_runs_a_plan_at_a_vantage_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Plan] = []

    def only_ask(plan: Plan, *_: object) -> Any:
        asked.append(plan)
        raise MachineError("that is all")

    monkeypatch.setattr("resolab.campaign.run_campaign", only_ask)
    (tmp_path / "plan.toml").write_text(PLAN.format(paths=1))
    for words in (["--vantage", "fra"], ["--vantage", "fra", "--seed", "8"], []):
        assert main(["run", str(tmp_path / "plan.toml"), "--out", str(tmp_path / "out"), *words]) == 4
    assert [(one.vantage_point, one.seed) for one in asked] == [
        ("fra", plan_of().seed),
        ("fra", move_to_vantage(replace(plan_of(vantage="lab"), seed=8), "fra").seed),
        ("lab", 5),
    ]
    assert main(["run", str(tmp_path / "plan.toml"), "--vantage", "a/b"]) == 3
