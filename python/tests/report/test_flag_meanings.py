"""Every flag a trial may have is explained in the report.

For: flags added anywhere in the package. Not for: when a flag is set (testbed's own tests).
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import resolab
from resolab.report import tables

FLAG = re.compile(r"[a-z]+(_[a-z0-9]+)+")


def flags_set() -> set[str]:
    """Words in lists named `flags`, and in the lists of the functions such a list is made of."""
    trees = [ast.parse(file.read_text("utf-8")) for file in Path(resolab.__file__).parent.rglob("*.py")]
    functions = [one for tree in trees for one in ast.walk(tree) if isinstance(one, ast.FunctionDef)]
    constants = {
        target.id: one.value.value
        for tree in trees
        for one in tree.body
        if isinstance(one, ast.Assign) and isinstance(one.value, ast.Constant)
        for target in one.targets
        if isinstance(target, ast.Name)
    }
    lists = [one.value for tree in trees for one in ast.walk(tree) if is_list_of_flags(one)]
    called = {name for one in lists for name in calls_in(one)}
    makers = [one for one in functions if one.name in called or one.name.endswith("_flags")]
    found = {word for one in [*lists, *makers] for word in words_in_lists(one, constants)}
    return {word for word in found if FLAG.fullmatch(word)}


def is_list_of_flags(node: ast.AST) -> bool:
    return isinstance(node, ast.Assign) and any(isinstance(one, ast.Name) and one.id == "flags" for one in node.targets)


def calls_in(node: ast.AST) -> Iterator[str]:
    for one in ast.walk(node):
        if isinstance(one, ast.Call):
            yield one.func.attr if isinstance(one.func, ast.Attribute) else getattr(one.func, "id", "")


def words_in_lists(node: ast.AST, constants: dict[str, object]) -> Iterator[str]:
    for one in ast.walk(node):
        appended = isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) and one.func.attr == "append"
        for word in one.args if appended else one.elts if isinstance(one, ast.List) else ():
            value = word.value if isinstance(word, ast.Constant) else constants.get(getattr(word, "id", ""))
            if isinstance(value, str):
                yield value


FLAGS = sorted(flags_set())


def test_the_flags_are_found() -> None:
    assert {"lateness_exceeded", "resources_missing", "connections_left_open", "edge_ended", "stub_ended"} < set(FLAGS)


@pytest.mark.parametrize("flag", FLAGS)
def test_a_flag_has_a_meaning(flag: str) -> None:
    assert tables._FLAGS.get(flag)


def test_no_other_word_is_explained() -> None:
    assert set(tables._FLAGS) == set(FLAGS)
