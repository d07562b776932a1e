"""Every flag a trial may have is explained in the report.

For: flags added to the testbed's judgement. Not for: when a flag is set (testbed's own tests).
"""

import inspect
import re

import pytest

from resolab.report import tables
from resolab.testbed import judgement

WORDS = re.findall(r'(?:return \[|append\()(?:"([a-z0-9_]+)"|([A-Z_]+))', inspect.getsource(judgement))
SET = [word or getattr(judgement, constant) for word, constant in WORDS]


def test_the_flags_are_found() -> None:
    assert {"lateness_exceeded", "resources_missing"} < set(SET)


@pytest.mark.parametrize("flag", SET)
def test_a_flag_has_a_meaning(flag: str) -> None:
    assert tables._FLAGS.get(flag)
