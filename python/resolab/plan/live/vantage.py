"""A plan at a vantage point: the plan's name there, and a separate order of its blocks.

For: `resolab run --vantage` and a fleet, with the same trials in both. Not for: permissions of vantage points (fleet).

Blocks at two vantage points run at different times, so a common order would only share its accidents.
"""

import re
from dataclasses import replace

from resolab.basics.errors import ConfigurationError
from resolab.plan.live.settings import LAB
from resolab.plan.model import HIGHEST_SEED, Plan
from resolab.plan.order import stream_seed

VANTAGE = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
"""The pattern for a vantage point's name; the name is part of file names, of subjects and of certificates."""


def move_to_vantage(plan: Plan, vantage: str) -> Plan:
    """Return the plan for a run at a vantage point, with the vantage point's seed; `lab` keeps the plan's own seed."""
    if not VANTAGE.fullmatch(vantage):
        problem = "a vantage point's name has small letters, digits, - and _, at most 40"
        raise ConfigurationError(f"could not run {plan.name} at {vantage!r}: {problem}; give another name")
    if vantage == LAB and plan.live is not None:
        problem = f"{LAB!r} is where nothing is live"
        raise ConfigurationError(
            f"could not run {plan.name} at {vantage!r}: {problem}; give the place a name of its own"
        )
    seed = plan.seed if vantage == LAB else stream_seed(plan.seed, "vantage_point", vantage) & HIGHEST_SEED
    return replace(place_at(plan, vantage), seed=seed)


def place_at(plan: Plan, vantage: str) -> Plan:
    """Return the plan with another vantage point and its seed, as of a run begun there."""
    if plan.live is None:
        return replace(plan, at=vantage)
    return replace(plan, live=replace(plan.live, vantage_point=vantage))
