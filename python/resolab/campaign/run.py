"""The campaign's loop: start the testbed, run what the schedule still holds, write each trial when it ends.

For: running, stopping and resuming. Not for: what is in a trial (testbed) or in a file (store).

Whatever happens, a trial's file exists only when the trial is whole, and the manifest says how far the campaign came.
"""

import asyncio
import os
import shutil
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec
from rich.console import Console

from resolab.campaign import manifests
from resolab.campaign.lock import dataset_lock
from resolab.campaign.progress import CampaignProgress
from resolab.campaign.schedule import PlannedTrial, remaining, schedule
from resolab.campaign.stopping import StopRequest
from resolab.errors import ResolabError
from resolab.plan import Corpus, Plan, parse_plan
from resolab.records import FORMAT_VERSION, TrialEndRecord, TrialRecord
from resolab.store import (
    Manifest,
    RunStatus,
    TrialWriter,
    create_dataset_folder,
    finished_trials,
    load_manifest,
    save_manifest,
)
from resolab.testbed import Testbed, TrialResult

INSTRUMENT_FAILURES_LIMIT = 3
"""Consecutive failures of the instrument itself after which a campaign gives up."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a campaign ended."""

    manifest: Manifest

    @property
    def interrupted(self) -> bool:
        """Whether trials are left to do."""
        return self.manifest.status is not RunStatus.FINISHED


def run_campaign(plan: Plan, folder: Path, console: Console) -> Outcome:
    """Run a plan into a new dataset folder; leaves no folder when not even the testbed could be started."""
    existed = folder.exists()
    create_dataset_folder(folder)
    try:
        with dataset_lock(folder):
            manifest = manifests.new_manifest(plan, Corpus.of_project(), sys.argv)
            return asyncio.run(_Campaign(plan, manifest, folder, console).run())
    finally:
        if not (folder / "manifest.json").exists():
            _remove_unstarted(folder, existed=existed)


def resume_campaign(folder: Path, console: Console) -> Outcome:
    """Finish a dataset from where it stands, with the plan, seed and blocks it was begun with."""
    manifest = load_manifest(folder)
    corpus = Corpus.of_project()
    plan = parse_plan(manifest.plan_text, str(folder / "plan.toml"), corpus)
    plan = replace(plan, seed=manifest.seed, blocks=manifest.blocks)
    with dataset_lock(folder):
        manifests.check_same_ground(manifest, plan, corpus)
        for partial in (folder / "trials").glob("*.partial"):
            partial.unlink()
        manifest = msgspec.structs.replace(manifest, resume_count=manifest.resume_count + 1, status=RunStatus.RUNNING)
        return asyncio.run(_Campaign(plan, manifest, folder, console).run())


def _remove_unstarted(folder: Path, *, existed: bool) -> None:
    for part in folder.iterdir() if existed else [folder]:
        if part.is_dir():
            shutil.rmtree(part, ignore_errors=True)
        else:
            part.unlink(missing_ok=True)


class _Campaign:
    def __init__(self, plan: Plan, manifest: Manifest, folder: Path, console: Console) -> None:
        self._plan, self._manifest, self._folder = plan, manifest, folder
        self._console = console
        self._stop = StopRequest()
        self._instrument_failures = 0

    async def run(self) -> Outcome:
        """Run what is left; the manifest ends as finished or interrupted."""
        planned = schedule(self._plan, self._manifest.seed, self._manifest.blocks)
        left = remaining(planned, finished_trials(self._folder).keys())
        with self._stop.on_signals(self._say):
            try:
                if left:
                    await self._run_trials(left, planned_count=len(planned))
            except asyncio.CancelledError:
                self._say("the trial in flight was abandoned")
            finally:
                self._save_end()
        return Outcome(self._manifest)

    async def _run_trials(self, left: list[PlannedTrial], *, planned_count: int) -> None:
        done = planned_count - len(left)
        self._say(f"{len(left)} of {planned_count} trials to run into {self._folder}")
        with CampaignProgress(planned_count, done, self._console) as progress:
            while left and not self._stop.requested:
                async with self._testbed() as testbed:
                    # Saved only now: a machine that cannot run the testbed leaves no dataset behind.
                    save_manifest(self._folder, self._manifest)
                    await self._use(testbed, left, progress)

    def _testbed(self) -> Testbed:
        instrument = self._plan.instrument
        return Testbed(
            self._plan,
            Corpus.of_project(),
            self._manifest.seed,
            screenshot_folder=self._folder / "screenshots" if instrument.failure_screenshots else None,
            netlog_folder=self._folder / "netlogs" if instrument.netlog else None,
        )

    async def _use(self, testbed: Testbed, left: list[PlannedTrial], progress: CampaignProgress) -> None:
        """Run trials on one testbed until all are done, somebody stops it, or the instrument fails."""
        while left and not self._stop.requested:
            try:
                result = await self._run_trial(testbed, left[0])
            except ResolabError as error:
                self._instrument_failures += 1
                if self._instrument_failures >= INSTRUMENT_FAILURES_LIMIT:
                    raise
                self._manifest = msgspec.structs.replace(
                    self._manifest, instrument_failures_count=self._manifest.instrument_failures_count + 1
                )
                progress.say(f"{left[0].trial_id}: {error}; the testbed is made anew and the trial repeated")
                return
            self._instrument_failures = 0
            left.pop(0)
            progress.trial_done(failed=result.failed, flagged=bool(result.flags))

    async def _run_trial(self, testbed: Testbed, trial: PlannedTrial) -> TrialResult:
        head = _head(trial)
        with TrialWriter(self._folder, head) as writer:
            result = await testbed.run_trial(trial.condition, trial.trial_id)
            for record in result.records:
                writer.write(record)
            writer.finish(TrialEndRecord(trial_id=trial.trial_id, monotonic_ns=time.monotonic_ns(), flags=result.flags))
        return result

    def _save_end(self) -> None:
        if (self._folder / "manifest.json").exists():
            self._manifest = manifests.ended(self._manifest, finished_count=len(finished_trials(self._folder)))
            save_manifest(self._folder, self._manifest)

    def _say(self, message: str) -> None:
        self._console.print(message, highlight=False, soft_wrap=True)


def _head(trial: PlannedTrial) -> TrialRecord:
    condition = trial.condition
    return TrialRecord(
        format_version=FORMAT_VERSION,
        trial_id=trial.trial_id,
        block=trial.block,
        position=trial.position,
        condition=condition.id,
        page=condition.page,
        profile=condition.profile,
        dns_transport=condition.dns_transport,
        resolver_path=condition.resolver_path,
        http_version=condition.http_version,
        requested_handshake_mode=condition.requested_handshake_mode,
        browser=condition.browser,
        h3_discovery=condition.h3_discovery,
        name_resolution=condition.name_resolution,
        doh_method=condition.doh_method,
        dns_connection_state=condition.dns_connection_state,
        requested_dns_handshake_mode=condition.requested_dns_handshake_mode,
        replicate=condition.replicate,
        resolver_extra_rtt_ms=condition.resolver_extra_rtt_ms,
        resolver_cache=condition.resolver_cache,
        browser_preset=condition.browser_preset,
        monotonic_ns=time.monotonic_ns(),
        wall_time_unix_ns=time.time_ns(),
        load_average_1min=os.getloadavg()[0],
    )
