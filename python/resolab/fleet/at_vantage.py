"""A run of a fleet as one of its vantage points carries it out.

For: one reading for who runs a block, who checks it, and who joins blocks. Not for: what a plan at a vantage point is
(`plan.live.vantage`), or whether it may be run (`limits`, `checks`).
"""

import functools
from dataclasses import replace

from resolab.errors import ConfigurationError
from resolab.fleet.checks import plan_of
from resolab.fleet.job import Run, decode, encode
from resolab.plan import Plan
from resolab.plan.live.vantage import at_vantage

READ_COUNT = 64
"""Readings kept: plans are read anew for every block, and sampled pages take their time."""


def plan_at(run: Run, vantage: str) -> Plan:
    """Read a run's plan as it is at a vantage point: with its seed and vantage point there, and the run's blocks."""
    if vantage not in run.vantages:
        raise ConfigurationError(f"run {run.id} is not for vantage point {vantage}, but for {', '.join(run.vantages)}")
    return at_vantage(_plan(encode(run)), vantage)


@functools.lru_cache(READ_COUNT)
def _plan(content: bytes) -> Plan:
    run = decode(content, Run, what="a run")
    return replace(plan_of(run), seed=run.seed, blocks=run.blocks)
