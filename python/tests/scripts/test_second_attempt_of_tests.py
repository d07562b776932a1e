"""scripts/test itself, with made-up tests: which it tries again, which it remembers, how it ends."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
FLAKY = """
from pathlib import Path
def test_flaky():
    seen = Path(__file__).with_suffix(".seen")
    first = not seen.exists()
    seen.touch()
    assert not first
"""
BROKEN = "def test_broken():\n    assert False\n"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with scripts/test and tests of our own, and nothing to set up."""
    (tmp_path / "scripts").mkdir()
    for name in ("test", "second_attempts.py"):
        shutil.copy(ROOT / "scripts" / name, tmp_path / "scripts" / name)
    setup = tmp_path / "scripts" / "setup"
    setup.write_text("#!/bin/sh\n")
    setup.chmod(0o755)
    (tmp_path / ".venv").symlink_to(ROOT / ".venv")
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = alone\n")
    return tmp_path


def run(checkout: Path) -> tuple[int, list[str]]:
    state = checkout / "state"
    ended = subprocess.run(
        ["scripts/test", "--python"], cwd=checkout, env=os.environ | {"XDG_STATE_HOME": str(state)},
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    kept = state / "resolab" / "second-attempts.jsonl"
    return ended.returncode, kept.read_text().splitlines() if kept.exists() else []


def test_what_passes_at_the_second_attempt_is_kept_also_when_another_fails_twice(checkout: Path) -> None:
    (checkout / "test_flaky.py").write_text(FLAKY)
    (checkout / "test_broken.py").write_text(BROKEN)
    code, kept = run(checkout)
    assert code == 1
    assert len(kept) == 1
    assert "test_flaky.py::test_flaky" in kept[0]
    assert "test_broken" not in kept[0]


def test_a_part_in_which_all_passes_is_no_run_to_remember(checkout: Path) -> None:
    (checkout / "test_fine.py").write_text("def test_fine():\n    pass\n")
    assert run(checkout) == (0, [])
