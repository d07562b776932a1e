"""A size that no terminal has, as some job runners set it, hides no output."""

import os
import subprocess
import sys

import pytest

from resolab.cli.terminal_size import drop_unusable_size

UNUSABLE = ["0", "", "-5", "abc", "8.5", "²", "٣", "99999999999"]


@pytest.mark.parametrize("told", UNUSABLE)
def test_a_size_that_no_terminal_has_is_as_if_not_told(told: str) -> None:
    environment = {"COLUMNS": told, "LINES": told, "TERM": "xterm"}
    drop_unusable_size(environment)
    assert environment == {"TERM": "xterm"}


@pytest.mark.parametrize("told", ["1", "80", "0120", "9999"])
def test_other_sizes_stay(told: str) -> None:
    environment = {"COLUMNS": told, "LINES": "24"}
    drop_unusable_size(environment)
    assert environment == {"COLUMNS": told, "LINES": "24"}


@pytest.mark.parametrize("told", ["0", "²"])
def test_commands_print_the_same_as_without_it(told: str) -> None:
    def printed(**more: str) -> str:
        environment = {name: value for name, value in os.environ.items() if name not in {"COLUMNS", "LINES"}} | more
        words = [sys.executable, "-m", "resolab", "list", "profiles"]
        return subprocess.run(words, env=environment, capture_output=True, text=True, timeout=60, check=True).stdout

    assert printed(COLUMNS=told, LINES=told) == printed() != ""
