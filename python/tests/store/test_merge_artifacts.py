"""What is kept beside trials comes along when runs are merged, and stays apart from other runs'."""

import stat
from pathlib import Path
from typing import Any

import msgspec
import pytest
from test_merge import run

from resolab.basics.errors import ConfigurationError
from resolab.store import find_finished_trials, merge_datasets
from resolab.store.artifacts import line_taken_along
from resolab.store.files import write_private


def keep(dataset: Path, trial: str, **names: str) -> None:
    """Have a trial's last line name files, and its measured load a screenshot."""
    file = find_finished_trials(dataset)[trial]
    *lines, last = file.read_bytes().splitlines()
    screenshot = names.pop("screenshot_file", None)
    lines = [_shown(line, screenshot) for line in lines]
    end = msgspec.json.encode(msgspec.json.decode(last) | names)
    file.write_bytes(b"\n".join([*lines, end, b""]))


def _shown(line: bytes, screenshot: str | None) -> bytes:
    record = msgspec.json.decode(line)
    if screenshot is None or record["record"] != "page_load" or not record["measured"]:
        return line
    return msgspec.json.encode(record | {"screenshot_file": screenshot})


def put(dataset: Path, name: str, content: str) -> None:
    (dataset / name).parent.mkdir(parents=True, exist_ok=True)
    write_private(dataset / name, content.encode())


def named(dataset: Path, trial: str) -> dict[str, Any]:
    records = [msgspec.json.decode(line) for line in find_finished_trials(dataset)[trial].read_bytes().splitlines()]
    keys = ("capture_file", "key_log_file", "netlog_file", "screenshot_file")
    return {key: one[key] for one in records for key in keys if one.get(key)}


def test_files_come_along_under_names_of_their_run(tmp_path: Path) -> None:
    runs = [run(tmp_path / "run1", seed=7), run(tmp_path / "run2", seed=8)]
    for one in runs:
        for name in ("key_logs/b001-t000.keys", "netlogs/path2/chromium-1.json", "screenshots/b001-t000.png"):
            put(one, name, f"{one.name} {name}")
        names = {"key_log_file": "key_logs/b001-t000.keys", "netlog_file": "netlogs/path2/chromium-1.json"}
        keep(one, "b001-t000", **names, screenshot_file="screenshots/b001-t000.png")
        # The log is of several trials; a capture may have been removed since.
        keep(one, "b001-t001", capture_file="captures/b001-t001.pcapng", netlog_file="netlogs/path2/chromium-1.json")
    merge_datasets(tmp_path / "m", runs)
    for number, trial in ((1, "b001"), (2, "b003")):
        found = named(tmp_path / "m", f"{trial}-t000")
        assert found == {
            "key_log_file": f"key_logs/run{number}-b001-t000.keys",
            "netlog_file": f"netlogs/run{number}-path2/chromium-1.json",
            "screenshot_file": f"screenshots/run{number}-b001-t000.png",
        }
        for name in found.values():
            assert (tmp_path / "m" / name).read_text() == f"run{number} {name.replace(f'run{number}-', '')}"
        assert named(tmp_path / "m", f"{trial}-t001") == {
            "capture_file": f"captures/run{number}-b001-t001.pcapng",
            "netlog_file": f"netlogs/run{number}-path2/chromium-1.json",
        }
    assert stat.S_IMODE((tmp_path / "m/key_logs/run1-b001-t000.keys").stat().st_mode) == 0o600
    assert not (tmp_path / "m/captures").exists()
    merge_datasets(tmp_path / "again", [tmp_path / "m", run(tmp_path / "run9", seed=9)])
    assert (tmp_path / "again/key_logs/run1-run2-b001-t000.keys").read_text() == "run2 key_logs/b001-t000.keys"


@pytest.mark.parametrize("name", ["/etc/passwd", "../secret", "captures/../../x", "trials/b000-t000.jsonl", "captures"])
def test_a_name_that_is_none_of_a_dataset_is_refused(tmp_path: Path, name: str) -> None:
    line = msgspec.json.encode({"record": "trial_end", "capture_file": name})
    with pytest.raises(ConfigurationError, match="no file of a dataset"):
        line_taken_along(line, tmp_path, tmp_path / "out", "run1")
    assert not (tmp_path / "out").exists()


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    put(tmp_path, "secret", "s")
    (tmp_path / "captures").mkdir()
    (tmp_path / "captures/x.pcapng").symlink_to(tmp_path / "secret")
    line = msgspec.json.encode({"record": "trial_end", "capture_file": "captures/x.pcapng"})
    line_taken_along(line, tmp_path, tmp_path / "out", "run1")
    assert not (tmp_path / "out").exists()
