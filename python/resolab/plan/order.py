"""Seeds and the random order of a block.

For: an order that is the same on every machine and after every resume. Not for: cryptography.
"""

import hashlib

from resolab.plan.condition import Condition
from resolab.plan.model import Plan


def stream_seed(run_seed: int, *labels: str | int) -> int:
    """Derive the 64-bit seed of one use from the run's seed and labels that name the use."""
    text = "/".join([str(run_seed), *(str(label) for label in labels)])
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def block_order(plan: Plan, seed: int, block: int) -> list[Condition]:
    """Order the plan's conditions at random for one block.

    Each condition draws its sorting key from (seed, block, condition), so that the order does not depend on the
    order of levels in the plan, on earlier blocks, or on any library's shuffle: a resumed run meets the same order.
    """
    return sorted(plan.conditions(), key=lambda one: stream_seed(seed, "block_order", block, one.id))
