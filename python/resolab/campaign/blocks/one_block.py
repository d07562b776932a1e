"""Run a block of a plan, for callers receiving blocks one by one, into a dataset of all received blocks.

For: `run_block`, and `carry_out_block` for a process keeping testbeds over many blocks. Not for: the loop (`loop`), the
choice of the next block, or a whole plan (`run`).

The dataset is an ordinary dataset with some of the plan's blocks. Stopping rules are ignored: a rule needs all earlier
blocks, and earlier blocks may be elsewhere.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import msgspec
from rich.console import Console

from resolab.basics.errors import ConfigurationError
from resolab.campaign import manifests, provenance
from resolab.campaign.blocks.testbed_pool import TestbedPool
from resolab.campaign.lock import dataset_lock
from resolab.campaign.loop import Campaign, MakeTestbed, ProcessShare
from resolab.campaign.run import make_trial_runner, remove_unstarted
from resolab.campaign.schedule import block_schedule
from resolab.campaign.stop_request import StopRequest
from resolab.plan import Corpus, Plan
from resolab.store import Manifest, RunStatus, create_dataset_folder, find_finished_trials, load_manifest
from resolab.store.folder import MANIFEST
from resolab.store.manifest import ProcessStart

CheckGround = Callable[[ProcessStart], None]
"""A check of the provenance; raises when trials must not begin on this provenance, before anything is written."""
COMMAND_LINE = ["resolab", "fleet", "agent"]
"""The command line recorded in a dataset of single blocks."""


@dataclass(frozen=True, slots=True)
class BlockOutcome:
    """The progress of a block."""

    trials_count: int
    """The number of finished trials of the block."""
    planned_count: int

    @property
    def interrupted(self) -> bool:
        """Return True when trials are left to run."""
        return self.trials_count < self.planned_count


def run_block(
    plan: Plan,
    folder: Path,
    console: Console,
    block: int,
    make_testbed: MakeTestbed = make_trial_runner,
    *,
    fleet_run: str | None = None,
) -> BlockOutcome:
    """Run one block into a new or existing dataset folder; finished trials are not repeated.

    The plan must have the run's seed and vantage point, and all blocks.
    """
    return asyncio.run(carry_out_block(plan, folder, console, block, make_testbed, fleet_run=fleet_run))


async def carry_out_block(
    plan: Plan,
    folder: Path,
    console: Console,
    block: int,
    make_testbed: MakeTestbed = make_trial_runner,
    *,
    fleet_run: str | None = None,
    stop: StopRequest | None = None,
    check_ground: CheckGround = lambda _now: None,
) -> BlockOutcome:
    """Run one block in the current event loop, so testbeds of `TestbedPool` stay alive between blocks."""
    if not 0 <= block < plan.blocks:
        raise ConfigurationError(f"could not run block {block} of {plan.name}: it has blocks 0 to {plan.blocks - 1}")
    planned = [one.trial_id for one in block_schedule(plan, plan.seed, block)]
    standing = make_testbed.paths_count if isinstance(make_testbed, TestbedPool) else lambda: 0
    one_block = _BlockRun(plan, folder, console, make_testbed, ProcessShare(block, stop, standing), check_ground)
    if (folder / MANIFEST).exists():
        await one_block.resume(planned, fleet_run)
    else:
        await one_block.begin(fleet_run)
    finished = find_finished_trials(folder)
    return BlockOutcome(sum(one in finished for one in planned), len(planned))


@dataclass(frozen=True, slots=True)
class _BlockRun:
    plan: Plan
    folder: Path
    console: Console
    make_testbed: MakeTestbed
    share: ProcessShare
    check_ground: CheckGround

    async def begin(self, fleet_run: str | None) -> None:
        """Run the block as the first into a new dataset; the dataset is removed when no trial can begin."""
        existed = self.folder.exists()
        create_dataset_folder(self.folder)
        # What another process has begun there is not ours to remove: only who holds the lock does.
        with dataset_lock(self.folder):
            try:
                manifest = manifests.new_manifest(self.plan, Corpus.from_project(self.plan.own_pages), COMMAND_LINE)
                assert manifest.environment_start is not None  # Just made.
                versions = manifest.environment_start.versions
                self.check_ground(manifest.starts[0])
                await self._campaign(msgspec.structs.replace(manifest, fleet_run=fleet_run), versions)
            finally:
                if not (self.folder / MANIFEST).exists():
                    remove_unstarted(self.folder, existed=existed)

    async def resume(self, planned: list[str], fleet_run: str | None) -> None:
        """Run the block into an existing dataset, on the same provenance."""
        with dataset_lock(self.folder):
            manifest = load_manifest(self.folder)
            self._check_same_run(manifest, fleet_run)
            finished = find_finished_trials(self.folder)
            begun = any(one in finished for one in planned)
            # Without an end of the process before, its manifest does not say how far it came.
            if begun and all(one in finished for one in planned) and manifest.status is not RunStatus.RUNNING:
                return
            corpus, versions = Corpus.from_project(self.plan.own_pages), manifests.versions_now(self.plan)
            now = provenance.describe_provenance(self.plan, corpus, versions)
            provenance.check_same_provenance(manifest, self.plan, corpus, now)
            self.check_ground(now)
            killed = list((self.folder / "trials").glob("*.partial"))
            for partial in killed:
                partial.unlink()
            await self._campaign(self._add_start(manifest, now, again=begun or bool(killed)), versions)

    def _add_start(self, manifest: Manifest, now: ProcessStart, *, again: bool) -> Manifest:
        """Add a start to the manifest only for a block begun before, or for a changed provenance."""
        differences = provenance.list_differences(manifest, now)
        for difference in differences:
            self.console.print(f"warning: {difference}", highlight=False, soft_wrap=True, markup=False)
        if again or differences:
            return manifests.resume_manifest(manifest, now)
        return msgspec.structs.replace(manifest, status=RunStatus.RUNNING)

    async def _campaign(self, manifest: Manifest, versions: dict[str, str]) -> None:
        await Campaign(self.plan, manifest, self.folder, self.console, self.make_testbed, versions, self.share).run()

    def _check_same_run(self, manifest: Manifest, fleet_run: str | None) -> None:
        plan = self.plan
        asked = {
            "plan": (plan.source_text, manifest.plan_text),
            "seed": (plan.seed, manifest.seed),
            "number of blocks": (plan.blocks, manifest.blocks),
            "vantage point": (plan.vantage_point, manifest.vantage_point),
            "run of a fleet": (fleet_run, manifest.fleet_run),
        }
        other = next((name for name, (own, theirs) in asked.items() if own != theirs), None)
        if other is not None:
            problem = f"its dataset has another {other}; give another folder"
            raise ConfigurationError(f"could not run a block of {plan.name} into {self.folder}: {problem}")
