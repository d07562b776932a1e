"""What the package imports it declares: a package that comes along with another one may go with it."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]


def imported() -> Iterator[str]:
    for file in (PROJECT / "python" / "resolab").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                yield from (one.name for one in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module is not None:
                yield node.module


def test_every_package_that_is_imported_is_declared() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))["project"]
    declared = {re.split(r"[^\w-]", one)[0] for one in project["dependencies"]}
    foreign = {module.partition(".")[0] for module in imported()} - sys.stdlib_module_names - {"resolab"}
    assert foreign == declared
