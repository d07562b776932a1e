"""Every flag a trial may have is explained in the report, and one that is not known here does no harm.

For: the report's words for flags. Not for: when a flag is set (testbed's own tests).
"""

import pytest

from resolab.basics.records import TRIAL_FLAG_MEANINGS, TrialFlag
from resolab.report.parts import tables


@pytest.mark.parametrize("flag", TrialFlag)
def test_a_flag_has_a_meaning(flag: TrialFlag) -> None:
    words = tables._find_meaning(flag.value)
    assert words
    assert words[0].islower()
    assert not words.endswith(".")


def test_there_is_no_meaning_of_anything_else() -> None:
    assert set(TRIAL_FLAG_MEANINGS) == set(TrialFlag)


def test_a_flag_of_another_version_is_shown_without_a_meaning() -> None:
    assert tables._find_meaning("flag_of_tomorrow") == ""
