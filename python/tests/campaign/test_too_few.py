"""What is said of a plan with too few blocks, before it runs."""

import pytest
from synthetic_dataset import PLAN_TEXT, make_plan

from resolab.campaign.too_few import too_few_blocks


@pytest.mark.parametrize(
    ("blocks", "says"),
    [
        (
            1,
            "1 block: too few to tell anything; a difference has an interval from 5 blocks on, a relative change from 8",
        ),
        (4, "4 blocks: too few to tell anything"),
        (5, "5 blocks: differences have intervals, relative changes have none; those take 8 blocks"),
        (8, None),
    ],
)
def test_blocks_that_cannot_answer_are_told(blocks: int, says: str | None) -> None:
    told = too_few_blocks(make_plan(PLAN_TEXT.replace("blocks = 6", f"blocks = {blocks}")))
    assert told is None if says is None else (told or "").startswith(says)
