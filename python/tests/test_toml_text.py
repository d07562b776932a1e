"""What is written is read again as it was, whatever stands in it."""

import datetime as dt
import math
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resolab.basics.toml_text import key_lines, key_text, value_text

VALUES = {
    "text": 'a "quoted" \\ path\n\t\x00\x1f\x7f ä 😀',
    "": "an empty key",
    "a key.with dots": 1,
    "numbers": [0, -7, 2**62, 0.1, -1e-7, 1e22, 1e300, math.inf, -math.inf],
    "yes": True,
    "no": [False, []],
    "when": [dt.date(2026, 11, 24), dt.time(1, 2, 3), dt.datetime(2026, 11, 24, 1, 2, 3)],
    "tables": [{"path": "/a", "fields": {"x-pad": "b", "é": {}}}, {}],
}


@pytest.mark.parametrize("key", VALUES)
def test_every_value_comes_back(key):
    (line,) = key_lines({key: VALUES[key]})
    assert "\n" not in line
    assert tomllib.loads(line) == {key: VALUES[key]}


def test_a_number_that_is_none_comes_back_too():
    assert math.isnan(tomllib.loads("\n".join(key_lines({"a": math.nan})))["a"])


@given(key=st.text(), value=st.text())
def test_any_text_comes_back(key, value):
    """TOML 1.0: any Unicode scalar value can stand in a basic string, and in a quoted key."""
    assert tomllib.loads(f"{key_text(key)} = {value_text([value, {key: value}])}") == {key: [value, {key: value}]}


@given(st.text(st.characters(categories=["Cs", "Lu"])))
def test_a_lone_surrogate_is_written_as_a_replacement(text):
    """No file in UTF-8 can hold one; two that belong together are one character (Unicode, section 3.9)."""
    line = value_text(text)
    line.encode("utf-8")
    meant = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    assert tomllib.loads(f"a = {line}") == {"a": meant}
    assert value_text("\ud83d\ude00") == value_text("😀")
    assert value_text("\ud83d") == value_text("\ufffd")
