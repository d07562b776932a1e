"""Run a campaign's loop: start the testbeds and run the scheduled trials, until done, decided, or stopped.

For: running and stopping. Not for: beginning or resuming a dataset (`run`), a trial's file (`trial_file`), the
remaining trials (`remaining_trials`).

Trials run on one path or, if the plan asks for several, on several at a time, each with its own testbed. Testbeds start
and end together. The work on a testbed ends when all is done, or by a stop, a failure of the instrument, or a reduction
of paths. Then the trials in flight on the other testbeds end, and all testbeds are closed.
"""

import asyncio
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, nullcontext
from dataclasses import dataclass
from pathlib import Path

import msgspec
from rich.console import Console

from resolab.basics.errors import ResolabError, StorageError
from resolab.basics.records import TrialFlag
from resolab.campaign import manifests
from resolab.campaign.interim_answer import InterimAnswer
from resolab.campaign.overload import LatenessWindow
from resolab.campaign.progress import CampaignProgress
from resolab.campaign.remaining_trials import RemainingTrials
from resolab.campaign.schedule import PlannedTrial
from resolab.campaign.stop_request import StopRequest
from resolab.campaign.trial_file import TrialRunner, run_into_file
from resolab.campaign.turns import TrialDispatcher
from resolab.plan import Plan, trials_a_block
from resolab.store import Manifest, cpu_ticks, describe_environment, find_finished_trials, other_paths, save_manifest
from resolab.trials.trial_result import TrialResult

INSTRUMENT_FAILURES_LIMIT = 3
"""The number of consecutive instrument failures on a path before a campaign gives up."""
MakeTestbed = Callable[[Plan, int, Path, int], AbstractAsyncContextManager[TrialRunner]]
"""A maker of testbeds, from plan, seed, the dataset's folder and the path's number, from 1."""


@dataclass(frozen=True, slots=True)
class ProcessShare:
    """The campaign's share of a process with several tasks."""

    block: int | None = None
    """The single block to run; `None`: all blocks."""
    stop: StopRequest | None = None
    """The stop request of an outer signal listener; `None`: the campaign listens for signals itself."""
    standing_paths: Callable[[], int] = lambda: 0
    """A count of the process's own paths kept alive without a running trial, excluding other processes' paths."""


ALL_AND_ALONE = ProcessShare()


