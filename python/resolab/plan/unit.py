"""The sampled unit of a plan: blocks of given pages, or pages, each as a block (`[design] unit = "page"`).

For: a plan's comparisons over pages, the content of a block, and forbidden parts of such a plan. Not for: orders
(`order`).

With the page as the unit, no condition is compared page by page: the pairs of a comparison are the pages. So the plan's
conditions and comparisons are those of one page representing all.
"""

from dataclasses import replace

from resolab.basics.errors import ConfigurationError
from resolab.plan.condition import Condition
from resolab.plan.model import Plan

EVERY_PAGE = "all-pages"
"""The page's word in identifiers of comparisons over pages."""


def pool_pages(plan: Plan) -> Plan:
    """Return the plan for comparisons: with one page for all when pages are sampled, else unchanged."""
    if not plan.samples_pages:
        return plan
    levels = {**plan.factors.levels, "page": (EVERY_PAGE,)}
    return replace(plan, factors=replace(plan.factors, levels=levels))


def find_counting_condition(plan: Plan, condition: Condition) -> Condition:
    """Return the condition counting this condition's trials."""
    return replace(condition, page=EVERY_PAGE) if plan.samples_pages else condition


def trials_a_block(plan: Plan) -> int:
    """Count a block's trials."""
    return len(pool_pages(plan).conditions())


def check_unit(source: str, plan: Plan) -> None:
    """Refuse settings without meaning for sampled pages."""
    if not plan.samples_pages:
        return
    chosen = [
        *((f"exclude[{number}]", one) for number, one in enumerate(plan.exclude)),
        *((f"repeat[{number}]", one.levels) for number, one in enumerate(plan.repeat)),
        *((f"comparison[{number}].treatment", one.treatment) for number, one in enumerate(plan.comparison_rules)),
    ]
    where = next((where for where, levels in chosen if "page" in levels), None)
    if where is not None:
        problem = 'design.unit = "page" takes every page alike'
        raise ConfigurationError(f"{source}: {where}.page: {problem}; name no page here, or leave it out of [factors]")
    if plan.stop is not None and plan.blocks > len(plan.factors.page):
        problem = f"{plan.blocks} blocks are more than the {len(plan.factors.page)} pages, and a second load of a page"
        remedy = f"is no new unit; take at most {len(plan.factors.page)} blocks, or no [stop]"
        raise ConfigurationError(f"{source}: stop: {problem} {remedy}")
