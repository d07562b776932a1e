"""Files of JSON Lines with results added page by page: an end of the program costs one page at most.

For: reading the contents, and adding lines. Not for: the meaning of a line (`loads`, `effects`).
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from resolab.basics.errors import ConfigurationError

Line = dict[str, Any]


def read_lines(file: Path) -> list[Line]:
    """Read the lines, none if the file is missing; skip half a line at the end, left by a kill."""
    try:
        text = file.read_text("utf-8") if file.exists() else ""
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"failed to read {file}: {error}") from error
    return [_parse_line(line, file, number) for number, line in enumerate(_whole(text).splitlines(), start=1) if line]


def add_lines(file: Path, lines: Sequence[Line]) -> None:
    """Add lines by one write, after removing half a line at the end."""
    added = "".join(json.dumps(line) + "\n" for line in lines)
    try:
        if file.exists():
            text = file.read_text("utf-8")
            if _whole(text) != text:
                file.write_text(_whole(text), "utf-8")
        with file.open("a", encoding="utf-8") as out:
            out.write(added)
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"failed to write {file}: {error}; give another --out") from error


def _whole(text: str) -> str:
    return text[: text.rfind("\n") + 1]


def _parse_line(line: str, file: Path, number: int) -> Line:
    try:
        found = json.loads(line)
    except ValueError as error:
        raise ConfigurationError(f"failed to read {file}: line {number}: {error}; remove the line") from error
    if not isinstance(found, dict):
        raise ConfigurationError(f"failed to read {file}: line {number} is no JSON object; remove the line")
    return found
