"""Values as TOML on one line, valid in any table: the only writer of TOML. Pure.

For: plans, pages, invitations and the edge's settings. Not for: reading, a task of the library.
"""

import json
import re
from collections.abc import Iterable, Mapping
from datetime import date, time

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_DELETE = "\x7f"


def key_lines(table: Mapping[str, object]) -> list[str]:
    """Write the keys of a table, a line each."""
    return [f"{key_text(key)} = {value_text(value)}" for key, value in table.items()]


def key_text(key: str) -> str:
    """Write a key, quoted where TOML needs quotes."""
    return key if _BARE_KEY.fullmatch(key) else value_text(key)


def value_text(value: object) -> str:
    """Write a value; paths and words of ours are texts."""
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return str(value)
        case date() | time():
            return value.isoformat()
        case Mapping():
            return f"{{{_join_words(f'{key_text(key)} = {value_text(one)}' for key, one in value.items())}}}"
        case list() | tuple():
            return f"[{_join_words(map(value_text, value))}]"
    # A JSON string is a TOML basic string, but for one character that TOML wants escaped. JSON's escapes of characters
    # beyond U+FFFF are not TOML's.
    return json.dumps(_scalar_values(str(value)), ensure_ascii=False).replace(_DELETE, "\\u007f")


def _scalar_values(text: str) -> str:
    """Replace each lone surrogate by U+FFFD, as UTF-8 cannot hold surrogates; join a pair to a character."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _join_words(words: Iterable[str]) -> str:
    return ", ".join(words)