class Campaign:
    """A campaign in one process: begins or resumes, and ends with its progress in the manifest."""

    def __init__(
        self,
        plan: Plan,
        manifest: Manifest,
        folder: Path,
        console: Console,
        make_testbed: MakeTestbed,
        versions: dict[str, str],
        share: ProcessShare = ALL_AND_ALONE,
    ) -> None:
        self._plan, self._manifest, self._folder = plan, manifest, folder
        self._console, self._make_testbed, self._versions = console, make_testbed, versions
        self._share, self._stop = share, share.stop or StopRequest()
        self._instrument_failures: Counter[int] = Counter()
        """The consecutive instrument failures, by path."""
        self._paths = min(manifest.paths, trials_a_block(plan))
        self._overload = LatenessWindow()
        self._has_warned_of_missing = False
        self._looks = RemainingTrials(plan, manifest, find_finished_trials(folder), block=share.block)
        self._interim = InterimAnswer(plan)
        self._ticks = cpu_ticks()

    async def run(self) -> Manifest:
        """Run the remaining trials; the manifest ends as finished or interrupted."""
        with nullcontext() if self._share.stop else self._stop.on_signals(self._say, several=self._paths > 1):
            try:
                if self._looks.left and not self._looks.is_enough:
                    await self._run_trials()
            except asyncio.CancelledError:
                self._say("what was in flight was abandoned")
            finally:
                self._save_end()
        return self._manifest

    def _is_over(self) -> bool:
        return self._stop.requested or self._looks.is_enough

    async def _run_trials(self) -> None:
        left, planned_count = self._looks.left, len(self._looks.planned)
        several = f", {self._paths} at a time" if self._paths > 1 else ""
        self._say(f"{len(left)} of {planned_count} trials to run into {self._folder}{several}")
        if others := self._others(other_paths()):
            up = "another emulated path is" if others == 1 else f"{others} other emulated paths are"
            self._say(f"warning: {up} up on this machine: what is measured there and here spoils each other's times")
        with CampaignProgress(planned_count, planned_count - len(left), self._console) as progress:
            while left and not self._is_over():
                await self._run_side_by_side(left, progress)

    async def _run_side_by_side(self, left: list[PlannedTrial], progress: CampaignProgress) -> None:
        """Run trials on new testbeds, one for each path, until work on any testbed ends."""
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
            turns = TrialDispatcher(left, self._is_over)
            ends = await asyncio.gather(
                *(self._use(testbed, number, turns, progress) for number, testbed in testbeds.items()),
                return_exceptions=True,
            )
            for error in ends:
                if error is not None:
                    raise error

    async def _use(self, testbed: TrialRunner, number: int, turns: TrialDispatcher, progress: CampaignProgress) -> None:
        """Run trials on the testbed of a path until work on some path ends."""
        paths = self._paths
        try:
            while self._paths == paths and (trial := await turns.next()) is not None:
                try:
                    result = await run_into_file(self._folder, testbed, trial, vantage_point=self._plan.vantage_point)
                except StorageError:
                    # Nothing of the instrument's: made anew, it would have nowhere to write either.
                    turns.give_back(trial)
                    raise
                except ResolabError as error:
                    turns.give_back(trial)
                    # Whoever stops us may have stopped its parts, too, e.g. by a signal to all of a session.
                    if not self._stop.requested:
                        self._forgive(error, number, trial, progress)
                    return
                self._instrument_failures[number] = 0
                self._warn_of_missing(trial, result, progress)
                self._take_in(trial, result, progress, block_ends=turns.done(trial))
        finally:
            turns.end()

    def _warn_of_missing(self, trial: PlannedTrial, result: TrialResult, progress: CampaignProgress) -> None:
        """Warn once about missing files requested by the plan; a missing file is otherwise noticed late."""
        if result.files.missing and not self._has_warned_of_missing:
            self._has_warned_of_missing = True
            names = ", ".join(str(file) for file in result.files.missing)
            progress.say(f"warning: {trial.trial_id}: not written though the plan's [instrument] asks for it: {names}")

    def _forgive(self, error: ResolabError, number: int, trial: PlannedTrial, progress: CampaignProgress) -> None:
        """Tolerate a failure of the instrument; raise after repeated failures."""
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
        self._looks.take_in(trial, result.records)
        self._interim.add(trial.compared_as, trial.block, result.records)
        if block_ends and self._share.block is None:
            outcome, blocks_count = self._interim.outcome, trial.block + 1
            progress.answer(outcome.phrase, outcome.unit, blocks_count, self._interim.rows(blocks_count))
        look = self._looks.block_ended(trial.block + 1) if block_ends else None
        if look is not None:
            self._looks.drop(look)
            progress.expect(self._looks.estimate_trials(look), self._looks.text or "")
        progress.trial_done(failed=result.failed, flagged=bool(result.flags))
        if self._paths > 1:
            self._overload.add(late=TrialFlag.LATENESS_EXCEEDED in result.flags)
            if self._overload.is_reached:
                self._fall_back(trial, progress)

    def _fall_back(self, trial: PlannedTrial, progress: CampaignProgress) -> None:
        """Use a single path from now on, also after a resume."""
        late = self._overload.text(self._plan.limits.lateness_p99_ms)
        text = f"after {trial.trial_id} one path instead of {self._paths}: {late}"
        progress.say(text)
        self._paths = 1
        self._manifest = msgspec.structs.replace(self._manifest, paths=1, warnings=[*self._manifest.warnings, text])
        save_manifest(self._folder, self._manifest)

    def _save_end(self) -> None:
        if not (self._folder / "manifest.json").exists():
            return
        finished, look = find_finished_trials(self._folder), self._looks.last
        environment = describe_environment(versions=self._versions, ticks_before=self._ticks)
        others = self._others(environment.other_paths_count)
        self._manifest = manifests.end_manifest(
            self._manifest,
            self._looks.progress(finished),
            environment=msgspec.structs.replace(environment, other_paths_count=others),
        )
        save_manifest(self._folder, self._manifest)
        if look is not None:
            word = "stopped" if look.reached else "last look"
            self._say(f"{word} after {look.blocks} blocks: {self._looks.text}")

    def _others(self, paths: int | None) -> int | None:
        """Subtract the process's own kept paths from a count of paths taken without a running trial."""
        return None if paths is None else max(0, paths - self._share.standing_paths())

    def _say(self, message: str) -> None:
        self._console.print(message, highlight=False, markup=False, soft_wrap=True)
