"""The campaign's loop: start the testbeds, run what the schedule still holds, write each trial when it ends.

For: running, stopping and resuming. Not for: what is in a trial (testbed) or in a file (store).

Trials run on one path or, if the plan asks for it, on several at a time, each with a testbed of its own. Testbeds stand
and fall together: what ends the work on one (all is done, a stop, a failure of the instrument, fewer paths from then
on) lets the trials in flight on the others end, and then all are closed.

Whatever happens, a trial's file exists only when the trial is whole, and the manifest says how far the campaign came.
"""

import asyncio
import os
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import msgspec
from rich.console import Console

from resolab.campaign import ground, manifests
from resolab.campaign.lock import dataset_lock
from resolab.campaign.overload import Overload
from resolab.campaign.precision import Look, Precision
from resolab.campaign.progress import CampaignProgress
from resolab.campaign.schedule import PlannedTrial, remaining, schedule, whole_blocks
from resolab.campaign.stopping import StopRequest
from resolab.campaign.turns import Turns
from resolab.errors import ConfigurationError, ResolabError
from resolab.plan import Condition, Corpus, Plan, parse_plan
from resolab.plan.factors import EVERY_FACTOR
from resolab.records import FORMAT_VERSION, TrialEndRecord, TrialFlag, TrialRecord
from resolab.store import (
    Manifest,
    RunStatus,
    TrialWriter,
    cpu_ticks,
    create_dataset_folder,
    describe_environment,
    finished_trials,
    load_manifest,
    read_trial,
    save_manifest,
)
from resolab.testbed import Testbed, TrialResult

INSTRUMENT_FAILURES_LIMIT = 3
"""Consecutive failures of the instrument itself on one path after which a campaign gives up."""


class TrialRunner(Protocol):
    """What runs trials: a testbed, or something that does as if."""

    async def run_trial(self, condition: Condition, trial_id: str) -> TrialResult:
        """Run one trial."""
        ...


MakeTestbed = Callable[[Plan, int, Path, int], AbstractAsyncContextManager[TrialRunner]]
"""Makes the place trials run in, from plan, seed, the dataset's folder and the path's number, from 1."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a campaign ended."""

    manifest: Manifest

    @property
    def interrupted(self) -> bool:
        """Whether trials are left to do."""
        return self.manifest.status is not RunStatus.FINISHED


def testbed_of(plan: Plan, seed: int, folder: Path, number: int) -> Testbed:
    """Make a testbed of a campaign: that of a path."""
    # Every testbed counts its browsers, and their logs are named by that.
    netlogs = folder / "netlogs" if number == 1 else folder / "netlogs" / f"path{number}"
    return Testbed(
        plan,
        Corpus.of_project(),
        seed,
        screenshot_folder=folder / "screenshots" if plan.instrument.failure_screenshots else None,
        netlog_folder=netlogs if plan.instrument.netlog else None,
    )


def run_campaign(plan: Plan, folder: Path, console: Console, make_testbed: MakeTestbed = testbed_of) -> Outcome:
    """Run a plan into a new dataset folder; leaves no folder when not even the testbed could be started."""
    existed = folder.exists()
    create_dataset_folder(folder)
    try:
        with dataset_lock(folder):
            manifest = manifests.new_manifest(plan, Corpus.of_project(), sys.argv)
            assert manifest.environment_start is not None  # Just made.
            versions = manifest.environment_start.versions
            return asyncio.run(_Campaign(plan, manifest, folder, console, make_testbed, versions).run())
    finally:
        if not (folder / "manifest.json").exists():
            _remove_unstarted(folder, existed=existed)


