"""A plan at a vantage point: what it is called there, and the order of its own that its blocks have.

For: `resolab run --vantage` and a fleet, which run the same trials by this. Not for: who may run what where (fleet).

Blocks at two vantage points are run at different times, so one order for both would only let them share its accidents.
"""

import re
from dataclasses import replace

from resolab.errors import ConfigurationError
from resolab.plan.live.settings import LAB
from resolab.plan.model import HIGHEST_SEED, Plan
from resolab.plan.order import stream_seed

VANTAGE = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
"""What a vantage point may be called: its name is part of files' names, of subjects and of certificates, too."""


def at_vantage(plan: Plan, vantage: str) -> Plan:
    """Return the plan as it is run at a vantage point, with the seed it has there; `lab` keeps the plan's own seed."""
    if not VANTAGE.fullmatch(vantage):
        problem = "a vantage point's name has small letters, digits, - and _, at most 40"
        raise ConfigurationError(f"could not run {plan.name} at {vantage!r}: {problem}; give another name")
    if vantage == LAB and plan.live is not None:
        problem = f"{LAB!r} is where nothing is live"
        raise ConfigurationError(
            f"could not run {plan.name} at {vantage!r}: {problem}; give the place a name of its own"
        )
    seed = plan.seed if vantage == LAB else stream_seed(plan.seed, "vantage_point", vantage) & HIGHEST_SEED
    return replace(placed_at(plan, vantage), seed=seed)


def placed_at(plan: Plan, vantage: str) -> Plan:
    """Return the plan with another vantage point and the seed it has: that of a run begun there."""
    if plan.live is None:
        return replace(plan, at=vantage)
    return replace(plan, live=replace(plan.live, vantage_point=vantage))
