"""Check a returned block against the order: every trial at its position of the seeded order.

For: the contents of an unpacked bundle. Not for: the tar file (`bundle`), or the truth of numbers, which no check can
show.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import msgspec

from resolab.basics.errors import ConfigurationError
from resolab.basics.records import PageLoadRecord, Record, TrialEndRecord, TrialRecord
from resolab.campaign.live_run import live_run
from resolab.campaign.schedule import PlannedTrial, block_schedule
from resolab.extras.fleet.agent.run_check import find_provenance_difference
from resolab.extras.fleet.job import LARGEST_NUMBER, FleetRun
from resolab.extras.fleet.vantage_run import read_vantage_plan
from resolab.plan import Corpus, Plan
from resolab.plan.kind import list_written_levels
from resolab.store import load_manifest, read_trial
from resolab.store.artifacts import KEPT_FILE
from resolab.store.folder import MANIFEST, TRIALS
from resolab.store.trials import SUFFIX

_LONGEST_SHOWN = 80


@dataclass(frozen=True, slots=True)
class ExpectedBlock:
    """The expected content of a block."""

    run: FleetRun
    plan: Plan
    """The plan at the vantage point."""
    trials: Mapping[str, PlannedTrial]
    """The trials by the names of their files within the dataset."""


def build_expected_block(run: FleetRun, vantage: str, block: int) -> ExpectedBlock:
    """Return the expected content of a run's block at a vantage point."""
    if not 0 <= block < run.blocks:
        raise ConfigurationError(f"run {run.id} has no block {block}: it has {run.blocks} at each vantage point")
    plan = read_vantage_plan(run, vantage)
    planned = block_schedule(plan, plan.seed, block)
    return ExpectedBlock(run, plan, {f"{TRIALS}/{one.trial_id}{SUFFIX}": one for one in planned})


def refuse(problem: str) -> NoReturn:
    """Raise the line with the reason for rejecting a bundle."""
    raise ConfigurationError(f"could not take a block's result: {problem}; it is left out")


def check_ordered(folder: Path, names: Collection[str], expected: ExpectedBlock) -> None:
    """Raise when a folder's files, by their names, differ from the ordered block."""
    if MANIFEST not in names:
        refuse(f"it has no {MANIFEST}")
    _check_manifest(folder, expected)
    foreign = next((name for name in names if name.startswith(f"{TRIALS}/") and name not in expected.trials), None)
    if foreign is not None:
        refuse(f"{foreign} is no trial of this block")
    named: set[str] = {MANIFEST}
    for name, trial in expected.trials.items():
        if name not in names:
            refuse(f"trial {trial.trial_id} is missing")
        named |= {name, *_check_trial(folder / name, trial, expected.plan)}
    unnamed = next((name for name in names if name not in named), None)
    if unnamed is not None:
        refuse(f"none of its trials names {unnamed}")


def files_named(records: Iterable[Record]) -> Iterator[str]:
    """Yield the names of further files in a trial's records."""
    for record in records:
        if isinstance(record, TrialEndRecord):
            yield from (one for one in (record.capture_file, record.key_log_file, record.netlog_file) if one)
        elif isinstance(record, PageLoadRecord) and record.screenshot_file:
            yield record.screenshot_file


def _check_manifest(folder: Path, expected: ExpectedBlock) -> None:
    try:
        manifest = load_manifest(folder)
    except ConfigurationError as error:
        refuse(f"its manifest cannot be read: {error.__cause__ or error}")
    if _holds_large_number(manifest):
        refuse("its manifest has a number that no table takes")
    wanted = _manifest_wanted(expected)
    other = next((key for key, value in wanted.items() if getattr(manifest, key) != value), None)
    if other is not None:
        refuse(
            f"{other} of its manifest is {_clip_text(getattr(manifest, other))}, "
            f"ordered was {_clip_text(wanted[other])}"
        )
    if not manifest.starts:
        refuse("its manifest does not say what its trials stand on")
    for start in manifest.starts:
        difference = find_provenance_difference(expected.run, start)
        if difference is not None:
            refuse(f"where it was run, {difference}")


def _manifest_wanted(expected: ExpectedBlock) -> dict[str, Any]:
    run, plan = expected.run, expected.plan
    corpus = Corpus.from_project(plan.own_pages)
    return {
        "fleet_run": run.id,
        "vantage_point": plan.vantage_point,
        "plan": plan.name,
        "plan_text": plan.source_text,
        "seed": plan.seed,
        "blocks": plan.blocks,
        "backend": plan.instrument.backend,
        "profiles": [] if plan.live is not None else [corpus.profile(name) for name in plan.factors.profile],
        "live": live_run(plan),
        "merged_from": [],
    }


def _check_trial(file: Path, trial: PlannedTrial, plan: Plan) -> list[str]:
    """Check a trial from its first line to its last; return the names of its further files."""
    first = last = None
    ends_count = 0
    named: list[str] = []
    try:
        for record in read_trial(file):
            first, last = first or record, record
            ends_count += isinstance(record, (TrialRecord, TrialEndRecord))
            named += files_named([record])
            if _holds_large_number(record):
                refuse(f"trial {trial.trial_id} has a number that no table takes")
    except ConfigurationError as error:
        refuse(f"trial {trial.trial_id} is no trial's file: {error.__cause__ or error}")
    if not isinstance(first, TrialRecord) or not isinstance(last, TrialEndRecord) or ends_count != 2:
        refuse(f"trial {trial.trial_id} is not whole: it has to have one first and one last line")
    wanted = _head_wanted(trial, plan)
    other = next((key for key, value in wanted.items() if getattr(first, key) != value), None)
    if other is not None:
        shown = f"{_clip_text(getattr(first, other))}, ordered was {_clip_text(wanted[other])}"
        refuse(f"{other} of trial {trial.trial_id} is {shown}")
    if last.trial_id != trial.trial_id:
        refuse(f"trial {trial.trial_id} ends as {_clip_text(last.trial_id)}")
    outside = next((name for name in named if not KEPT_FILE.fullmatch(name)), None)
    if outside is not None:
        refuse(f"trial {trial.trial_id} names {_clip_text(outside)}, which is no file of a dataset")
    return named


def _holds_large_number(value: object) -> bool:
    """Return True for decoded data with a whole number beyond 64 bits: JSON has no limit, tables do."""
    if isinstance(value, int):
        return not -LARGEST_NUMBER <= value <= LARGEST_NUMBER
    if isinstance(value, msgspec.Struct):
        return any(_holds_large_number(getattr(value, name)) for name in value.__struct_fields__)
    if isinstance(value, dict):
        return any(map(_holds_large_number, value.values()))
    return isinstance(value, list) and any(map(_holds_large_number, value))


def _head_wanted(trial: PlannedTrial, plan: Plan) -> dict[str, Any]:
    condition = trial.condition
    return {
        "trial_id": trial.trial_id,
        "block": trial.block,
        "position": trial.position,
        "condition": condition.id,
        "study": condition.study,
        "kind": condition.kind,
        "replicate": condition.replicate,
        **list_written_levels(condition),
        "browser_kind": condition.own_browser_kind,
        "vantage_point": plan.vantage_point,
    }


def _clip_text(value: object) -> str:
    """Return foreign text as a single, short line."""
    text = ascii(str(value))
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."
