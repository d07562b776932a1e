"""Several runs of one plan as one dataset: blocks numbered on, so pairs stay within the block of their run.

For: `resolab merge`. Not for: comparing datasets of different plans; keep these apart.
"""

import hashlib
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from resolab.basics.errors import ConfigurationError
from resolab.basics.records import FORMAT_VERSION
from resolab.store.artifacts import line_taken_along
from resolab.store.files import machine_errors
from resolab.store.folder import CALIBRATION, MANIFEST, MANIFESTS, TRIALS
from resolab.store.manifest import (
    LiveRun,
    Manifest,
    MergedRun,
    ProcessStart,
    RunStatus,
    dataset_id,
    load_manifest,
    save_manifest,
)
from resolab.store.merge_check import check_mergeable, differences
from resolab.store.trials import SUFFIX, find_finished_trials, read_trial, trial_id


def merge_datasets(out: Path, folders: Sequence[Path]) -> Manifest:
    """Make a new dataset of several, the oldest run first; whole or not at all."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ConfigurationError(f"could not merge into {out}: it is there and not empty; give another OUT")
    runs = sorted(((folder, load_manifest(folder)) for folder in folders), key=lambda run: run[1].created_unix_ns)
    check_mergeable(runs)
    with machine_errors(f"write the dataset {out}"):
        out.parent.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=out.parent))
        try:
            fresh.chmod(0o755)
            (fresh / TRIALS).mkdir()
            (fresh / MANIFESTS).mkdir()
            merged_from: list[MergedRun] = []
            for number, (folder, manifest) in enumerate(runs, 1):
                first_block = sum(one.blocks for one in merged_from)
                merged_from += _copy_run(_MergeTarget(fresh, first_block, f"run{number}"), folder, manifest)
            merged = _manifest(out, runs, merged_from)
            save_manifest(fresh, merged)
            if out.exists():
                out.rmdir()
            fresh.rename(out)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
    return merged


@dataclass(frozen=True, slots=True)
class _MergeTarget:
    """The position of a run in the new dataset."""

    fresh: Path
    first_block: int
    prefix: str
    """The prefix for the names of the run's kept files."""


def _copy_run(place: _MergeTarget, folder: Path, manifest: Manifest) -> list[MergedRun]:
    """Copy a run's trials under new names, with their kept files, its calibrations and its manifest.

    Returns the run's blocks in the merged dataset.
    """
    fresh, first_block = place.fresh, place.first_block
    blocks = [_copy_trial(place, folder, file) for file in find_finished_trials(folder).values()]
    shutil.copyfile(folder / MANIFEST, fresh / MANIFESTS / f"{manifest.dataset_id}.json")
    if (folder / CALIBRATION).is_file():
        with (fresh / CALIBRATION).open("ab") as stream:
            stream.write((folder / CALIBRATION).read_bytes())
    for earlier in sorted(folder.glob(f"{MANIFESTS}/*.json")):
        shutil.copyfile(earlier, fresh / MANIFESTS / earlier.name)
    if manifest.merged_from:
        return [msgspec.structs.replace(one, first_block=one.first_block + first_block) for one in manifest.merged_from]
    run = MergedRun(
        dataset_id=manifest.dataset_id,
        first_block=first_block,
        blocks=max(blocks) + 1 - first_block,
        seed=manifest.seed,
        trials_finished_count=len(blocks),
        created_unix_ns=manifest.created_unix_ns,
        status=manifest.status,
    )
    return [run]


def _copy_trial(place: _MergeTarget, folder: Path, file: Path) -> int:
    """Copy a trial's file and its kept files; only the block, the identifier and the file names change.

    Returns the trial's new block.
    """
    for _ in read_trial(file):
        pass  # Every line is checked against its shape before it is copied as it is.
    lines = file.read_bytes().splitlines(keepends=True)
    head: dict[str, Any] = msgspec.json.decode(lines[0])
    end: dict[str, Any] = msgspec.json.decode(lines[-1])
    if (head.get("record"), end.get("record")) != ("trial", "trial_end"):
        raise ConfigurationError(f"failed to read {file}: it lacks its first or last line; remove it and resume")
    block = head["block"] + place.first_block
    name = trial_id(block, head["position"])
    target = place.fresh / TRIALS / f"{name}{SUFFIX}"
    if target.exists():
        raise ConfigurationError(f"failed to read {file}: another trial has its block and position; remove one of them")
    first = msgspec.json.encode(head | {"block": block, "trial_id": name}) + b"\n"
    taken = partial(line_taken_along, source=folder, target=place.fresh, prefix=place.prefix)
    last = taken(msgspec.json.encode(end | {"trial_id": name}) + b"\n")
    target.write_bytes(b"".join([first, *map(taken, lines[1:-1]), last]))
    return int(block)


