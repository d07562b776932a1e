"""Several paths share the trials of a block; when their links are late too often, or fail, nothing is lost."""

import asyncio
import io
from collections import Counter
from collections.abc import Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from resolab.basics.errors import ResolabError
from resolab.basics.records import BrowserKind, PageLoadRecord, TrialFlag
from resolab.campaign import manifests, resume_campaign, run_campaign
from resolab.campaign import run as campaign_run
from resolab.campaign.loop import INSTRUMENT_FAILURES_LIMIT
from resolab.campaign.overload import LATE_LIMIT_COUNT, WINDOW_COUNT, LatenessWindow
from resolab.campaign.schedule import schedule
from resolab.plan import Condition, Plan, parse_plan
from resolab.store import RunStatus, StopReason, load_manifest
from resolab.trials.trial_result import TrialResult

PLAN = """
name = "several"
question = "Does it matter who runs a trial?"
seed = 3
blocks = 4
[factors]
page = ["example", "wikipedia"]
profile = ["fiber", "4g"]
dns_transport = ["doudp", "doh"]
http_version = ["h3"]
requested_handshake_mode = ["full", "zero_rtt"]
[resolver_path]
doudp = "native"
doh = "native"
[baseline]
dns_transport = "doudp"
[instrument]
paths = {paths}
"""
NOTHING: list[str] = []
Scene = Callable[[int, str], list[str]]
"""What a trial comes to, by the number of its path and its identifier: its flags, or an error raised."""


class Lab:
    """Makes testbeds that only do as if, and remembers who ran what beside whom."""

    def __init__(self, scene: Scene = lambda _number, _trial: NOTHING) -> None:
        self.scene = scene
        self.standing: set[int] = set()
        self.running: dict[int, str] = {}
        self.begun: list[tuple[int, str]] = []
        self.beside: Counter[int] = Counter()

    @asynccontextmanager
    async def make(self, plan: Plan, seed: int, folder: Path, number: int) -> Any:
        assert number not in self.standing
        self.standing.add(number)
        try:
            yield Pretended(self, number)
        finally:
            self.standing.remove(number)


class Pretended:
    def __init__(self, lab: Lab, number: int) -> None:
        self._lab, self._number = lab, number

    async def run_trial(self, condition: Condition, trial_id: str) -> TrialResult:
        lab = self._lab
        assert self._number not in lab.running  # One load at a time per path.
        lab.running[self._number] = trial_id
        lab.begun.append((self._number, trial_id))
        assert len({one.partition("-")[0] for one in lab.running.values()}) == 1  # All of one block.
        lab.beside[len(lab.running)] += 1
        try:
            # Of unlike lengths, so that paths get out of step.
            await asyncio.sleep(0.0005 * (1 + int(trial_id[-1]) % 3))
            flags = lab.scene(self._number, trial_id)
        finally:
            del lab.running[self._number]
        plt_ms = 100.0 + int(trial_id[-3:]) + (5.0 if condition.dns_transport == "doh" else 0.0)
        return TrialResult([load_of(condition, plt_ms)], flags, failed=False)


def load_of(condition: Condition, plt_ms: float) -> PageLoadRecord:
    return PageLoadRecord(
        url="https://example.resolab.test/",
        browser="chromium",
        browser_version="1",
        measured=True,
        requested_handshake_mode=condition.requested_handshake_mode,
        plt_ms=plt_ms,
        limit_ms=30_000.0,
    )


@pytest.fixture(autouse=True)
def _without_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(manifests, "_VERSION_OF", {browser: lambda: "1" for browser in BrowserKind})
    monkeypatch.setattr(manifests, "_core_version", lambda: "1")


def plan_of(paths: int, more: str = "", *, blocks: int = 4) -> Plan:
    text = PLAN.replace("{paths}", str(paths)).replace("blocks = 4", f"blocks = {blocks}") + more
    return parse_plan(text, "several.toml", None)


