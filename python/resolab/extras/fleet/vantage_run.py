"""A run of a fleet as carried out by a vantage point.

For: a common reading for running, checking and joining blocks. Not for: a plan at a vantage point
(`plan.live.vantage`), or the permission to run the plan (`agent.limits`, `agent.run_check`).
"""

import functools
from dataclasses import replace

from resolab.basics.errors import ConfigurationError
from resolab.extras.fleet.agent.run_check import read_plan
from resolab.extras.fleet.job import FleetRun, decode, encode
from resolab.plan import Plan
from resolab.plan.live.vantage import move_to_vantage

READ_COUNT = 64
"""The number of kept readings: plans are read anew for every block, and sampled pages take time."""


def read_vantage_plan(run: FleetRun, vantage: str) -> Plan:
    """Return a run's plan for a vantage point: with its seed and vantage point, and the run's blocks."""
    if vantage not in run.vantages:
        raise ConfigurationError(f"run {run.id} is not for vantage point {vantage}, but for {', '.join(run.vantages)}")
    return move_to_vantage(_plan(encode(run)), vantage)


@functools.lru_cache(READ_COUNT)
def _plan(content: bytes) -> Plan:
    run = decode(content, FleetRun, what="a run")
    return replace(read_plan(run), seed=run.seed, blocks=run.blocks)
