"""Scratch folders go with their process, at the latest when the next one starts."""

import fcntl
import multiprocessing
import os
import shutil
import subprocess
import tempfile
import threading
from pathlib import Path

import pytest

from resolab.browser import BrowserSettings, home, locked_folder
from resolab.browser.locked_folder import remove_abandoned
from resolab.lab.scratch import scratch_folder


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


NOBODY = 4_194_305
"""Above every process's number."""


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def dead_pid():
    dead = subprocess.Popen(["true"])
    dead.wait()
    return dead.pid


def test_what_others_put_beside_it_stops_no_run(temporary):
    pid = dead_pid()
    names = [f"resolab-{pid}-{what}" for what in ("dangling", "link", "file", "pipe", "locklink")]
    dangling, link, file, pipe, lock_link = (temporary / name for name in names)
    kept = temporary / "kept"
    kept.mkdir()
    (kept / "mine").write_text("x")
    dangling.symlink_to("/nowhere")
    link.symlink_to(kept)
    file.write_text("x")
    os.mkfifo(pipe)
    lock_link.mkdir()
    (lock_link / ".lock").symlink_to(kept / "mine")
    with scratch_folder() as folder:
        assert folder.is_dir()
    assert (kept / "mine").read_text() == "x"
    assert dangling.is_symlink()
    assert file.exists()


def test_a_folder_of_another_user_is_left(temporary, monkeypatch):
    other = temporary / f"resolab-{dead_pid()}-other"
    other.mkdir()
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    remove_abandoned()
    assert other.is_dir()


def test_runs_that_begin_at_once_take_no_folder_from_each_other(temporary):
    """Each takes the others' new folders for abandoned ones: of processes that cannot be seen from there."""
    for number in range(20):
        (temporary / f"resolab-{dead_pid()}-left{number}").mkdir()

    def begin() -> None:
        locked_folder.os.getpid = lambda: NOBODY
        for _ in range(50):
            with scratch_folder() as folder:
                (folder / "key").write_text("secret")
                assert (folder / "key").read_text() == "secret"
                remove_abandoned()
                assert (folder / "key").exists()

    started = [multiprocessing.get_context("fork").Process(target=begin) for _ in range(6)]
    for one in started:
        one.start()
    for one in started:
        one.join(120)
        assert one.exitcode == 0
    assert list(temporary.iterdir()) == []


def test_a_folder_is_not_removed_from_under_a_process_that_locks_it_meanwhile(temporary, monkeypatch):
    """The remover found no lock file; the owner makes it while the remover goes on."""
    folder = temporary / f"resolab-{dead_pid()}-new"
    folder.mkdir()
    locks = []

    def removed_while_its_owner_locks_it(path, ignore_errors):
        owner = threading.Thread(target=lambda: locks.append(locked_folder._lock_folder(folder)), daemon=True)
        owner.start()
        owner.join(0.2)
        assert locks == [], "the owner holds a folder that is about to be removed"
        remove(path, ignore_errors=ignore_errors)
        started.append(owner)

    started, remove = [], shutil.rmtree
    monkeypatch.setattr(locked_folder.shutil, "rmtree", removed_while_its_owner_locks_it)
    remove_abandoned()
    started[0].join(60)
    assert locks == [None]
    assert not folder.exists()


def test_a_browsers_temporary_folder_elsewhere_is_locked_as_long_as_it_is_used(temporary, monkeypatch):
    monkeypatch.setattr(home, "LONGEST_PATH_BYTES", 1)
    monkeypatch.setattr(locked_folder.os, "getpid", lambda: NOBODY)

    class Home(home.BrowserHome):
        PREFIX = "x"

        def _write(self, settings):
            pass

    used = Home(BrowserSettings(resolvable_names=()))
    remove_abandoned()
    assert used.temporary_folder.is_dir()
    used.remove()
    assert list(temporary.iterdir()) == []


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
