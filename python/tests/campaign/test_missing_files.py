"""What a plan asks to be kept lies where the browsers can write it; what is not there is said, and not named in the dataset.

For: folders and the warning. Not for: what is in the files (`evidence`).
"""

import io
import json
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from test_paths_at_a_time import Lab, Pretended, plan_of

from resolab.basics.records import BrowserKind
from resolab.campaign import manifests, run, run_campaign
from resolab.lab.artifacts import TrialFiles
from resolab.plan import Condition, Plan
from resolab.trials.trial_result import TrialResult


def test_no_folder_of_what_is_kept_has_dots_in_its_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, Any] = {}
    runner = {plan_of(1).kind: lambda *_words, **options: given.update(options)}
    monkeypatch.setattr(run, "RUNNERS", runner)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    plan = plan_of(1)
    plan = replace(plan, instrument=replace(plan.instrument, netlog=True, pcap=True, key_log=True))
    run.make_trial_runner(plan, 1, Path("../there/d"), 1)
    kept = given["kept"]
    for folder in (kept.netlog_folder, kept.capture_folder, kept.key_log_folder):
        assert folder.is_relative_to(tmp_path / "there" / "d")
        assert ".." not in folder.parts


def test_a_log_that_was_asked_for_and_is_not_there_is_said_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(manifests, "_VERSION_OF", {browser: lambda: "1" for browser in BrowserKind})
    monkeypatch.setattr(manifests, "_core_version", lambda: "1")
    folder = tmp_path / "d"

    class Forgetful(Pretended):
        async def run_trial(self, condition: Condition, trial_id: str) -> TrialResult:
            there = folder / "there.keys"
            there.touch()
            result = await super().run_trial(condition, trial_id)
            return replace(result, files=TrialFiles(key_log_file=there, netlog_file=folder / "none.json"))

    @asynccontextmanager
    async def make(_plan: Plan, _seed: int, _folder: Path, number: int) -> Any:
        yield Forgetful(Lab(), number)

    output = io.StringIO()
    run_campaign(plan_of(1), folder, Console(file=output, width=400), make)
    said = output.getvalue()
    assert said.count("warning: b000-t000: not written") == said.count("not written") == 1
    assert str(folder / "none.json") in said
    for file in (folder / "trials").glob("*.jsonl"):
        end = json.loads(file.read_text().splitlines()[-1])
        assert (end["key_log_file"], end["netlog_file"]) == ("there.keys", None)
