"""Whether a plan has blocks enough for any answer, said before it runs. Not for: how many it would take (`power`)."""

from resolab.plan import Plan, over_pages
from resolab.stats import PAIRS_FOR_CHANGE, pairs_for_interval
from resolab.wording import counted


def too_few_blocks(plan: Plan) -> str | None:
    """Say what a plan's blocks or pages cannot give, each being a pair of every comparison; None where all is there."""
    # A page that is loaded again is no further pair.
    count = min(plan.blocks, len(plan.factors.page)) if plan.samples_pages else plan.blocks
    if count >= PAIRS_FOR_CHANGE or not over_pages(plan).comparisons():
        return None
    needed, unit = pairs_for_interval(), plan.design.unit
    units = counted(count, unit)
    if count < needed:
        return (
            f"{units}: too few to tell anything; a difference has an interval from {needed} {unit}s on, "
            f"a relative change from {PAIRS_FOR_CHANGE}"
        )
    return f"{units}: differences have intervals, relative changes have none; those take {PAIRS_FOR_CHANGE} {unit}s"
