"""Checks a run's dataset: every block exactly once, and in the ordered form.

For: a fetched run. Not for: failures during the run.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from benches.fleet.light import TRIALS_A_BLOCK
from resolab.basics.records import TrialRecord
from resolab.campaign.schedule import block_schedule
from resolab.extras.fleet.job import FleetRun
from resolab.extras.fleet.results.fetch import FetchResult
from resolab.extras.fleet.vantage_run import read_vantage_plan
from resolab.store import find_finished_trials, read_trial

Done = Counter[tuple[int, int, str]]
"""The block, position and condition of each trial at a vantage point."""


def problems(run: FleetRun, fetched: FetchResult, dataset: Path) -> list[str]:
    """Return the problems of a dataset, a line each."""
    found = [*fetched.refused, *fetched.manifest.warnings]
    short = {one: count for one, count in fetched.blocks_count.items() if count != run.blocks}
    if short:
        found.append(f"blocks by vantage point: {short}, not {run.blocks}")
    done = _done(dataset)
    count = sum(sum(one.values()) for one in done.values())
    if count != TRIALS_A_BLOCK * run.blocks * len(run.vantages):
        found.append(f"{count} trials")
    if done.keys() != set(run.vantages):
        found.append(f"vantage points: {sorted(done)}")
    return [*found, *(line for one in run.vantages for line in _out_of_order(run, one, done.get(one, Counter())))]


def _done(dataset: Path) -> dict[str, Done]:
    """Read the finished trials, with blocks numbered from 0 at each vantage point."""
    heads = [next(iter(read_trial(file))) for file in find_finished_trials(dataset).values()]
    trials = [one for one in heads if isinstance(one, TrialRecord)]
    first: dict[str, int] = {}
    for one in trials:
        first[one.vantage_point] = min(one.block, first.get(one.vantage_point, one.block))
    done: dict[str, Done] = {}
    for one in trials:
        place = (one.block - first[one.vantage_point], one.position, one.condition)
        done.setdefault(one.vantage_point, Counter())[place] += 1
    return done


def _out_of_order(run: FleetRun, vantage: str, done: Done) -> Iterator[str]:
    """Compare the trials at a vantage point with the order by its seed."""
    plan = read_vantage_plan(run, vantage)
    ordered = Counter(
        (block, trial.position, trial.condition.id)
        for block in range(run.blocks)
        for trial in block_schedule(plan, plan.seed, block)
    )
    for place in (ordered - done) + (done - ordered):
        block, position, condition = place
        count = f"{done[place]} times, not {ordered[place]}"
        yield f"{vantage}: block {block}, trial {position}, {condition} is there {count}"
