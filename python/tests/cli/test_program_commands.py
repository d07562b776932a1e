"""Commands of resolab-core, and `bench` of resolab-load: words, standard input and exit code go through unchanged."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from resolab.basics.errors import MachineError
from resolab.basics.installation import project_root
from resolab.cli import program_commands
from resolab.cli.program_commands import LOAD_COMMAND, PROGRAM_COMMANDS, become_program
from resolab.lab.engine import find_core, find_load


def ran(*words: str, core: Path | None = None) -> "subprocess.CompletedProcess[str]":
    environment = os.environ | ({"RESOLAB_CORE": str(core)} if core else {})
    command = [sys.executable, "-m", "resolab", *words]
    return subprocess.run(
        command, input="a line\n", env=environment, capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize("command", PROGRAM_COMMANDS)
def test_words_input_and_exit_code_go_through(command: str, tmp_path: Path) -> None:
    for program in ("resolab-core", "resolab-load"):
        (tmp_path / program).write_text(f'#!/bin/sh\nprintf "%s|" {program} "$@"; cat; exit 9\n')
        (tmp_path / program).chmod(0o755)
    ended = ran(command, "--help", "a b", "--", "-x", core=tmp_path / "resolab-core")
    named = "resolab-load" if command == LOAD_COMMAND else f"resolab-core|{command}"
    assert (ended.returncode, ended.stdout, ended.stderr) == (9, f"{named}|--help|a b|--|-x|a line\n", "")


@pytest.mark.parametrize(
    ("command", "program", "remedy"),
    [
        ("stub", "resolab-core", "run scripts/setup,"),
        (LOAD_COMMAND, "resolab-load", "run scripts/setup --load (with --measured for the measured build), or unset"),
    ],
)
def test_a_program_that_is_not_there_is_one_line(command: str, program: str, remedy: str, tmp_path: Path) -> None:
    ended = ran(command, core=tmp_path / "resolab-core")
    assert ended.returncode == MachineError.exit_code
    assert ended.stderr.startswith(f"resolab: {program} is not at {tmp_path / program}: {remedy}")
    assert len(ended.stderr.splitlines()) == 1


def test_all_of_its_commands_are_listed_and_its_help_calls_it_by_our_name() -> None:
    listed = ran("--help").stdout
    told = subprocess.run([find_core(), "--help"], capture_output=True, text=True, timeout=60, check=True).stdout
    own = re.findall(r"^  ([a-z-]+)  ", told.partition("Commands:")[2].partition("Options:")[0], re.MULTILINE)
    assert set(own) - {"query", "internet", "schema", "help"} == set(PROGRAM_COMMANDS) - {LOAD_COMMAND}
    assert all(re.search(rf"^    {name}(?: |$)", listed, re.MULTILINE) for name in PROGRAM_COMMANDS)
    assert "Usage: resolab stub" in ran("stub", "--help").stdout


def test_the_load_generators_help_calls_it_by_the_command() -> None:
    assert find_load().is_file()
    assert "Usage: resolab bench [OPTIONS]" in ran("bench", "--help").stdout


@pytest.mark.parametrize(("installed", "named"), [(True, str(project_root() / "profiles")), (False, None)])
def test_a_wheels_core_is_told_where_the_profiles_lie(
    installed: bool, named: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "environ", {})
    monkeypatch.setattr(os, "execv", lambda *_: None)
    monkeypatch.setattr(program_commands, "is_installed", lambda: installed)
    monkeypatch.setattr(program_commands, "find_core", lambda: Path("resolab-core"))
    become_program(["path", "--profile", "4g"])
    assert os.environ.get("RESOLAB_PROFILES") == named
