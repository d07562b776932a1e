from pathlib import Path

import msgspec
import pytest
from synthetic_dataset import make_manifest, make_plan

from resolab.basics.errors import ConfigurationError, MachineError
from resolab.store import (
    RunStatus,
    create_dataset_folder,
    dataset_folder,
    describe_machine,
    git_commit,
    load_manifest,
    save_manifest,
)

MANIFEST = make_manifest(make_plan(), finished=False, planned=10, run=3)


def test_a_new_folder_is_made_and_an_empty_one_taken(tmp_path: Path) -> None:
    assert (create_dataset_folder(tmp_path / "a" / "b") / "trials").is_dir()
    (tmp_path / "empty").mkdir()
    create_dataset_folder(tmp_path / "empty")


def test_a_folder_with_anything_in_it_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("")
    with pytest.raises(
        ConfigurationError, match=r"not empty; continue it with `resolab resume .*` or give another --out"
    ):
        create_dataset_folder(tmp_path)
    with pytest.raises(ConfigurationError, match="no folder"):
        create_dataset_folder(tmp_path / "x")


def test_a_folder_that_cannot_be_made_is_a_machine_error() -> None:
    with pytest.raises(MachineError, match="failed to make the dataset folder"):
        create_dataset_folder(Path("/proc/resolab-test"))


def test_the_manifest_comes_back_and_is_replaced_whole(tmp_path: Path) -> None:
    save_manifest(tmp_path, MANIFEST)
    assert load_manifest(tmp_path) == MANIFEST
    finished = msgspec.structs.replace(MANIFEST, status=RunStatus.FINISHED)
    save_manifest(tmp_path, finished)
    assert load_manifest(tmp_path) == finished
    assert sorted(file.name for file in tmp_path.iterdir()) == ["manifest.json", "plan.toml"]
    assert (tmp_path / "plan.toml").read_text() == MANIFEST.plan_text


def test_a_manifest_from_before_there_were_several_browsers_is_read(tmp_path: Path) -> None:
    save_manifest(tmp_path, MANIFEST)
    old = msgspec.json.decode((tmp_path / "manifest.json").read_bytes())
    del old["versions"]["browsers"]
    (tmp_path / "manifest.json").write_bytes(msgspec.json.encode(old))
    versions = load_manifest(tmp_path).versions
    assert (versions.browser, versions.browsers) == ("chromium 156.0", {})


def test_a_failed_save_keeps_the_old_manifest(tmp_path: Path) -> None:
    save_manifest(tmp_path, MANIFEST)
    (tmp_path / "manifest.json.partial").symlink_to("/dev/full")
    with pytest.raises(MachineError, match="No space left"):
        save_manifest(tmp_path, msgspec.structs.replace(MANIFEST, seed=99))
    assert load_manifest(tmp_path) == MANIFEST


def test_what_is_no_dataset_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"no manifest\.json"):
        dataset_folder(tmp_path)
    (tmp_path / "manifest.json").write_text("{}")
    with pytest.raises(ConfigurationError, match="missing required field"):
        load_manifest(tmp_path)


def test_the_machine_describes_itself() -> None:
    machine = describe_machine()
    assert machine.cores_count >= 1
    assert machine.kernel.startswith("Linux ")


def test_git_commit_is_none_outside_a_checkout(tmp_path: Path) -> None:
    assert git_commit(tmp_path) is None
    commit = git_commit(Path(__file__).parent)
    assert commit is None or len(commit.partition("+")[0]) == 40


def test_what_a_run_killed_before_its_first_trial_left_is_taken_over(tmp_path):
    folder = tmp_path / "d"
    create_dataset_folder(folder)
    (folder / ".lock").touch()
    assert create_dataset_folder(folder) == folder
    (folder / "trials" / "b000-t000.jsonl").touch()
    with pytest.raises(ConfigurationError, match="not empty"):
        create_dataset_folder(folder)
