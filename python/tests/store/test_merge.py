import json
import shutil
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from rich.console import Console
from synthetic_dataset import PLAN_TEXT, Faults, make_dataset, make_plan

from resolab.basics.errors import ConfigurationError
from resolab.campaign import resume_campaign
from resolab.cli.main import main
from resolab.report import build_report
from resolab.store import (
    Manifest,
    build_tables,
    describe_environment,
    find_finished_trials,
    load_manifest,
    merge_datasets,
    open_dataset,
    save_manifest,
)
from resolab.store.manifest import IntervalWidth, ProcessStart, SoftwareEntry, StopReason, dataset_id

SMALL = (
    PLAN_TEXT.replace("blocks = 6", "blocks = 2")
    .replace('page = ["example", "wikipedia"]', 'page = ["example"]')
    .replace('profile = ["fiber", "4g"]', 'profile = ["fiber"]')
)


def run(folder: Path, *, seed: int = 7, text: str = SMALL, faults: Faults | None = None, **changes: object) -> Path:
    """Make the dataset of one run; the number in its folder's name is the order in which runs were made."""
    plan = replace(make_plan(text.replace("seed = 7", f"seed = {seed}")), seed=seed)
    made = make_dataset(folder, plan, faults)
    number = int(folder.name.removeprefix("run"))
    common = {"dataset_id": folder.name, "created_unix_ns": 1_000_000_000_000_000_000 * number}
    change(made, **(common | changes))
    return made


def change(folder: Path, **changes: object) -> Manifest:
    manifest = msgspec.structs.replace(load_manifest(folder), **changes)
    save_manifest(folder, manifest)
    return manifest


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    root = tmp_path_factory.mktemp("runs")
    return run(root / "run1", seed=7), run(root / "run2", seed=8)


def test_blocks_are_numbered_on_and_pairs_stay_within_their_run(runs: tuple[Path, Path], tmp_path: Path) -> None:
    merged = merge_datasets(tmp_path / "m", [runs[1], runs[0]])
    assert [(one.dataset_id, one.first_block, one.blocks, one.seed) for one in merged.merged_from] == [
        ("run1", 0, 2, 7),
        ("run2", 2, 2, 8),
    ]
    assert (merged.blocks, merged.trials_finished_count, merged.trials_planned_count) == (4, 24, 24)
    build_tables(tmp_path / "m")
    rows = []
    for folder in runs:
        build_tables(folder)
        with open_dataset(folder) as dataset:
            rows.append([msgspec.structs.asdict(load) for load in dataset.measured_loads()])
    with open_dataset(tmp_path / "m") as dataset:
        found = dataset.measured_loads()
    expected = rows[0] + [
        row | {"block": row["block"] + 2, "trial_id": f"b{row['block'] + 2:03}{row['trial_id'][4:]}"} for row in rows[1]
    ]
    assert [msgspec.structs.asdict(load) for load in found] == expected


def test_lines_between_first_and_last_are_copied_as_they_are(runs: tuple[Path, Path], tmp_path: Path) -> None:
    merge_datasets(tmp_path / "m", runs)
    old = list(find_finished_trials(runs[1]).values())[-1].read_bytes().splitlines()
    new = list(find_finished_trials(tmp_path / "m").values())[-1].read_bytes().splitlines()
    assert old[1:-1] == new[1:-1]
    assert msgspec.json.decode(new[-1])["trial_id"] == msgspec.json.decode(new[0])["trial_id"] == "b003-t005"
    assert (tmp_path / "m" / "manifests" / "run2.json").read_bytes() == (runs[1] / "manifest.json").read_bytes()


def test_the_report_works_and_names_the_runs(runs: tuple[Path, Path], tmp_path: Path, capsys) -> None:
    assert main(["merge", str(tmp_path / "m"), *map(str, runs)]) == 0
    assert "24 trials in 4 blocks of 2 runs" in capsys.readouterr().out
    html = build_report(tmp_path / "m").read_text()
    assert "run2: 12 trials, blocks 2 to 3, seed 8, finished" in html
    assert "Merged: blocks 2 to 3 are run run2" in (tmp_path / "m" / "README.md").read_text()


