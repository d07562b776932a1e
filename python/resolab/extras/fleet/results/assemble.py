"""Assemble the bundles of a run into a single dataset, as from a single machine.

For: `assemble`. Not for: fetching bundles (`fetch`), the content of a bundle (`bundle`, `order_check`), joining
datasets (`store`).

Each vantage point's blocks make an ordinary dataset; several datasets are merged with consecutive block numbers. By
default every vantage point contributes the same number of blocks: a vantage point with more blocks would weigh more in
totals.
"""

import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from resolab.basics.errors import ConfigurationError
from resolab.basics.wording import clip_text
from resolab.extras.fleet.job import FleetRun
from resolab.extras.fleet.results.bundle import unpack
from resolab.extras.fleet.results.order_check import build_expected_block
from resolab.plan import trials_a_block
from resolab.store import (
    Manifest,
    RunStatus,
    StopReason,
    find_finished_trials,
    machine_errors,
    merge_datasets,
    save_manifest,
)
from resolab.store.folder import MANIFEST, TRIALS

LONGEST_WARNING = 500
"""The maximum length of a warning, in letters."""
Bundles = Mapping[str, Mapping[int, Path]]
"""The bundle files by vantage point and block."""
LeftOut = Callable[[str, int, str], None]
"""A callback for a rejected bundle: vantage point, block and reason."""


@dataclass(frozen=True, slots=True)
class UnpackedBlock:
    """A checked and unpacked block."""

    folder: Path
    manifest: Manifest


Blocks = Mapping[str, Mapping[int, UnpackedBlock]]
"""The blocks by vantage point and number."""


