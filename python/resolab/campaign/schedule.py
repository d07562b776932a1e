"""Which trials a campaign has, in which order, and which are still to be done.

For: pure scheduling: the same plan and seed give the same trials, so that a resumed campaign goes on where it stopped
and every block gets each condition once, or each condition of its page. Not for: running or writing them.
"""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from resolab.plan import Condition, Plan, block_order, compared_as
from resolab.store import trial_id


@dataclass(frozen=True, slots=True)
class PlannedTrial:
    """One condition at its place in one block's random order."""

    trial_id: str
    block: int
    position: int
    condition: Condition
    compared_as: str
    """Identifier of the condition it counts for in comparisons: where pages are sampled, that of all pages."""


def schedule(plan: Plan, seed: int, blocks: int) -> list[PlannedTrial]:
    """All trials of the campaign, in order."""
    return [trial for block in range(blocks) for trial in block_schedule(plan, seed, block)]


def block_schedule(plan: Plan, seed: int, block: int) -> list[PlannedTrial]:
    """All trials of one block, in order."""
    return [
        PlannedTrial(trial_id(block, position), block, position, condition, compared_as(plan, condition).id)
        for position, condition in enumerate(block_order(plan, seed, block))
    ]


def block_of(trial_id: str) -> str:
    """Take the block's part of a trial's identifier, e.g. `b003`."""
    return trial_id.partition("-")[0]


def remaining(planned: list[PlannedTrial], finished: AbstractSet[str]) -> list[PlannedTrial]:
    """Trials without a finished file, in order."""
    return [trial for trial in planned if trial.trial_id not in finished]


def whole_blocks(planned: list[PlannedTrial], finished: AbstractSet[str]) -> int:
    """Count the blocks, from the first on, of which every trial is finished."""
    unfinished = next((trial.block for trial in planned if trial.trial_id not in finished), None)
    return unfinished if unfinished is not None else planned[-1].block + 1