def test_a_merged_dataset_merges_again_but_does_not_resume(runs: tuple[Path, Path], tmp_path: Path) -> None:
    merge_datasets(tmp_path / "m", runs)
    third = run(tmp_path / "run3", seed=9)
    again = merge_datasets(tmp_path / "again", [tmp_path / "m", third])
    assert [(one.dataset_id, one.first_block) for one in again.merged_from] == [("run1", 0), ("run2", 2), ("run3", 4)]
    assert {file.name for file in (tmp_path / "again" / "manifests").iterdir()} >= {
        "run1.json",
        "run2.json",
        "run3.json",
    }
    with pytest.raises(ConfigurationError, match="merged from 2 runs; resume those and merge again"):
        resume_campaign(tmp_path / "m", Console(quiet=True))
    with pytest.raises(ConfigurationError, match="holds dataset run1 too"):
        merge_datasets(tmp_path / "twice", [tmp_path / "m", runs[0]])


def test_what_else_differs_is_a_warning(runs: tuple[Path, Path], tmp_path: Path, capsys) -> None:
    versions = msgspec.structs.replace(load_manifest(runs[0]).versions, resolab="0.2.0")
    other = run(tmp_path / "run2", versions=versions, git_commit="fedcba", faults=Faults(trials_count=8))
    assert main(["merge", str(tmp_path / "m"), str(runs[0]), str(other)]) == 0
    assert "warning: the runs differ in version of resolab: 0.1.0, 0.2.0" in capsys.readouterr().err
    merged = load_manifest(tmp_path / "m")
    assert merged.warnings == [
        "the runs differ in version of resolab: 0.1.0, 0.2.0",
        "the runs differ in git commit: 0123456789abcdef, fedcba",
        "run run2 did not finish",
    ]
    assert (merged.status, merged.trials_finished_count, merged.trials_planned_count) == ("interrupted", 20, 24)


def begin(**changes: object) -> ProcessStart:
    entry = SoftwareEntry(
        program="/bin/a", program_sha256="aa", cache="warm", transports=["dot"], command=["a", "-x"], configuration="c"
    )  # fmt: skip
    mine = msgspec.structs.replace(entry, **changes)
    return ProcessStart(unix_ns=1, pages_sha256={"example": "one"}, software={"mine": mine})


REFUSED = {
    "plan differs from that of .* in 'factors'": {"text": SMALL.replace('"zero_rtt"]', '"resumed"]')},
    "plan differs from that of .* in 'limits'": {"text": SMALL + "[limits]\npage_timeout_s = 10.0\n"},
    "its format is 2.0": {"format_version": "2.0"},
    "holds no finished trial": {"faults": Faults(trials_count=0)},
    "profile 'fiber' is not the same": {"profile_delay_ms": 99.0},
    "page 'example' is not the same": {"starts": [ProcessStart(unix_ns=1, pages_sha256={"example": "other"})]},
    "software 'mine' is not the same": {"starts": [begin(program_sha256="bb")]},
    "software 'mine' is not the same as": {"starts": [begin(command=["a", "-y"])]},
    "software 'mine' is not the same as in": {"starts": [begin(configuration="d")]},
    "software 'mine' is not the same as in .*run1": {"starts": [begin(cache="cold")]},
}


@pytest.mark.parametrize("problem", REFUSED)
def test_what_must_not_be_pooled_is_refused(runs: tuple[Path, Path], tmp_path: Path, problem: str) -> None:
    changes = dict(REFUSED[problem])
    delay_ms = changes.pop("profile_delay_ms", None)
    other = run(tmp_path / "run2", **changes)
    if delay_ms is not None:
        (link,) = load_manifest(other).profiles
        up = msgspec.structs.replace(link.up, one_way_delay_ms=delay_ms)
        change(other, profiles=[msgspec.structs.replace(link, up=up)])
    first = shutil.copytree(runs[0], tmp_path / "run1")
    change(first, starts=[begin()])
    with pytest.raises(ConfigurationError, match=problem) as refused:
        merge_datasets(tmp_path / "m", [first, other])
    assert "\n" not in str(refused.value)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["run1", "run2"]


@pytest.mark.parametrize("kind", ["page", "profile"])
def test_the_second_and_the_third_are_held_against_each_other(
    runs: tuple[Path, Path], tmp_path: Path, kind: str
) -> None:
    """Of what differs between them the first says nothing."""
    folders = [shutil.copytree(runs[min(number, 1)], tmp_path / str(number)) for number in range(3)]
    (link,) = load_manifest(folders[0]).profiles
    for number, folder in enumerate(folders):
        other = msgspec.structs.replace(link.up, one_way_delay_ms=50.0 + number)
        profiles = [link, *([msgspec.structs.replace(link, name="other", up=other)] if number else [])]
        pages = {"example": "one", **({"other": f"{number}"} if number else {})}
        start = ProcessStart(unix_ns=1, pages_sha256=pages if kind == "page" else {})
        changed = {"profiles": profiles} if kind == "profile" else {}
        change(folder, dataset_id=f"run-{number}", created_unix_ns=number + 1, starts=[start], **changed)
    message = f"could not merge .*2: {kind} 'other' is not the same as in .*1; their conditions"
    with pytest.raises(ConfigurationError, match=message):
        merge_datasets(tmp_path / "out", folders)


