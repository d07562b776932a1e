"""Carry out a plan: begin a new dataset, or finish an existing dataset.

For: `run_campaign` and `resume_campaign`. Not for: the loop (`loop`), the content of a trial (`testbed`) or a file
(`store`).

In any case a trial's file exists only when the trial is whole, and the manifest states the campaign's progress.
"""

import asyncio
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec
from rich.console import Console

from resolab.basics.errors import ConfigurationError
from resolab.basics.records import TrialKind
from resolab.campaign import manifests, provenance
from resolab.campaign.lock import dataset_lock
from resolab.campaign.loop import Campaign, MakeTestbed
from resolab.campaign.remaining_trials import RemainingTrials
from resolab.lab.artifacts import KeptFolders
from resolab.plan import Corpus, Plan, parse_plan
from resolab.plan.live.vantage import place_at
from resolab.store import (
    Manifest,
    RunStatus,
    create_dataset_folder,
    find_finished_trials,
    load_manifest,
    refuse_published,
)
from resolab.trials.exchange.runner import ExchangeRunner
from resolab.trials.fetch.runner import FetchRunner
from resolab.trials.live import LiveBed
from resolab.trials.page_load.runner import PageLoadRunner
from resolab.trials.study.runner import StudyRunner


@dataclass(frozen=True, slots=True)
class CampaignOutcome:
    """The end of a campaign."""

    manifest: Manifest

    @property
    def interrupted(self) -> bool:
        """Return True when trials are left to run."""
        return self.manifest.status is not RunStatus.FINISHED


LabRunner = PageLoadRunner | ExchangeRunner | FetchRunner | StudyRunner
RUNNERS: Mapping[TrialKind, type[LabRunner]] = {
    TrialKind.PAGE_LOAD: PageLoadRunner,
    TrialKind.EXCHANGE: ExchangeRunner,
    TrialKind.FETCH: FetchRunner,
    TrialKind.STUDY: StudyRunner,
}
"""The runner of each kind of trial in the lab."""


def make_trial_runner(plan: Plan, seed: int, folder: Path, number: int) -> LabRunner | LiveBed:
    """Make the runner of a campaign's trials: of the plan's kind in the lab of a path, or the live bed."""
    # Chromium writes no log into a path with `..` in it, without a word.
    folder = folder.resolve()
    if plan.live is not None:
        return LiveBed(plan, folder)
    # Every testbed counts its browsers, and their logs are named by that.
    netlogs = folder / "netlogs" if number == 1 else folder / "netlogs" / f"path{number}"
    return RUNNERS[plan.kind](
        plan,
        Corpus.from_project(plan.own_pages),
        seed,
        kept=KeptFolders(
            screenshot_folder=folder / "screenshots" if plan.instrument.failure_screenshots else None,
            netlog_folder=netlogs if plan.instrument.netlog else None,
            capture_folder=folder / "captures" if plan.instrument.pcap else None,
            key_log_folder=folder / "key_logs" if plan.instrument.key_log else None,
        ),
    )


def run_campaign(
    plan: Plan, folder: Path, console: Console, make_testbed: MakeTestbed = make_trial_runner
) -> CampaignOutcome:
    """Run a plan into a new dataset folder; no folder is left when the testbed cannot start."""
    existed = folder.exists()
    create_dataset_folder(folder)
    # What another process has begun there is not ours to remove: only who holds the lock does.
    with dataset_lock(folder):
        try:
            manifest = manifests.new_manifest(plan, Corpus.from_project(plan.own_pages), sys.argv)
            assert manifest.environment_start is not None  # Just made.
            versions = manifest.environment_start.versions
            return CampaignOutcome(asyncio.run(Campaign(plan, manifest, folder, console, make_testbed, versions).run()))
        finally:
            if not (folder / "manifest.json").exists():
                remove_unstarted(folder, existed=existed)


def resume_campaign(folder: Path, console: Console, make_testbed: MakeTestbed = make_trial_runner) -> CampaignOutcome:
    """Finish a dataset, with the plan, seed, blocks and stopping rule from its start."""
    load_manifest(folder)  # In what is no dataset there is nothing to lock.
    refuse_published(folder, "resume")
    with dataset_lock(folder):
        return _resume(load_manifest(folder), folder, console, make_testbed)


def extend_campaign(
    folder: Path, blocks: int, console: Console, make_testbed: MakeTestbed = make_trial_runner
) -> CampaignOutcome:
    """Run a finished dataset up to a larger number of blocks; its plan must hold at any look."""
    load_manifest(folder)
    refuse_published(folder, "extend")
    with dataset_lock(folder):
        manifest = load_manifest(folder)
        trials_count = manifest.trials_planned_count // manifest.blocks * blocks
        # The campaign saves the manifest: a refusal leaves the dataset as it is.
        longer = msgspec.structs.replace(
            manifest, blocks=blocks, trials_planned_count=trials_count, status=RunStatus.INTERRUPTED
        )
        return _resume(longer, folder, console, make_testbed)


def _resume(manifest: Manifest, folder: Path, console: Console, make_testbed: MakeTestbed) -> CampaignOutcome:
    if manifest.merged_from:
        problem = f"it was merged from {len(manifest.merged_from)} runs; resume those and merge again"
        raise ConfigurationError(f"could not resume {folder}: {problem}")
    if manifest.fleet_run is not None:
        problem = f"it is of run {manifest.fleet_run} of a fleet, whose agents go on with it; fetch it again"
        raise ConfigurationError(f"could not resume {folder}: {problem}")
    base = None if manifest.plan_folder is None else Path(manifest.plan_folder)
    source, begun_with = str(folder / "plan.toml"), manifest.pages()
    plan = parse_plan(manifest.plan_text, source, Corpus.from_project(), base=base, begun_with=begun_with)
    corpus = Corpus.from_project(plan.own_pages)
    plan = replace(_set_vantage(plan, manifest), seed=manifest.seed, blocks=manifest.blocks)
    if _is_whole(plan, manifest, folder):
        return CampaignOutcome(manifest)
    versions = manifests.versions_now(plan)
    now = provenance.describe_provenance(plan, corpus, versions)
    provenance.check_same_provenance(manifest, plan, corpus, now)
    for partial in (folder / "trials").glob("*.partial"):
        partial.unlink()
    for difference in provenance.list_differences(manifest, now):
        console.print(f"warning: {difference}", highlight=False, soft_wrap=True, markup=False)
    manifest = manifests.resume_manifest(manifest, now)
    return CampaignOutcome(asyncio.run(Campaign(plan, manifest, folder, console, make_testbed, versions).run()))


def _is_whole(plan: Plan, manifest: Manifest, folder: Path) -> bool:
    """Return True when no trial is left, so there is nothing to resume."""
    looks = RemainingTrials(plan, manifest, find_finished_trials(folder))
    return manifest.status is RunStatus.FINISHED and (not looks.left or looks.is_enough)


def _set_vantage(plan: Plan, manifest: Manifest) -> Plan:
    """Set the plan's vantage point to the run's; live plans from before format 1.13 contain their own."""
    return plan if manifest.vantage_point is None else place_at(plan, manifest.vantage_point)


def remove_unstarted(folder: Path, *, existed: bool) -> None:
    """Restore a folder to its state before a dataset's start."""
    for part in folder.iterdir() if existed else [folder]:
        if part.is_dir():
            shutil.rmtree(part, ignore_errors=True)
        else:
            part.unlink(missing_ok=True)
