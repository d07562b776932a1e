"""Turn the JSON Schema of resolab-core's records into msgspec structs.

For: one source of shapes, `crates/record`; `scripts/schema` runs this script and `scripts/check` fails when the output
differs from the committed file. Not for: other schemas: the script knows only schemars' forms for our types and stops
at any other form.
"""

import argparse
import json
import re
import sys
import textwrap
from typing import Any

Schema = dict[str, Any]
HEADER = '"""Generated from crates/record by scripts/schema; do not edit."""\n\nimport enum\n\nimport msgspec\n'
MEANINGS = {"TrialFlag": "TRIAL_FLAG_MEANINGS"}
"""The vocabularies with explained words, and the name of the mapping with the explanations."""
SCALARS = {"string": "str", "boolean": "bool", "number": "float", "integer": "int", "null": "None"}


def type_of(schema: Schema) -> str:
    """Return the Python annotation of a property."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "anyOf" in schema:
        return " | ".join(type_of(part) for part in schema["anyOf"])
    kind = schema["type"]
    if isinstance(kind, list):
        return " | ".join(type_of({**schema, "type": part}) for part in kind)
    if kind == "object":
        return f"dict[str, {type_of(schema['additionalProperties'])}]"
    if kind == "array":
        return f"list[{type_of(schema['items'])}]"
    return SCALARS[kind]


def format_docstring(text: str, indent: str = "    ") -> str:
    """Return the docstring of a description, re-wrapped to the line length."""
    text = " ".join(text.split()) or "No description."
    first, _, rest = re.sub(r"(?<=[.:;]) ", "\n", text, count=1).partition("\n")
    if len(first) > 100:
        first, rest = textwrap.wrap(first, 100)[0], " ".join([*textwrap.wrap(first, 100)[1:], rest])
    body = textwrap.fill(rest, 106, initial_indent=indent, subsequent_indent=indent)
    return f'{indent}"""{first}"""\n' if not rest else f'{indent}"""{first}\n\n{body}\n{indent}"""\n'


def fields(schema: Schema, *, skip: str) -> str:
    """Return the attribute lines, all keyword-only; a nullable attribute without another default has None."""
    lines = []
    for name, prop in schema.get("properties", {}).items():
        if name == skip:
            continue
        annotation = type_of(prop)
        default = ""
        is_nullable = "None" in annotation.split(" | ")
        if is_nullable or name not in schema.get("required", []):
            value, kind = prop.get("default"), annotation.removesuffix(" | None")
            # A text as default of something that is no text is a word of a vocabulary.
            is_word = isinstance(value, str) and kind != "str"
            default = f" = {kind}.{_member(value)}" if is_word else f" = {value!r}"
        lines.append(f"    {name}: {annotation}{default}\n")
    return "".join(lines)


def struct(name: str, schema: Schema, *, tag_field: str = "", tag: str = "") -> str:
    """Return the text of a msgspec struct."""
    options = "kw_only=True, frozen=True"
    if tag:
        options += f', tag_field="{tag_field}", tag="{tag}"'
    if schema.get("additionalProperties") is False and not tag:
        options += ", forbid_unknown_fields=True"
    body = format_docstring(schema.get("description", "")) + "\n" + fields(schema, skip=tag_field)
    return f"class {name}(msgspec.Struct, {options}):\n{body}"


def _member(word: str) -> str:
    return word.upper().replace("-", "_")


def enumeration(name: str, schema: Schema) -> str:
    """Return the text of a closed vocabulary."""
    values = [part["const"] for part in schema["oneOf"]]
    members = "".join(f'    {_member(value)} = "{value}"\n' for value in values)
    return f"class {name}(enum.StrEnum):\n{format_docstring(schema.get('description', ''))}\n{members}"


def meanings(name: str, schema: Schema) -> str:
    """Map a vocabulary's words to their meanings."""
    lines = [
        f"    {name}.{_member(part['const'])}: {' '.join(part['description'].split())!r},\n" for part in schema["oneOf"]
    ]
    return f"{MEANINGS[name]}: dict[str, str] = {{\n{''.join(lines)}}}\n"


def is_enumeration(schema: Schema) -> bool:
    """Return True when a definition is a closed list of words."""
    return all("const" in part for part in schema.get("oneOf", [{}]))


def tag_of(part: Schema, field: str) -> str:
    """Return the value of a variant's tag property."""
    return str(part["properties"][field]["const"])


def references(schema: Any) -> set[str]:
    """Return the names referenced by a definition."""
    if isinstance(schema, dict):
        own = {str(schema["$ref"]).rpartition("/")[2]} if "$ref" in schema else set()
        return own.union(*(references(value) for value in schema.values()))
    if isinstance(schema, list):
        return set().union(*(references(value) for value in schema))
    return set()


def sort_by_reference(definitions: dict[str, Schema]) -> list[str]:
    """Return the names, each after the names in its references."""
    done: list[str] = []

    def visit(name: str) -> None:
        if name not in done:
            for other in sorted(references(definitions[name])):
                visit(other)
            done.append(name)

    for name in sorted(definitions):
        visit(name)
    return done


def command_structs(name: str, schema: Schema) -> str:
    """Return tagged structs for each command of a program, and their union."""
    parts, names = [], []
    for part in schema["oneOf"]:
        tag = tag_of(part, "command")
        own = name.removesuffix("Command") + "".join(word.title() for word in tag.split("_"))
        names.append(own)
        parts.append(struct(own, part, tag_field="command", tag=tag))
    parts.append(f"{name} = " + " | ".join(names) + "\n")
    return "\n\n".join(parts)


def render(document: Schema) -> str:
    """Render the whole module."""
    definitions: dict[str, Schema] = document["$defs"]
    tags = {next(iter(references(part))): tag_of(part, "record") for part in definitions["Record"]["oneOf"]}
    blocks = [HEADER, f'FORMAT_VERSION = "{document["x-format-version"]}"\n']
    for name in sort_by_reference(definitions):
        schema = definitions[name]
        if name == "Record":
            lines = "".join(f"    | {record}\n" for record in sorted(tags))
            blocks.append("Record = (\n" + lines.replace("    | ", "    ", 1) + ")\n")
        elif name.endswith("Command"):
            blocks.append(command_structs(name, schema))
        elif is_enumeration(schema):
            blocks.append(enumeration(name, schema))
            blocks += [meanings(name, schema)] if name in MEANINGS else []
        else:
            blocks.append(struct(name, schema, tag_field="record", tag=tags.get(name, "")))
    return "\n\n".join(blocks)


def main() -> None:
    """Read the schema from standard input, write the module to standard output."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    sys.stdout.write(render(json.load(sys.stdin)))


if __name__ == "__main__":
    main()