def run(lab: Lab, plan: Plan, folder: Path) -> str:
    output = io.StringIO()
    run_campaign(plan, folder, Console(file=output, width=200), lab.make)
    return output.getvalue()


def trials_of(folder: Path) -> list[str]:
    return sorted(file.stem for file in (folder / "trials").glob("*.jsonl"))


def planned(plan: Plan) -> list[str]:
    return [trial.trial_id for trial in schedule(plan, plan.seed, plan.blocks)]


@pytest.mark.parametrize("paths", [1, 2, 3])
def test_trials_begin_in_the_seeded_order_block_after_block_on_all_paths(tmp_path: Path, paths: int) -> None:
    lab, plan = Lab(), plan_of(paths)
    output = run(lab, plan, tmp_path / "d")
    assert [trial for _, trial in lab.begun] == planned(plan) == trials_of(tmp_path / "d")
    assert max(lab.beside) == paths
    assert lab.beside[paths] >= (len(lab.begun) - 4 * (paths - 1)) / 2
    assert {number for number, _ in lab.begun} == set(range(1, paths + 1))
    assert (f"{paths} at a time" in output) == (paths > 1)
    manifest = load_manifest(tmp_path / "d")
    assert (manifest.status, manifest.paths, manifest.warnings) == (RunStatus.FINISHED, paths, [])


def test_there_are_no_more_paths_than_conditions(tmp_path: Path) -> None:
    lab = Lab()
    run(lab, plan_of(16, '[[exclude]]\npage = ["wikipedia"]\n'), tmp_path / "d")
    assert max(lab.beside) == 8


def test_links_that_are_late_too_often_leave_one_path_for_the_rest_and_for_a_resume(tmp_path: Path) -> None:
    lab, plan = Lab(), plan_of(2)
    lab.scene = lambda number, trial: [TrialFlag.LATENESS_EXCEEDED] if len(lab.standing) > 1 else []
    folder = tmp_path / "d"
    output = run(lab, plan, folder)
    # Those that made it too many, and the one in flight beside the last of them.
    assert sum(number == 2 for number, _ in lab.begun) <= LATE_LIMIT_COUNT
    alone = lab.begun[LATE_LIMIT_COUNT + 2 :]
    assert {number for number, _ in alone} == {1}
    assert trials_of(folder) == planned(plan)
    manifest = load_manifest(folder)
    (warning,) = manifest.warnings
    assert manifest.paths == 1
    assert "one path instead of 2: 11 of the last 11 trials had links later than 0.5 ms (p99)" in warning
    assert output.count(warning) == 1
    (folder / "trials" / f"{planned(plan)[-1]}.jsonl").unlink()
    (folder / "trials" / f"{planned(plan)[-2]}.jsonl").unlink()
    again = Lab()
    resume_campaign(folder, Console(file=io.StringIO()), again.make)
    assert again.begun == [(1, planned(plan)[-2]), (1, planned(plan)[-1])]
    assert load_manifest(folder).warnings == [warning]


def test_more_than_a_tenth_of_the_last_hundred_is_too_late() -> None:
    overload = LatenessWindow()
    for number in range(10 * WINDOW_COUNT):
        overload.add(late=number % 10 == 0)
        assert not overload.is_reached
    overload.add(late=True)
    overload.add(late=True)
    assert overload.is_reached
    assert overload.text(0.5) == "11 of the last 100 trials had links later than 0.5 ms (p99)"


def test_other_flags_do_not_take_paths_away(tmp_path: Path) -> None:
    lab = Lab(lambda _number, _trial: [TrialFlag.NO_LOOKUP_IN_LOAD])
    run(lab, plan_of(2), tmp_path / "d")
    assert load_manifest(tmp_path / "d").paths == 2


def test_one_path_that_is_late_stays_without_a_word(tmp_path: Path) -> None:
    lab = Lab(lambda _number, _trial: [TrialFlag.LATENESS_EXCEEDED])
    output = run(lab, plan_of(1), tmp_path / "d")
    assert load_manifest(tmp_path / "d").warnings == []
    assert "instead of" not in output


