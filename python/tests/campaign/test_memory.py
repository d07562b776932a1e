"""A campaign's own process does not grow with its trials."""

import gc
import io
import tracemalloc
from dataclasses import replace
from pathlib import Path

import pytest
from killable import PretendedTestbed
from rich.console import Console

from resolab.campaign import ground, manifests, run_campaign
from resolab.plan import Condition, load_plan
from resolab.plan.corpus import PROJECT_ROOT
from resolab.records import BrowserName
from resolab.testbed import TrialResult

FIRST_COUNT, LAST_COUNT = 100, 500
PER_TRIAL_BYTES = 1000
"""The progress bar keeps some 250 for its pace, of its last thousand trials; one record kept takes more than this."""


class Watched(PretendedTestbed):
    """Says how much memory is in use after some trials and after many more."""

    in_use_bytes: tuple[int, ...] = ()
    trials_count = 0

    async def run_trial(self, condition: Condition, trial_id: str) -> TrialResult:
        self._trial_s = 0.0
        Watched.trials_count += 1
        if Watched.trials_count in (FIRST_COUNT, LAST_COUNT):
            gc.collect()
            Watched.in_use_bytes += (tracemalloc.get_traced_memory()[0],)
        return await super().run_trial(condition, trial_id)


def test_memory_is_flat_over_many_trials(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(manifests, "_VERSION_OF", {browser: lambda: "1" for browser in BrowserName})
    monkeypatch.setattr(manifests, "_core_version", lambda: "1")
    monkeypatch.setattr(ground, "_core_sha256", lambda: None)
    plan = load_plan(PROJECT_ROOT / "plans" / "quick.toml")
    blocks = LAST_COUNT // len(plan.conditions()) + 1
    tracemalloc.start()
    try:
        run_campaign(replace(plan, blocks=blocks), tmp_path / "out", Console(file=io.StringIO()), Watched)
    finally:
        tracemalloc.stop()
    first, last = Watched.in_use_bytes
    assert (last - first) / (LAST_COUNT - FIRST_COUNT) < PER_TRIAL_BYTES