def _manifest(out: Path, runs: Sequence[tuple[Path, Manifest]], merged_from: Sequence[MergedRun]) -> Manifest:
    manifests = [manifest for _, manifest in runs]
    identity = hashlib.sha256("\n".join(sorted(one.dataset_id for one in merged_from)).encode()).hexdigest()[:12]
    finished = all(one.status is RunStatus.FINISHED for one in manifests)
    ends = [one.ended_unix_ns for one in manifests if one.ended_unix_ns is not None]
    return msgspec.structs.replace(
        manifests[0],
        format_version=FORMAT_VERSION,
        dataset_id=dataset_id(manifests[0].plan, f"merged-{identity}"),
        blocks=sum(one.blocks for one in merged_from),
        profiles=list({profile.name: profile for one in manifests for profile in one.profiles}.values()),
        live=_live(manifests),
        vantage_point=_if_one([one.vantage_point for one in manifests]),
        fleet_run=_if_one([one.fleet_run for one in manifests]),
        command_line=["resolab", "merge", str(out), *(str(folder) for folder, _ in runs)],
        ended_unix_ns=max(ends, default=None),
        load_average_end=manifests[-1].load_average_end,
        environment_end=manifests[-1].environment_end,
        paths=max(one.paths for one in manifests),
        resume_count=sum(one.resume_count for one in manifests),
        status=RunStatus.FINISHED if finished else RunStatus.INTERRUPTED,
        trials_planned_count=sum(one.trials_planned_count for one in manifests),
        trials_finished_count=sum(one.trials_finished_count for one in merged_from),
        instrument_failures_count=sum(one.instrument_failures_count for one in manifests),
        # Each run ended for a reason of its own; there is none that the whole ended for.
        stop_reason=None,
        blocks_finished_count=_sum_if_known([one.blocks_finished_count for one in manifests]),
        widths_reached=[],
        decisions=[],
        starts=_starts(manifests),
        merged_from=list(merged_from),
        warnings=[*dict.fromkeys(text for one in manifests for text in one.warnings), *differences(manifests)],
    )


def _starts(manifests: Sequence[Manifest]) -> list[ProcessStart]:
    """Keep the pages and software at the runs' beginnings; empty if any run lacks its pages.

    Pages are matched by patterns in the plan.
    """
    begun = [one.starts[0] for one in manifests if one.pages() is not None]
    if len(begun) < len(manifests):
        return []
    return [
        ProcessStart(
            unix_ns=begun[0].unix_ns,
            git_commit=_if_one([one.git_commit for one in begun]),
            resolab_core_sha256=_if_one([one.resolab_core_sha256 for one in begun]),
            pages_sha256={page: digest for one in begun for page, digest in one.pages_sha256.items()},
            software={name: entry for one in begun for name, entry in one.software.items()},
        )
    ]


def _sum_if_known(counts: Sequence[int | None]) -> int | None:
    known = [one for one in counts if one is not None]
    return sum(known) if len(known) == len(counts) else None


def _live(manifests: Sequence[Manifest]) -> LiveRun | None:
    """Join the live settings of the runs: the sites of all runs, and other settings of the first (one plan)."""
    runs = [one.live for one in manifests if one.live is not None]
    if not runs:
        return None
    sites = {site.page: site for run in runs for site in run.sites}
    return msgspec.structs.replace(runs[0], sites=list(sites.values()))


def _if_one(values: Sequence[str | None]) -> str | None:
    """Return the common value of all runs; `None` when the values differ."""
    return values[0] if len(set(values)) == 1 else None
