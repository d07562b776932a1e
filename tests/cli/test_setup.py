"""`scripts/setup` in a checkout that is somebody else's: used as it stands, or refused in one line."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from lab import ROOT

AS_NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--")

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, which becomes somebody else")


@pytest.fixture
def checkout():
    with tempfile.TemporaryDirectory(prefix="checkout-", dir="/tmp") as folder:
        root = Path(folder)
        root.chmod(0o755)
        (root / "scripts").mkdir()
        shutil.copyfile(ROOT / "scripts" / "setup", root / "scripts" / "setup")
        (root / "scripts" / "setup").chmod(0o755)
        (root / "crates").mkdir()
        for name in ("Cargo.toml", "Cargo.lock"):
            (root / name).write_text("")
        yield root


def set_up(root):
    command = [*AS_NOBODY, "sh", root / "scripts" / "setup"]
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30, check=False)


def make(file):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("#!/bin/sh\n")
    file.chmod(0o755)


def test_what_is_not_set_up_names_its_owner_and_touches_nothing(checkout):
    done = set_up(checkout)
    assert done.returncode == 4
    (line,) = done.stderr.splitlines()
    assert "this checkout is root's and not set up" in line
    assert not (checkout / ".setup").exists()


def test_what_is_set_up_is_used_until_it_changes(checkout):
    for made in (".venv/bin/python", "target/release/resolab-core", ".setup/resolab-core-release"):
        make(checkout / made)
    done = set_up(checkout)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
    changed = checkout / "crates" / "changed.rs"
    changed.write_text("")
    later = (checkout / ".setup" / "resolab-core-release").stat().st_mtime + 5
    os.utime(changed, (later, later))
    assert set_up(checkout).returncode == 4