def test_a_merged_dataset_names_the_software_of_its_runs(runs: tuple[Path, Path], tmp_path: Path) -> None:
    folders = [shutil.copytree(folder, tmp_path / folder.name) for folder in runs]
    for number, folder in enumerate(folders):
        change(folder, starts=[begin(program=f"/bin/{number}")])  # The same program at another place.
    (start,) = merge_datasets(tmp_path / "m", folders).starts
    assert start.software["mine"].identity == begin().software["mine"].identity


def test_a_merged_manifest_says_of_its_end_what_is_true_of_all_runs(runs: tuple[Path, Path], tmp_path: Path) -> None:
    folders = [shutil.copytree(folder, tmp_path / folder.name) for folder in runs]
    width = IntervalWidth(name="n", treatment="example.fiber.doh.h3.full", baseline="b", ci_width_ms=3.0)
    for folder, digest, blocks in zip(folders, ("core", "other"), (2, 1), strict=True):
        start = ProcessStart(unix_ns=1, git_commit="c", resolab_core_sha256=digest, pages_sha256={"example": "one"})
        change(
            folder,
            starts=[start],
            paths=blocks,
            stop_reason=StopReason.PRECISION,
            blocks_finished_count=blocks,
            widths_reached=[width],
            environment_end=describe_environment(versions={}) if blocks == 1 else None,
        )
    merged = merge_datasets(tmp_path / "m", folders)
    assert (merged.stop_reason, merged.widths_reached, merged.blocks_finished_count) == (None, [], 3)
    assert merged.environment_end is not None
    assert merged.pages() == ["example"]
    assert (merged.starts[0].git_commit, merged.starts[0].resolab_core_sha256) == ("c", None)
    assert "the runs differ in paths at a time: 2, 1" in merged.warnings
    assert "the runs differ in resolab-core (sha256): core, other" in merged.warnings


def test_nothing_is_overwritten_and_nothing_half_is_left(runs: tuple[Path, Path], tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="give two datasets or more"):
        merge_datasets(tmp_path / "m", runs[:1])
    with pytest.raises(ConfigurationError, match="it is there and not empty"):
        merge_datasets(runs[0], runs)
    broken = run(tmp_path / "run2")
    last = list(find_finished_trials(broken).values())[-1]
    last.write_bytes(last.read_bytes()[:-40])
    with pytest.raises(ConfigurationError, match=f"failed to read {last} line"):
        merge_datasets(tmp_path / "m", [runs[0], broken])
    assert sorted(one.name for one in tmp_path.iterdir()) == ["run2"]


@pytest.mark.parametrize("name", ["../x", "/tmp/x", "a/b", "..", ".hidden", "", "a\x00b"])
def test_a_foreign_datasets_name_leads_nowhere(runs: tuple[Path, Path], tmp_path: Path, name: str) -> None:
    foreign = shutil.copytree(runs[1], tmp_path / "inner" / "foreign")
    text = (foreign / "manifest.json").read_text()
    (foreign / "manifest.json").write_text(json.dumps(json.loads(text) | {"dataset_id": name}))
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(ConfigurationError, match="is no name of a file"):
        merge_datasets(tmp_path / "inner" / "out", [runs[0], foreign])
    assert sorted(tmp_path.rglob("*")) == before


def test_a_plan_may_have_any_name(runs: tuple[Path, Path], tmp_path: Path) -> None:
    assert dataset_id("H3/DoQ: 4G, März", "1f") == "H3-DoQ-4G-M-rz-1f"
    assert dataset_id("../..", "1f") == "plan-1f"
    for number in (1, 2):
        change(shutil.copytree(runs[number - 1], tmp_path / f"run{number}"), plan="a/b")
    merged = merge_datasets(tmp_path / "out", [tmp_path / "run1", tmp_path / "run2"])
    assert merged.dataset_id.startswith("a-b-merged-")
    assert load_manifest(tmp_path / "out") == merged