def assemble(
    run: FleetRun, bundles: Bundles, out: Path, *, even: bool = True, left_out: LeftOut | None = None
) -> Manifest:
    """Make a dataset of a run's blocks, whole or not at all.

    With `left_out`, a bundle differing from the order is left out and reported; otherwise its error is raised.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ConfigurationError(f"could not write {out}: it is there and not empty; give another folder")
    with machine_errors(f"write the dataset {out}"):
        out.parent.mkdir(parents=True, exist_ok=True)
        place = Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=out.parent))
        try:
            blocks = {one: _unpack_bundles(run, one, files, place, left_out) for one, files in bundles.items()}
            taken = _choose_blocks(run, blocks, even=even)
            made = {one: place / one for one in taken}
            manifests = [_make_dataset(run, one, taken[one], folder) for one, folder in made.items()]
            fresh, manifest = place / "joined", manifests[0]
            if len(made) > 1:
                manifest = merge_datasets(fresh, list(made.values()))
            else:
                next(iter(made.values())).rename(fresh)
            manifest = msgspec.structs.replace(
                manifest,
                command_line=["resolab", *sys.argv[1:]],
                vantage_point=manifest.vantage_point if len(made) == 1 else None,
                warnings=[*manifest.warnings, *_behind(run, blocks, taken)],
            )
            save_manifest(fresh, manifest)
            if out.exists():
                out.rmdir()
            fresh.chmod(0o755)
            fresh.rename(out)
        finally:
            shutil.rmtree(place, ignore_errors=True)
    return manifest


def _unpack_bundles(
    run: FleetRun, vantage: str, bundles: Mapping[int, Path], place: Path, left_out: LeftOut | None
) -> dict[int, UnpackedBlock]:
    """Unpack the bundles of a vantage point, each block into its own folder."""
    blocks = {}
    for block, file in sorted(bundles.items()):
        folder = place / f"{vantage}-{block}"
        try:
            blocks[block] = UnpackedBlock(folder, unpack(file, folder, build_expected_block(run, vantage, block)))
        except ConfigurationError as error:
            if left_out is None:
                raise
            left_out(vantage, block, str(error))
    return blocks


def _choose_blocks(run: FleetRun, blocks: Blocks, *, even: bool) -> dict[str, dict[int, UnpackedBlock]]:
    """Choose the blocks, only the first blocks when another vantage point has fewer."""
    there = {one: dict(blocks[one]) for one in run.vantages if blocks.get(one)}
    if not there:
        raise ConfigurationError(f"could not make a dataset of run {run.id}: there is no block of it; wait for one")
    most = min(map(len, there.values())) if even else run.blocks
    return {one: dict(list(some.items())[:most]) for one, some in there.items()}


def _behind(run: FleetRun, blocks: Blocks, taken: Blocks) -> list[str]:
    """Return the missing parts, a line each."""
    lines = []
    for vantage in run.vantages:
        there, kept = len(blocks.get(vantage, {})), len(taken.get(vantage, {}))
        if not there:
            lines.append(f"vantage point {vantage} has no block in it")
        elif kept < there:
            lines.append(
                f"of vantage point {vantage} {there - kept} of {there} blocks were left out: others have fewer"
            )
    return lines


def _make_dataset(run: FleetRun, vantage: str, blocks: Mapping[int, UnpackedBlock], folder: Path) -> Manifest:
    """Make the dataset of a vantage point."""
    (folder / TRIALS).mkdir(parents=True)
    warnings: list[str] = []
    for number, block in blocks.items():
        warnings += _move_files(block.folder, folder, number)
    trials_count = trials_a_block(build_expected_block(run, vantage, 0).plan)
    finished_count = len(find_finished_trials(folder))
    assert finished_count == trials_count * len(blocks), "a block that was taken is whole"
    manifests = [block.manifest for block in blocks.values()]
    manifest = _join_manifests(manifests, blocks_count=len(blocks), trials_count=trials_count)
    manifest = msgspec.structs.replace(manifest, warnings=[*manifest.warnings, *warnings])
    save_manifest(folder, manifest)
    return manifest


def _move_files(unpacked: Path, folder: Path, block: int) -> list[str]:
    """Move a block's files to the files of earlier blocks; return a line for each file left out."""
    lines = []
    for file in sorted(one for one in unpacked.rglob("*") if one.is_file()):
        name = file.relative_to(unpacked).as_posix()
        if name == MANIFEST:
            continue
        target = folder / name
        if target.exists():
            # Trials are told apart by their block. Logs are numbered anew where a spool got lost.
            lines.append(f"block {block} has another {name} than a block before, and its own was left out")
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        file.rename(target)
    return lines


def _join_manifests(manifests: Sequence[Manifest], *, blocks_count: int, trials_count: int) -> Manifest:
    """Return the joined manifest: the first block's, with running counts from the last."""
    first, last = manifests[0], max(manifests, key=_end)
    # More than one where an agent's spool got lost: what it began then is another dataset.
    lives = list({one.dataset_id: one for one in sorted(manifests, key=_end)}.values())
    all_done = blocks_count == first.blocks
    return msgspec.structs.replace(
        first,
        created_unix_ns=min(one.created_unix_ns for one in lives),
        status=RunStatus.FINISHED if all_done else RunStatus.INTERRUPTED,
        stop_reason=StopReason.CAP if all_done else StopReason.INTERRUPTED,
        trials_planned_count=first.blocks * trials_count,
        trials_finished_count=blocks_count * trials_count,
        blocks_finished_count=blocks_count,
        instrument_failures_count=sum(one.instrument_failures_count for one in lives),
        resume_count=sum(one.resume_count for one in lives),
        paths=last.paths,
        ended_unix_ns=last.ended_unix_ns,
        load_average_end=last.load_average_end,
        environment_end=last.environment_end,
        widths_reached=[],
        decisions=[],
        starts=[start for one in lives for start in one.starts],
        # An agent wrote them, and they are shown.
        warnings=list(
            dict.fromkeys(clip_text(text, longest=LONGEST_WARNING) for one in lives for text in one.warnings)
        ),
    )


def _end(manifest: Manifest) -> int:
    return manifest.ended_unix_ns or manifest.created_unix_ns
