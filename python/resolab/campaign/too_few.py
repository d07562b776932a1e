"""Whether a plan has blocks enough for any answer, said before it runs. Not for: how many it would take (`power`)."""

from resolab.plan import Plan
from resolab.stats import PAIRS_FOR_CHANGE, pairs_for_interval


def too_few_blocks(plan: Plan) -> str | None:
    """Say what a plan's blocks cannot give, each block being a pair of every comparison; None where all is there."""
    if not plan.comparisons() or plan.blocks >= PAIRS_FOR_CHANGE:
        return None
    needed = pairs_for_interval()
    blocks = f"{plan.blocks} block{'' if plan.blocks == 1 else 's'}"
    if plan.blocks < needed:
        return (
            f"{blocks}: too few to tell anything; a difference has an interval from {needed} blocks on, "
            f"a relative change from {PAIRS_FOR_CHANGE}"
        )
    return f"{blocks}: differences have intervals, relative changes have none; those take {PAIRS_FOR_CHANGE} blocks"
