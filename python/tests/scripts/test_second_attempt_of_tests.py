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


def run(checkout: Path, *arguments: str) -> tuple[int, list[str]]:
    state = checkout / "state"
    path = f"{checkout / 'bin'}:{os.environ['PATH']}"
    ended = subprocess.run(
        ["scripts/test", *arguments], cwd=checkout, env=os.environ | {"XDG_STATE_HOME": str(state), "PATH": path},
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    kept = state / "resolab" / "second-attempts.jsonl"
    return ended.returncode, kept.read_text().splitlines() if kept.exists() else []


def test_what_passes_at_the_second_attempt_is_kept_also_when_another_fails_twice(checkout: Path) -> None:
    (checkout / "test_flaky.py").write_text(FLAKY)
    (checkout / "test_broken.py").write_text(BROKEN)
    code, kept = run(checkout, "--python")
    assert code == 1
    assert len(kept) == 1
    assert "test_flaky.py::test_flaky" in kept[0]
    assert "test_broken" not in kept[0]


def test_a_part_in_which_all_passes_is_no_run_to_remember(checkout: Path) -> None:
    (checkout / "test_fine.py").write_text("def test_fine():\n    pass\n")
    assert run(checkout, "--python") == (0, [])


CARGO = """#!/bin/sh
echo "$*" >> "$(dirname "$0")/asked"
case "$*" in
    *--no-run*) ;;
    *--no-fail-fast*)
        printf 'failures:\\n\\nfailures:\\n    room::fails_once\\n\\ntest result: FAILED. 3 passed; 1 failed; 0 ignored\\n'
        %s
        printf 'error: 2 targets failed:\\n    `-p fine --lib`\\n    `-p broken --test broken`\\n' >&2; exit 101 ;;
    *broken*) exit 101 ;;
esac
"""
NAMED = r"printf 'failures:\n    broken::always\n\ntest result: FAILED. 0 passed; 1 failed; 0 ignored\n'"
CRASHED = ":"


def run_with_cargo(checkout: Path, second_program: str) -> tuple[int, list[str], list[str]]:
    """Run scripts/test with a stand-in for cargo; return the exit code, the attempts kept and cargo's arguments."""
    (checkout / "test_fine.py").write_text("def test_fine():\n    pass\n")
    (checkout / "bin").mkdir()
    programs = {
        "bin/cargo": CARGO % second_program,
        "scripts/check": "#!/bin/sh\n",
        "scripts/fuzz": "#!/bin/sh\n",
    }
    for name, text in programs.items():
        (checkout / name).write_text(text)
        (checkout / name).chmod(0o755)
    code, kept = run(checkout)
    asked = (checkout / "bin" / "asked").read_text().splitlines()
    return code, kept, [line.split("--locked ")[1] for line in asked]


def test_each_failed_test_of_rust_is_tried_again_alone_by_its_name(checkout: Path) -> None:
    code, kept, asked = run_with_cargo(checkout, NAMED)
    assert code == 1  # one failed twice
    assert len(kept) == 1
    assert "room::fails_once" in kept[0]
    assert "broken" not in kept[0]
    assert asked == [
        "--no-run",
        "--no-fail-fast",
        "--workspace -- --exact broken::always --test-threads 1",
        "--workspace -- --exact room::fails_once --test-threads 1",
    ]


def test_with_a_program_that_names_no_test_whole_programs_are_tried_again(checkout: Path) -> None:
    code, kept, asked = run_with_cargo(checkout, CRASHED)
    assert code == 1
    assert "-p fine --lib" in kept[0]
    assert asked[2:] == ["-p fine --lib -- --test-threads 1", "-p broken --test broken -- --test-threads 1"]
