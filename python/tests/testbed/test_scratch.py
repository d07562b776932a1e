"""Scratch folders go with their process, at the latest when the next one starts."""

import fcntl
import os
import subprocess
import tempfile
from pathlib import Path

from resolab.testbed.scratch import scratch_folder


def test_folders_of_the_dead_go_and_those_of_the_living_stay(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    dead = subprocess.Popen(["true"])
    dead.wait()
    living = tmp_path / f"resolab-{os.getpid()}-living"
    abandoned = tmp_path / f"resolab-{dead.pid}-abandoned"
    foreign = tmp_path / "resolab-notes"
    for folder in (living, abandoned, foreign):
        folder.mkdir()
    with scratch_folder() as folder:
        assert folder.parent == tmp_path
        assert folder.stat().st_mode & 0o077 == 0
        (folder / "key").write_text("secret")
        assert sorted(tmp_path.iterdir()) == sorted([folder, foreign, living])
    assert sorted(Path(tmp_path).iterdir()) == sorted([foreign, living])


def test_a_process_that_cannot_be_seen_from_here_keeps_its_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    dead = subprocess.Popen(["true"])
    dead.wait()
    elsewhere = tmp_path / f"resolab-{dead.pid}-elsewhere"
    elsewhere.mkdir()
    with (elsewhere / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with scratch_folder():
            assert elsewhere.exists()
    with scratch_folder():
        assert not elsewhere.exists()
