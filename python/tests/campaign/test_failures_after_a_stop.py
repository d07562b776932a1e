"""What counts as a failure of the instrument and what does not: a stop that was asked for, a disk that is full.

For: the campaign's loop. Not for: how instruments fail (`testbed`).
"""

import asyncio
import io
import os
import signal
from collections.abc import Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from test_paths_at_a_time import Lab, Pretended, plan_of, run, trials_of

from resolab.basics.errors import ResolabError, StorageError
from resolab.basics.records import BrowserKind
from resolab.campaign import manifests, resume_campaign, run_campaign
from resolab.plan import Condition, Plan
from resolab.store import RunStatus, load_manifest
from resolab.trials.trial_result import TrialResult


@pytest.fixture(autouse=True)
def _without_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(manifests, "_VERSION_OF", {browser: lambda: "1" for browser in BrowserKind})
    monkeypatch.setattr(manifests, "_core_version", lambda: "1")


def failing_at(trial_id: str, what: Callable[[], None]) -> Lab:
    def scene(_number: int, trial: str) -> list[str]:
        if trial == trial_id:
            what()
        return []

    return Lab(scene)


def test_what_fails_after_a_stop_was_asked_for_is_not_counted(tmp_path: Path) -> None:
    class Interrupted(Pretended):
        async def run_trial(self, condition: Condition, trial_id: str) -> TrialResult:
            if trial_id == "b000-t003":
                os.kill(os.getpid(), signal.SIGINT)
                await asyncio.sleep(0.05)  # in which the campaign takes it in
                raise ResolabError("the query ended with exit code 130")
            return await super().run_trial(condition, trial_id)

    @asynccontextmanager
    async def make(_plan: Plan, _seed: int, _folder: Path, number: int) -> Any:
        yield Interrupted(Lab(), number)

    output = io.StringIO()
    run_campaign(plan_of(1), tmp_path / "d", Console(file=output, width=200), make)
    manifest = load_manifest(tmp_path / "d")
    assert (manifest.instrument_failures_count, manifest.status) == (0, RunStatus.INTERRUPTED)
    assert trials_of(tmp_path / "d") == ["b000-t000", "b000-t001", "b000-t002"]
    assert "made anew" not in output.getvalue()


def test_a_full_disk_ends_the_campaign_at_once(tmp_path: Path) -> None:
    def full() -> None:
        raise StorageError("failed to write the trial: No space left on device")

    lab = failing_at("b000-t003", full)
    with pytest.raises(StorageError):
        run(lab, plan_of(1), tmp_path / "d")
    assert [trial for _, trial in lab.begun].count("b000-t003") == 1
    assert load_manifest(tmp_path / "d").instrument_failures_count == 0
    resume_campaign(tmp_path / "d", Console(file=io.StringIO()), Lab().make)
    assert load_manifest(tmp_path / "d").status is RunStatus.FINISHED


def test_to_resume_what_is_finished_counts_nothing(tmp_path: Path) -> None:
    run(Lab(), plan_of(1), tmp_path / "d")
    before = load_manifest(tmp_path / "d")
    again = Lab()
    outcome = resume_campaign(tmp_path / "d", Console(file=io.StringIO()), again.make)
    assert (again.begun, outcome.interrupted) == ([], False)
    assert load_manifest(tmp_path / "d") == before
    # A trial that was taken away is run again, and that counts.
    lost = trials_of(tmp_path / "d")[0]
    (tmp_path / "d" / "trials" / f"{lost}.jsonl").unlink()
    resume_campaign(tmp_path / "d", Console(file=io.StringIO()), again.make)
    assert [trial for _, trial in again.begun] == [lost]
    assert load_manifest(tmp_path / "d").resume_count == 1
