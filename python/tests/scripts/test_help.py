"""Every script says with --help what it does, changes nothing by that, and stands in scripts/README.md."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[3] / "scripts"
SHELL = sorted(file.name for file in SCRIPTS.iterdir() if file.is_file() and not file.suffix)
FILES = sorted([*SCRIPTS.glob("*.py"), *SCRIPTS.glob("coverage_simulations/*.py")])
PYTHON = [str(file.relative_to(SCRIPTS)) for file in FILES if "__main__" in file.read_text()]
BENCHES = sorted(file.parent.name.replace("_", "-") for file in SCRIPTS.glob("benches/*/__main__.py"))


def help_of(*command: str) -> str:
    ended = subprocess.run(
        [*command, "--help"], env=os.environ | {"PYTHONPATH": str(SCRIPTS)}, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.mark.parametrize("name", [name for name in SHELL if name != "coverage"])  # it passes --help on, after set-up
def test_a_shell_script_says_what_it_does(name: str) -> None:
    said = help_of(str(SCRIPTS / name))
    first_line = (SCRIPTS / name).read_text().splitlines()[1].removeprefix("# ")
    assert said.startswith(first_line)
    assert "set -eu" not in said


@pytest.mark.parametrize("name", PYTHON)
def test_a_python_script_says_what_it_does(name: str) -> None:
    assert f"usage: {Path(name).name}" in help_of(sys.executable, str(SCRIPTS / name))


@pytest.mark.parametrize("name", BENCHES)
def test_a_benchmark_says_what_it_measures(name: str) -> None:
    assert f"usage: scripts/bench {name}" in help_of(sys.executable, "-m", f"benches.{name.replace('-', '_')}")


def test_the_index_names_them_all() -> None:
    index = (SCRIPTS / "README.md").read_text()
    names = [*SHELL, *(str(file.relative_to(SCRIPTS)) for file in FILES), *(f"bench {name}" for name in BENCHES)]
    assert [name for name in names if f"`{name}`" not in index and f"`{name} " not in index] == []
    assert set(BENCHES) == set((SCRIPTS / "bench").read_text().splitlines()[2].split()[3].split("|"))
