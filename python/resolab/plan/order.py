"""Seeds, and the random order of a block and of pages.

For: an order equal on every machine and after every resume. Not for: cryptography.
"""

import hashlib
from dataclasses import replace

from resolab.plan.condition import Condition
from resolab.plan.model import Plan
from resolab.plan.unit import pool_pages


def stream_seed(run_seed: int, *labels: str | int) -> int:
    """Derive the 64-bit seed of one use from the run's seed and labels for the use."""
    text = "/".join([str(run_seed), *(str(label) for label in labels)])
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def block_order(plan: Plan, seed: int, block: int) -> list[Condition]:
    """Order the plan's conditions at random for one block.

    Each condition draws its sorting key from (seed, block, condition). So the order is independent of the order of
    levels in the plan, of earlier blocks, and of any library's shuffle: a resumed run meets the same order. For a plan
    with sampled pages, a block has one page with all conditions.
    """
    conditions = (
        plan.conditions() if not plan.samples_pages else _list_page_conditions(plan, find_page(plan, seed, block))
    )
    return sorted(conditions, key=lambda one: stream_seed(seed, "block_order", block, one.id))


def page_order(plan: Plan, seed: int) -> list[str]:
    """Order the plan's pages at random, by a key from seed and name: fewer blocks are a sample."""
    return sorted(plan.factors.page, key=lambda page: (stream_seed(seed, "page_order", page), page))


def find_page(plan: Plan, seed: int, block: int) -> str:
    """Return the page of a block, for a plan with sampled pages; after the last page the first comes again."""
    return page_order(plan, seed)[block % len(plan.factors.page)]


def _list_page_conditions(plan: Plan, page: str) -> list[Condition]:
    return [replace(one, page=page) for one in pool_pages(plan).conditions()]