def resume_campaign(folder: Path, console: Console, make_testbed: MakeTestbed = testbed_of) -> Outcome:
    """Finish a dataset from where it stands, with the plan, seed, blocks and stopping rule it was begun with."""
    manifest = load_manifest(folder)
    if manifest.merged_from:
        problem = f"it was merged from {len(manifest.merged_from)} runs; resume those and merge again"
        raise ConfigurationError(f"could not resume {folder}: {problem}")
    corpus = Corpus.of_project()
    plan = parse_plan(manifest.plan_text, str(folder / "plan.toml"), corpus)
    plan = replace(plan, seed=manifest.seed, blocks=manifest.blocks)
    with dataset_lock(folder):
        versions = manifests.versions_now(plan)
        now = ground.ground_now(plan, corpus, versions)
        ground.check_same_ground(manifest, plan, corpus, now)
        for partial in (folder / "trials").glob("*.partial"):
            partial.unlink()
        for difference in ground.differences(manifest, now):
            console.print(f"warning: {difference}", highlight=False, soft_wrap=True, markup=False)
        manifest = manifests.resumed(manifest, now)
        return asyncio.run(_Campaign(plan, manifest, folder, console, make_testbed, versions).run())


def _remove_unstarted(folder: Path, *, existed: bool) -> None:
    for part in folder.iterdir() if existed else [folder]:
        if part.is_dir():
            shutil.rmtree(part, ignore_errors=True)
        else:
            part.unlink(missing_ok=True)