def test_a_trial_the_instrument_lost_is_repeated_and_its_neighbours_are_kept(tmp_path: Path) -> None:
    lost = Counter[str]()

    def scene(_number: int, trial: str) -> list[str]:
        if trial in {"b000-t003", "b002-t015"} and not lost[trial]:
            lost[trial] += 1
            raise ResolabError("the edge is gone")
        return []

    lab, plan = Lab(scene), plan_of(2)
    output = run(lab, plan, tmp_path / "d")
    assert trials_of(tmp_path / "d") == planned(plan)
    begun = Counter(trial for _, trial in lab.begun)
    assert {trial: count for trial, count in begun.items() if count > 1} == {"b000-t003": 2, "b002-t015": 2}
    assert load_manifest(tmp_path / "d").instrument_failures_count == 2
    assert output.count("all testbeds are made anew and the trial repeated") == 2


def test_a_path_that_always_fails_ends_the_campaign_which_can_be_resumed(tmp_path: Path) -> None:
    def scene(number: int, _trial: str) -> list[str]:
        if number == 2:
            raise ResolabError("no such device")
        return []

    lab, plan, folder = Lab(scene), plan_of(2), tmp_path / "d"
    with pytest.raises(ResolabError, match="no such device"):
        run(lab, plan, folder)
    assert sum(number == 2 for number, _ in lab.begun) == INSTRUMENT_FAILURES_LIMIT
    # What the other path had in flight was let end.
    assert trials_of(folder) == sorted(trial for number, trial in lab.begun if number == 1)
    assert not list((folder / "trials").glob("*.partial"))
    assert load_manifest(folder).stop_reason is StopReason.INTERRUPTED
    well = Lab()
    resume_campaign(folder, Console(file=io.StringIO()), well.make)
    assert trials_of(folder) == planned(plan)


def test_a_path_that_cannot_be_made_leaves_no_dataset(tmp_path: Path) -> None:
    lab = Lab()

    @asynccontextmanager
    async def make(plan: Plan, seed: int, folder: Path, number: int) -> Any:
        if number == 2:
            raise ResolabError("no memory")
        async with lab.make(plan, seed, folder, number) as testbed:
            yield testbed

    with pytest.raises(ResolabError, match="no memory"):
        run_campaign(plan_of(2), tmp_path / "d", Console(file=io.StringIO()), make)
    assert not (tmp_path / "d").exists()
    assert (lab.begun, lab.standing) == ([], set())


def test_looks_at_the_intervals_come_after_whole_blocks_whichever_trial_ends_last(tmp_path: Path) -> None:
    stop = "[stop]\nci_width_ms = 100.0\nmin_blocks = 5\n"
    ends = []
    for paths in (1, 3):
        lab = Lab()
        run(lab, plan_of(paths, stop, blocks=9), tmp_path / f"d{paths}")
        manifest = load_manifest(tmp_path / f"d{paths}")
        ends.append((manifest.stop_reason, manifest.blocks_finished_count, manifest.widths_reached))
        assert manifest.trials_finished_count == 16 * (manifest.blocks_finished_count or 0)
    assert ends[0] == ends[1]
    assert ends[0][0] is StopReason.PRECISION
    assert 5 <= (ends[0][1] or 0) < 9


def test_testbeds_side_by_side_write_into_no_common_file(tmp_path: Path) -> None:
    plan = parse_plan(
        PLAN.replace("{paths}", "2") + "netlog = true\nfailure_screenshots = true\n", "several.toml", None
    )
    folders = [campaign_run.make_trial_runner(plan, 1, tmp_path, number).lab.kept.netlog_folder for number in (1, 2, 3)]
    assert folders == [tmp_path / "netlogs", tmp_path / "netlogs" / "path2", tmp_path / "netlogs" / "path3"]
