"""What is written is read again as it was, whatever stands in it."""

import datetime as dt
import math
import tomllib

import pytest

from resolab.testbed.inline_toml import key_lines

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