class _Campaign:
    def __init__(
        self,
        plan: Plan,
        manifest: Manifest,
        folder: Path,
        console: Console,
        make_testbed: MakeTestbed,
        versions: dict[str, str],
    ) -> None:
        self._plan, self._manifest, self._folder = plan, manifest, folder
        self._console, self._make_testbed, self._versions = console, make_testbed, versions
        self._stop = StopRequest()
        self._instrument_failures: Counter[int] = Counter()
        """Consecutive ones, by path."""
        self._paths = min(manifest.paths, len(plan.conditions()))
        self._overload = Overload()
        self._block_size = len(plan.conditions())
        self._precision = Precision(plan, plan.stop, manifest.seed) if plan.stop is not None else None
        self._look: Look | None = None
        self._ticks = cpu_ticks()

    async def run(self) -> Outcome:
        """Run what is left; the manifest ends as finished or interrupted."""
        planned = schedule(self._plan, self._manifest.seed, self._manifest.blocks)
        finished = finished_trials(self._folder)
        left = remaining(planned, finished.keys())
        self._remember(planned, finished)
        with self._stop.on_signals(self._say, several=self._paths > 1):
            try:
                if left and not self._enough:
                    await self._run_trials(left, planned_count=len(planned))
            except asyncio.CancelledError:
                self._say("what was in flight was abandoned")
            finally:
                self._save_end(planned)
        return Outcome(self._manifest)

    @property
    def _enough(self) -> bool:
        return self._look is not None and self._look.reached

    def _is_over(self) -> bool:
        return self._stop.requested or self._enough

    def _remember(self, planned: list[PlannedTrial], finished: dict[str, Path]) -> None:
        """Take in what earlier processes measured, and look where they would have looked."""
        if self._precision is None:
            return
        for trial in planned:
            if trial.trial_id in finished:
                self._precision.add(trial.condition.id, trial.block, read_trial(finished[trial.trial_id]))
        self._look_after(whole_blocks(planned, finished.keys()))

    def _look_after(self, blocks: int) -> Look | None:
        """Look at the intervals if it is time, and in any case at the end."""
        if self._precision is None or not (self._precision.due(blocks) or blocks == self._manifest.blocks):
            return None
        self._look = self._precision.look(blocks)
        return self._look

    async def _run_trials(self, left: list[PlannedTrial], *, planned_count: int) -> None:
        done = planned_count - len(left)
        several = f", {self._paths} at a time" if self._paths > 1 else ""
        self._say(f"{len(left)} of {planned_count} trials to run into {self._folder}{several}")
        with CampaignProgress(planned_count, done, self._console) as progress:
            while left and not self._is_over():
                await self._run_side_by_side(left, progress)

    async def _run_side_by_side(self, left: list[PlannedTrial], progress: CampaignProgress) -> None:
        """Run trials on new testbeds, one for each path, until work on any of them ends."""
        async with AsyncExitStack() as stack:
            testbeds = {
                number: await stack.enter_async_context(
                    self._make_testbed(self._plan, self._manifest.seed, self._folder, number)
                )
                for number in range(1, self._paths + 1)
            }
            # Saved only now: a machine that cannot run the testbeds leaves no dataset behind.
            save_manifest(self._folder, self._manifest)
            progress.trials_begin()
            turns = Turns(left, self._is_over)
            ends = await asyncio.gather(
                *(self._use(testbed, number, turns, progress) for number, testbed in testbeds.items()),
                return_exceptions=True,
            )
            for error in ends:
                if error is not None:
                    raise error

    async def _use(self, testbed: TrialRunner, number: int, turns: Turns, progress: CampaignProgress) -> None:
        """Run trials on one path's testbed until work on some path ends."""
        paths = self._paths
        try:
            while self._paths == paths and (trial := await turns.next()) is not None:
                try:
                    result = await self._run_trial(testbed, trial)
                except ResolabError as error:
                    turns.give_back(trial)
                    self._forgive(error, number, trial, progress)
                    return
                self._instrument_failures[number] = 0
                self._take_in(trial, result, progress, block_ends=turns.done(trial))
        finally:
            turns.end()

    def _forgive(self, error: ResolabError, number: int, trial: PlannedTrial, progress: CampaignProgress) -> None:
        """Let the instrument fail, but not again and again."""
        self._instrument_failures[number] += 1
        if self._instrument_failures[number] >= INSTRUMENT_FAILURES_LIMIT:
            raise error
        self._manifest = msgspec.structs.replace(
            self._manifest, instrument_failures_count=self._manifest.instrument_failures_count + 1
        )
        made = "the testbed is" if self._paths == 1 else "all testbeds are"
        progress.say(f"{trial.trial_id}: {error}; {made} made anew and the trial repeated")

    def _take_in(
        self, trial: PlannedTrial, result: TrialResult, progress: CampaignProgress, *, block_ends: bool
    ) -> None:
        if self._precision is not None:
            self._precision.add(trial.condition.id, trial.block, result.records)
            look = self._look_after(trial.block + 1) if block_ends else None
            if look is not None:
                blocks = self._precision.expected_blocks(look, self._manifest.blocks)
                progress.expect(blocks * self._block_size, self._precision.text(look))
        progress.trial_done(failed=result.failed, flagged=bool(result.flags))
        if self._paths > 1:
            self._overload.add(late=TrialFlag.LATENESS_EXCEEDED in result.flags)
            if self._overload.is_reached:
                self._fall_back(trial, progress)

    def _fall_back(self, trial: PlannedTrial, progress: CampaignProgress) -> None:
        """Use one path for the rest, after a resume too."""
        late = self._overload.text(self._plan.limits.lateness_p99_ms)
        text = f"after {trial.trial_id} one path instead of {self._paths}: {late}"
        progress.say(text)
        self._paths = 1
        self._manifest = msgspec.structs.replace(self._manifest, paths=1, warnings=[*self._manifest.warnings, text])
        save_manifest(self._folder, self._manifest)

    async def _run_trial(self, testbed: TrialRunner, trial: PlannedTrial) -> TrialResult:
        head = _head(trial)
        with TrialWriter(self._folder, head) as writer:
            result = await testbed.run_trial(trial.condition, trial.trial_id)
            for record in result.records:
                writer.write(record)
            writer.finish(
                TrialEndRecord(trial_id=trial.trial_id, monotonic_ns=time.monotonic_ns(), flags=[*result.flags])
            )
        return result

    def _save_end(self, planned: list[PlannedTrial]) -> None:
        if not (self._folder / "manifest.json").exists():
            return
        finished = finished_trials(self._folder).keys()
        self._manifest = manifests.ended(
            self._manifest,
            finished_count=len(finished),
            blocks_finished_count=whole_blocks(planned, finished),
            precise=self._enough,
            widths=self._look.widths if self._look is not None else (),
            environment=describe_environment(versions=self._versions, ticks_before=self._ticks),
        )
        save_manifest(self._folder, self._manifest)
        if self._precision is not None and self._look is not None:
            word = "stopped" if self._enough else "last look"
            self._say(f"{word} after {self._look.blocks} blocks: {self._precision.text(self._look)}")

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
        replicate=condition.replicate,
        **{factor: getattr(condition, factor) for factor in EVERY_FACTOR},
        monotonic_ns=time.monotonic_ns(),
        wall_time_unix_ns=time.time_ns(),
        load_average_1min=os.getloadavg()[0],
    )
