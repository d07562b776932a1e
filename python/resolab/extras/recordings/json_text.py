"""JSON as really written by browsers and other makers, decoded.

For: text refused as a whole by a strict reader for one character in an unused body. Escapes of lone surrogates are
permitted by RFC 8259 section 8.2 and written by every browser. Raw control characters and unknown escapes are invalid
JSON but harmless. Not for: the content.
"""

import re
from collections.abc import Iterator
from typing import Any, TypeVar

import msgspec

Shape = TypeVar("Shape")
JSON_ERRORS = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""Decoding raises these errors for invalid JSON, or for JSON of another shape."""

_ONE_LINE = bytes.maketrans(bytes(range(32)), b" " * 32)
"""Outside of strings a line's end is white space like another."""
_LINES = _ONE_LINE[: ord("\n")] + b"\n" + _ONE_LINE[ord("\n") + 1 :]
_ODD_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}(?:\\u[dD][c-fC-F][0-9a-fA-F]{2})?|u[dD][c-fC-F][0-9a-fA-F]{2}|[^\"\\/bfnrtu])"
)
_PAIR_BYTES, _LONE_BYTES = 12, 6


def decode_json(content: bytes | memoryview, shape: type[Shape]) -> Shape:
    """Decode JSON text; raise one of `JSON_ERRORS`."""
    try:
        return msgspec.json.decode(content, type=shape)
    except msgspec.DecodeError:
        mended = mend(content)
        if mended is None:
            raise
        return msgspec.json.decode(mended, type=shape)


def decode_json_lines(content: bytes | memoryview) -> list[Any]:
    """Decode an object a line; raise one of `JSON_ERRORS`."""
    try:
        return msgspec.json.Decoder().decode_lines(content)
    except msgspec.DecodeError:
        mended = mend(content, keeps_lines=True)
        if mended is None:
            raise
        return msgspec.json.Decoder().decode_lines(mended)


def mend(content: bytes | memoryview, *, keeps_lines: bool = False) -> bytearray | None:
    """Put U+FFFD for each odd escape and a space for each raw control character; `None` without any."""
    mended = bytearray(bytes(content).translate(_LINES if keeps_lines else _ONE_LINE))
    for begin, end in _odd_escapes(mended):
        mended[begin:end] = b"\\ufffd" if end - begin == _LONE_BYTES else b"??"
    return None if memoryview(mended) == memoryview(content) else mended


def _odd_escapes(text: bytearray) -> Iterator[tuple[int, int]]:
    """Find lone surrogates, replaced by the same number of bytes, and unknown escapes of two bytes."""
    place = 0
    while (match := _ODD_ESCAPE.search(text, place)) is not None:
        begin, end = match.span()
        if _is_escaped(text, begin):
            place = begin + 1
            continue
        if end - begin != _PAIR_BYTES:
            yield begin, end
        place = end


def _is_escaped(text: bytearray, place: int) -> bool:
    """Return True when an earlier backslash escapes this backslash."""
    begin = place
    while begin > 0 and text[begin - 1] == ord("\\"):
        begin -= 1
    return (place - begin) % 2 == 1
