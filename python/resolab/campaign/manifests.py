"""The manifest of a campaign: made at the start, checked at a resume, updated at the end.

For: the manifest's content. Not for: writing the file (`store`).
"""

import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec

import resolab
from resolab.basics.records import FORMAT_VERSION, TrialKind
from resolab.browser.find import FIND, VERSION_OF, check_build, hash_code
from resolab.campaign.interim_analysis import InterimAnalysis
from resolab.campaign.live_run import live_run
from resolab.campaign.provenance import SHOWN_DIGITS, describe_provenance, list_differences
from resolab.lab.engine import find_core
from resolab.plan import Corpus, Plan, trials_a_block
from resolab.plan.browser_builds import BrowserBuild
from resolab.store import (
    Environment,
    Manifest,
    RunStatus,
    StopReason,
    Versions,
    describe_environment,
    describe_machine,
)
from resolab.store.manifest import BrowserProgram, ProcessStart, dataset_id

NO_BROWSER = "none"
_VERSION_OF = VERSION_OF


def new_manifest(plan: Plan, corpus: Corpus, command_line: Sequence[str]) -> Manifest:
    """Describe a campaign about to begin."""
    now_ns = time.time_ns()
    programs = describe_programs(plan)
    browsers = _browser_versions(plan, programs)
    core = _core_version()
    start = describe_provenance(plan, corpus, _join_versions(core, browsers))
    return Manifest(
        format_version=FORMAT_VERSION,
        dataset_id=dataset_id(plan.name, f"{now_ns:x}"),
        plan=plan.name,
        plan_text=plan.source_text,
        plan_folder=str(plan.base) if _names_files(plan) else None,
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
        browser_programs=programs,
        machine=describe_machine(),
        git_commit=start.git_commit,
        load_average_start=os.getloadavg()[0],
        trials_planned_count=plan.blocks * trials_a_block(plan),
        starts=[start],
        environment_start=describe_environment(versions=_join_versions(core, browsers)),
    )


def _names_files(plan: Plan) -> bool:
    own_builds = any(one.path is not None for one in plan.browser_builds.values())
    return bool(plan.own_pages or plan.software) or plan.live is not None or own_builds


def versions_now(plan: Plan) -> dict[str, str]:
    """Return the current versions, for a campaign resumed after days."""
    return _join_versions(_core_version(), _browser_versions(plan, describe_programs(plan)))


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


def _browser_versions(plan: Plan, programs: Mapping[str, BrowserProgram]) -> dict[str, str]:
    """Return the version of every browser used by the plan; a missing browser is noticed before the run.

    Two builds may have one version, so in a plan with own builds the digest is added.
    """
    if programs:
        return {name: f"{one.version} (sha256 {one.sha256[:SHOWN_DIGITS]})" for name, one in programs.items()}
    return {name: _VERSION_OF[build.kind]() for name, build in _list_used_builds(plan).items()}


def _list_used_builds(plan: Plan) -> dict[str, BrowserBuild]:
    if plan.kind is not TrialKind.PAGE_LOAD:
        return {}
    return {condition.browser: condition.browser_build for condition in plan.conditions()}


def describe_programs(plan: Plan) -> dict[str, BrowserProgram]:
    """Describe the program of every browser of a plan with own builds; without own builds, nothing."""
    used = _list_used_builds(plan)
    if all(build.path is None for build in used.values()):
        return {}
    return {name: _describe_program(name, build) for name, build in used.items()}


def _describe_program(name: str, build: BrowserBuild) -> BrowserProgram:
    program = build.path or FIND[build.kind]()
    check_build(name, program)
    file, digest = hash_code(build.kind, program)
    return BrowserProgram(
        kind=build.kind,
        path=str(program),
        version=VERSION_OF[build.kind](program),
        hashed_file=str(file),
        sha256=digest,
    )


def _core_version() -> str | None:
    try:
        command = [str(find_core()), "--version"]
        run = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True, start_new_session=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return run.stdout.strip().removeprefix("resolab-core ")
