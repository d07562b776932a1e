"""The trials of a campaign, their order, and the remaining trials.

For: pure scheduling. The same plan and seed give the same trials, so a resumed campaign continues at the same trial.
Every block gets each condition once, or each condition of the block's page. Not for: running or writing trials.
"""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from resolab.plan import Condition, Plan, block_order, find_counting_condition
from resolab.store import trial_id


@dataclass(frozen=True, slots=True)
class PlannedTrial:
    """A condition at a position in the random order of a block."""

    trial_id: str
    block: int
    position: int
    condition: Condition
    compared_as: str
    """The identifier of the condition in comparisons: when pages are sampled, the condition of all pages."""


def schedule(plan: Plan, seed: int, blocks: int) -> list[PlannedTrial]:
    """Return all trials of the campaign, in order."""
    return [trial for block in range(blocks) for trial in block_schedule(plan, seed, block)]


def block_schedule(plan: Plan, seed: int, block: int) -> list[PlannedTrial]:
    """Return all trials of a block, in order."""
    return [
        PlannedTrial(trial_id(block, position), block, position, condition, find_counting_condition(plan, condition).id)
        for position, condition in enumerate(block_order(plan, seed, block))
    ]


def format_block(trial_id: str) -> str:
    """Return the block's part of a trial's identifier, e.g. `b003`."""
    return trial_id.partition("-")[0]


def list_remaining(planned: list[PlannedTrial], finished: AbstractSet[str]) -> list[PlannedTrial]:
    """Return the trials without a finished file, in order."""
    return [trial for trial in planned if trial.trial_id not in finished]


def whole_blocks(planned: list[PlannedTrial], finished: AbstractSet[str]) -> int:
    """Count the completely finished blocks, from the first on."""
    unfinished = next((trial.block for trial in planned if trial.trial_id not in finished), None)
    return unfinished if unfinished is not None else planned[-1].block + 1
