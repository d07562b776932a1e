"""The manifest of a campaign: made at the start, checked at a resume, updated at the end.

For: the manifest's content. Not for: writing the file (`store`).
"""

import os
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

import resolab
from resolab.browser.find import chromium_version, firefox_version
from resolab.campaign.interim_analysis import InterimAnalysis
from resolab.campaign.live_run import live_run
from resolab.campaign.provenance import describe_provenance, list_differences
from resolab.engine import find_core
from resolab.plan import Corpus, Plan, trials_a_block
from resolab.records import FORMAT_VERSION, BrowserName, TrialKind
from resolab.store import (
    Environment,
    Manifest,
    RunStatus,
    StopReason,
    Versions,
    describe_environment,
    describe_machine,
)
from resolab.store.manifest import ProcessStart, dataset_id

NO_BROWSER = "none"
_VERSION_OF = {BrowserName.CHROMIUM: chromium_version, BrowserName.FIREFOX: firefox_version}


def new_manifest(plan: Plan, corpus: Corpus, command_line: Sequence[str]) -> Manifest:
    """Describe a campaign about to begin."""
    now_ns = time.time_ns()
    browsers = _browser_versions(plan)
    core = _core_version()
    start = describe_provenance(plan, corpus, _join_versions(core, browsers))
    return Manifest(
        format_version=FORMAT_VERSION,
        dataset_id=dataset_id(plan.name, f"{now_ns:x}"),
        plan=plan.name,
        plan_text=plan.source_text,
        plan_folder=str(plan.base) if plan.own_pages or plan.live is not None else None,
        seed=plan.seed,
        blocks=plan.blocks,
        paths=plan.instrument.paths,
        backend=plan.instrument.backend,
        profiles=[] if plan.live is not None else [corpus.profile(name) for name in plan.factors.profile],
        live=live_run(plan),
        vantage_point=plan.vantage_point,
        created_unix_ns=now_ns,
        command_line=["resolab", *command_line[1:]],
        versions=Versions(
            resolab=resolab.__version__,
            resolab_core=core,
            browser=next(iter(browsers.values()), NO_BROWSER),
            browsers=browsers,
        ),
        machine=describe_machine(),
        git_commit=start.git_commit,
        load_average_start=os.getloadavg()[0],
        trials_planned_count=plan.blocks * trials_a_block(plan),
        starts=[start],
        environment_start=describe_environment(versions=_join_versions(core, browsers)),
    )


def versions_now(plan: Plan) -> dict[str, str]:
    """Return the current versions, for a campaign resumed after days."""
    return _join_versions(_core_version(), _browser_versions(plan))


def _join_versions(core: str | None, browsers: dict[str, str]) -> dict[str, str]:
    return {**({"resolab-core": core} if core else {}), **browsers}


def resume_manifest(manifest: Manifest, now: ProcessStart) -> Manifest:
    """Return the manifest of a resumed campaign, with a warning for each difference from the previous start."""
    return msgspec.structs.replace(
        manifest,
        resume_count=manifest.resume_count + 1,
        status=RunStatus.RUNNING,
        starts=[*manifest.starts, now],
        warnings=[*manifest.warnings, *list_differences(manifest, now)],
    )


@dataclass(frozen=True, slots=True)
class CampaignStatus:
    """The progress of a campaign."""

    trials_count: int
    blocks_count: int
    """The number of blocks with all trials finished."""
    all_done: bool
    look: InterimAnalysis | None
    """The last interim analysis, for a plan with a stopping rule."""


def end_manifest(manifest: Manifest, progress: CampaignStatus, *, environment: Environment) -> Manifest:
    """Return the updated manifest at the end of the process's work, done or not."""
    look, reason = progress.look, _stop_reason(progress)
    return msgspec.structs.replace(
        manifest,
        status=RunStatus.INTERRUPTED if reason is StopReason.INTERRUPTED else RunStatus.FINISHED,
        stop_reason=reason,
        trials_finished_count=progress.trials_count,
        blocks_finished_count=progress.blocks_count,
        widths_reached=[] if look is None else list(look.widths),
        decisions=[] if look is None else list(look.decisions),
        ended_unix_ns=environment.unix_ns,
        load_average_end=os.getloadavg()[0],
        environment_end=environment,
    )


def _stop_reason(progress: CampaignStatus) -> StopReason:
    if progress.look is not None and progress.look.reached:
        return StopReason.DECIDED if progress.look.decisions else StopReason.PRECISION
    return StopReason.CAP if progress.all_done else StopReason.INTERRUPTED


def _browser_versions(plan: Plan) -> dict[str, str]:
    """Return the version of every browser used by the plan; a missing browser is noticed before the run."""
    if plan.kind is not TrialKind.PAGE_LOAD:
        return {}
    used = dict.fromkeys(condition.browser for condition in plan.conditions())
    return {str(browser): _VERSION_OF[browser]() for browser in used}


def _core_version() -> str | None:
    try:
        command = [str(find_core()), "--version"]
        run = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True, start_new_session=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return run.stdout.strip().removeprefix("resolab-core ")
