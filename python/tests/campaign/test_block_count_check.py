"""What is said of a plan with too few blocks, before it runs."""

import pytest
from synthetic_dataset import PLAN_TEXT, make_plan

from resolab.campaign.block_count_check import too_few_blocks

FURTHER = "an adjusted difference 7, quantiles 12, P10 and P90 20, P95 40"


@pytest.mark.parametrize(
    ("blocks", "says"),
    [
        (
            1,
            "1 block: too few to tell anything; a difference has an interval from 5 blocks on, a relative change from 8",
        ),
        (4, "4 blocks: too few to tell anything"),
        (5, "5 blocks: differences have intervals, relative changes have none; those take 8 blocks"),
        (
            7,
            f"7 blocks: differences have intervals, relative changes have none; those take 8 blocks ({FURTHER})",
        ),
        (8, None),
    ],
)
def test_blocks_that_cannot_answer_are_told(blocks: int, says: str | None) -> None:
    told = too_few_blocks(make_plan(PLAN_TEXT.replace("blocks = 6", f"blocks = {blocks}")))
    assert told is None if says is None else (told or "").startswith(says)


@pytest.mark.parametrize(
    ("rule", "blocks", "says"),
    [
        # 1 - 2 / 2^6 = 96.9 %: at 97 % a range of six is short of it by a hair, and five are told as what they reach.
        ("ci_width_ms = 5.0", 5, "5 blocks: too few to tell anything; a difference has an interval from 6 blocks on"),
        ("ci_width_ms = 5.0", 8, None),
        ('rule = "confidence_sequence"', 7, "7 blocks: too few to tell anything; a difference has an interval from 8"),
        ('rule = "confidence_sequence"', 8, "8 blocks: differences have intervals, relative changes have none; those"),
        ('rule = "confidence_sequence"', 9, None),
    ],
)
def test_a_plan_that_may_stop_is_told_by_its_own_intervals(rule: str, blocks: int, says: str | None) -> None:
    text = PLAN_TEXT.replace("blocks = 6", f"blocks = {blocks}") + f"[stop]\n{rule}\nmin_blocks = 2\n"
    told = too_few_blocks(make_plan(text))
    assert told is None if says is None else (told or "").startswith(says), told
