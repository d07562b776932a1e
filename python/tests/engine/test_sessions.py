"""Ctrl-C in a terminal goes to its foreground: what a run starts is in sessions of its own, and so ends when the run ends it."""

import ast
from pathlib import Path

import pytest

import resolab

PACKAGE = Path(resolab.__file__).parent
STARTING = {"run", "Popen", "create_subprocess_exec", "create_subprocess_shell"}


def starts(file: Path) -> list[ast.Call]:
    calls = [one for one in ast.walk(ast.parse(file.read_text())) if isinstance(one, ast.Call)]
    return [
        one
        for one in calls
        if isinstance(one.func, ast.Attribute)
        and one.func.attr in STARTING
        and ast.unparse(one.func.value) in {"subprocess", "asyncio"}
        and ast.unparse(one.func) != "asyncio.run"
    ]


@pytest.mark.parametrize("room", ["browser", "campaign", "lab/engine"])
def test_every_program_of_a_run_has_a_session_of_its_own(room: str) -> None:
    found = [(file, one) for file in sorted((PACKAGE / room).rglob("*.py")) for one in starts(file)]
    assert found
    for file, one in found:
        words = {word.arg: ast.unparse(word.value) for word in one.keywords}
        assert words.get("start_new_session") == "True", f"{file}:{one.lineno}"
