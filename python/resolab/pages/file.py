"""Page model files: one JSON object, a line for each host and request, so two versions can be compared by eye.

For: reading and writing these files. Not for: the content (`model`).
"""

import codecs
from pathlib import Path
from typing import Any

import msgspec

from resolab.basics.errors import ConfigurationError
from resolab.pages.model import FORMAT, PageModel

ENDING = ".page.json"
_LISTS = ("hosts", "resources", "losses")


def read_model(file: Path) -> PageModel:
    """Read a model; the error names the fault and its position."""
    try:
        content = file.read_bytes().removeprefix(codecs.BOM_UTF8)
        _check_version(content, file)
        return msgspec.json.decode(content, type=PageModel)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ConfigurationError(f"failed to read page model {file}: {error}") from error


class _Versioned(msgspec.Struct):
    format: str = ""


def _check_version(content: bytes, file: Path) -> None:
    major = msgspec.json.decode(content, type=_Versioned).format.partition(".")[0]
    known = FORMAT.partition(".")[0]
    if major != known:
        problem = f"its format is {major or 'not told'}; this resolab reads {known}"
        raise ConfigurationError(f"failed to read page model {file}: {problem}")


def model_text(model: PageModel) -> str:
    """Write a model as text."""
    lines = [f'"format": {_compact(model.format)}']
    for key, value in _list_changed_fields(model).items():
        if key in _LISTS:
            rows = ",\n  ".join(_compact(_list_changed_fields(row)) for row in value)
            lines.append(f'"{key}": [\n  {rows}\n]')
        elif key != "format":
            lines.append(
                f'"{key}": {_compact(_list_changed_fields(value) if isinstance(value, msgspec.Struct) else value)}'
            )
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _list_changed_fields(shape: msgspec.Struct) -> dict[str, Any]:
    """Return the fields different from their default; msgspec omits only fields with the identical default object."""
    fields = ((one.name, getattr(shape, one.name), one.default) for one in msgspec.structs.fields(shape))
    return {name: value for name, value, default in fields if value != default}


def _compact(value: object) -> str:
    return msgspec.json.encode(value).decode()
