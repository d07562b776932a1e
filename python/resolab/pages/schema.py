"""JSON Schema of page model files, with the texts of the model's source.

Not for: rules across fields (parents before their children); reading a model reports violations.
"""

import ast
import inspect
import textwrap
from functools import cache
from typing import Any

import msgspec

from resolab.pages import model
from resolab.pages.model import FORMAT, PageModel

Schema = dict[str, Any]


def page_schema() -> Schema:
    """Make the JSON Schema of page models."""
    made = msgspec.json.schema(PageModel)
    for name, described in made["$defs"].items():
        notes = _notes(getattr(model, name))
        for field, note in notes.items():
            if field in described.get("properties", {}):
                described["properties"][field]["description"] = note
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"resolab page model {FORMAT}",
        **made,
    }


@cache
def _notes(described: type) -> dict[str, str]:
    """Read the texts below a class's fields."""
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(described))).body
    assert isinstance(tree, ast.ClassDef)
    notes = {}
    for before, one in zip(tree.body, tree.body[1:], strict=False):
        is_text = isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant) and isinstance(one.value.value, str)
        if isinstance(before, ast.AnnAssign) and isinstance(before.target, ast.Name) and is_text:
            notes[before.target.id] = " ".join(ast.literal_eval(one.value).split())  # type: ignore[attr-defined]
    return notes
