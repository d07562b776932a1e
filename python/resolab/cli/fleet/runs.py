"""`resolab fleet run`, `status`, `fetch` and `stop`: runs from the operator's view.

For: words, tables and JSON Lines. Not for: the calls behind (`resolab.extras.fleet.operations`, `fetch`).
"""

import argparse
import asyncio
import contextlib
import json
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from nats.aio.client import Client
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from resolab.basics.errors import ConfigurationError, MachineError
from resolab.basics.wording import clean, clip_text, format_count
from resolab.campaign.progress import duration_text
from resolab.cli.console import Console
from resolab.cli.fleet.server_connection import run_with_server
from resolab.extras.fleet.agent.run_check import find_own_provenance, find_path
from resolab.extras.fleet.job import AgentState, FleetRun, RunState, as_dict
from resolab.extras.fleet.operations import FleetOperator, RunProgress, UnreadableState, check_vantages, new_run_id
from resolab.extras.fleet.results.fetch import ResultFetcher
from resolab.extras.fleet.results.result_store import StoreUse
from resolab.extras.fleet.server.folder import ServerFolder
from resolab.plan import load_plan

LOOK_EVERY_S = 2.0
PIPED_WIDTH = 160
GB = 1e9


def run(options: argparse.Namespace) -> int:
    """Queue a plan's blocks at every vantage point."""
    return run_with_server(options.fleet, lambda client, folder: _run(options, client, folder))


async def _run(options: argparse.Namespace, client: Client, folder: ServerFolder) -> int:
    plan = load_plan(options.plan, seed=options.seed, blocks=options.blocks)
    path = find_path(plan.source_text, str(options.plan))
    if path is not None:
        raise ConfigurationError(f"could not give {plan.name} to a fleet: it names {path}, which agents have not")
    operations, now = FleetOperator(client), time.time()
    vantages = check_vantages(options.vantage, folder.list_invited())
    taken = [one.id for one in await operations.runs()]
    begun = FleetRun(
        id=new_run_id(plan.name, taken, now),
        plan_name=plan.name,
        plan_text=plan.source_text,
        seed=plan.seed,
        blocks=plan.blocks,
        ground=find_own_provenance(plan),
        vantages=vantages,
        created_unix_ns=int(now * 1e9),
    )
    with _bar("jobs", plan.blocks * len(vantages)) as (bar, task):
        await operations.begin(begun, lambda count: bar.update(task, completed=count))
    if options.json:
        print(json.dumps(as_dict(begun)))
        return 0
    if plan.stop is not None:
        print(
            f"warning: {plan.name} may stop early, a fleet does not: all {plan.blocks} blocks are run", file=sys.stderr
        )
    blocks = format_count(plan.blocks, "block")
    print(f"{begun.id}: {blocks} at {', '.join(vantages)}; see resolab fleet status")
    return 0


def status(options: argparse.Namespace) -> int:
    """Print the progress of a run, and the states of its agents."""
    return run_with_server(options.fleet, lambda client, folder: _status(options, client, folder))


async def _status(options: argparse.Namespace, client: Client, folder: ServerFolder) -> int:
    operations = FleetOperator(client)
    found = await operations.run(options.name)
    progress = await operations.progress(found)
    if options.wait:
        with _bar("blocks", progress.blocks_count) as (bar, task):
            while await _may_come(operations, progress, folder.list_invited()):
                bar.update(task, completed=progress.blocks_done_count)
                await asyncio.sleep(LOOK_EVERY_S)
                progress = await operations.progress(await operations.run(found.id))
    if options.json:
        for line in _lines(progress):
            print(json.dumps(line))
    else:
        _print(progress, folder.list_invited())
    return 0


async def _may_come(operations: FleetOperator, progress: RunProgress, invited: Sequence[str]) -> bool:
    """Return True when a further block of a run is possible: from a member's queue with blocks left."""
    if progress.run.state is not RunState.OPEN:
        return False
    behind = {one.vantage for one in progress.places if one.blocks_done_count < one.blocks_count}
    awaited = behind & set(invited)
    if not awaited:
        return False
    for _ in range(2):
        # Twice: a run that is being begun has not all of its jobs yet.
        if not awaited <= {job.vantage for job in await operations.list_lost_jobs(progress.run)}:
            return True
        await asyncio.sleep(LOOK_EVERY_S)
    problem = f"blocks of {progress.run.id} at {', '.join(sorted(awaited))} are neither done nor in a queue"
    raise MachineError(f"could not wait: {problem}; `resolab fleet fetch` takes what is there and queues the rest")


def _lines(progress: RunProgress) -> list[dict[str, object]]:
    """Return one line for each vantage point."""
    return [
        {
            "run": progress.run.id,
            "state": str(progress.run.state),
            "vantage_point": one.vantage,
            "blocks_done_count": one.blocks_done_count,
            "blocks_count": one.blocks_count,
            "agent": as_dict(one.said) if isinstance(one.said, AgentState) else None,
            "agent_problem": one.said.why if isinstance(one.said, UnreadableState) else None,
            "results_bytes": one.use.size_bytes,
            "quota_bytes": one.use.quota_bytes,
        }
        for one in progress.places
    ]


def _print(progress: RunProgress, invited: Sequence[str]) -> None:
    console = Console(width=None if sys.stdout.isatty() else PIPED_WIDTH)
    titles = ("vantage point", "blocks", "results", "agent", "heard of", "resolab", "problem")
    table = Table(*titles, box=None, pad_edge=False)
    now_ns = time.time_ns()
    for one in progress.places:
        done = f"{one.blocks_done_count} of {one.blocks_count}"
        said = _list_state_cells(one.said, now_ns, is_invited=one.vantage in invited)
        table.add_row(*(Text(clip_text(cell)) for cell in (one.vantage, done, _use(one.use), *said)))
    console.print(table)
    left_s = progress.estimate_left_s(now_ns)
    rest = "" if left_s is None or not left_s else f", about {duration_text(left_s)} left"
    line = (
        f"{progress.run.id}: {progress.run.state}, {progress.blocks_done_count} of {progress.blocks_count} blocks{rest}"
    )
    console.print(line, highlight=False, markup=False, soft_wrap=True)


def _list_state_cells(
    said: AgentState | UnreadableState | None, now_ns: int, *, is_invited: bool
) -> tuple[str, str, str, str]:
    """Return an agent's own state as cells of a row: activity, age, version, problem."""
    gone = "" if is_invited else "withdrawn"
    if said is None:
        return gone or "never", "", "", ""
    if isinstance(said, UnreadableState):
        return gone or "unreadable", "", "", f"what it says of itself cannot be read: {said.why}"
    ago = f"{duration_text(max(0.0, (now_ns - said.unix_ns) / 1e9))} ago"
    return gone or said.doing, ago, said.versions.get("resolab", ""), said.problem or ""


def _use(use: StoreUse) -> str:
    quota = "" if use.quota_bytes is None else f" of {use.quota_bytes / GB:.3g}"
    return f"{use.size_bytes / GB:.3g}{quota} GB"


def fetch(options: argparse.Namespace) -> int:
    """Make a single dataset of a run's results."""
    return run_with_server(options.fleet, lambda client, _folder: _fetch(options, client))


async def _fetch(options: argparse.Namespace, client: Client) -> int:
    operations = FleetOperator(client)
    found = await operations.run(options.name)
    out = options.out or Path("runs") / found.id
    with _bar("blocks", found.blocks * len(options.vantage or found.vantages)) as (bar, task):
        fetching = ResultFetcher(client, found, lambda: bar.advance(task))
        try:
            fetched = await fetching.make_dataset(out, options.vantage)
        finally:
            _print_left_out(fetching)
    trials_count = fetched.manifest.trials_finished_count
    blocks = ", ".join(f"{vantage} {count}" for vantage, count in fetched.blocks_count.items())
    print(f"dataset: {out}, {trials_count} trials; blocks there: {blocks}. Report: resolab report {out}")
    if [fetched.blocks_count.get(vantage) for vantage in found.vantages] == [found.blocks] * len(found.vantages):
        await operations.end(found, RunState.FETCHED)
    return 0


def _print_left_out(fetching: ResultFetcher) -> None:
    for line in fetching.refused:
        print(f"left out: {clean(line)}", file=sys.stderr)
    if fetching.asked_again:
        again = format_count(len(fetching.asked_again), "block")
        print(f"{again} queued again; fetch once more when they are there", file=sys.stderr)


def stop(options: argparse.Namespace) -> int:
    """Remove a run's remaining blocks from the queues."""
    return run_with_server(options.fleet, lambda client, _folder: _stop(options, client))


async def _stop(options: argparse.Namespace, client: Client) -> int:
    operations = FleetOperator(client)
    found = await operations.run(options.name)
    await operations.end(found, RunState.STOPPED)
    print(f"{found.id} is stopped; what is there can be fetched")
    return 0


@contextlib.contextmanager
def _bar(what: str, total: int) -> Iterator[tuple[Progress, TaskID]]:
    """Show a progress bar on a terminal, nothing elsewhere."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), disable=not sys.stderr.isatty()) as bar:
        yield bar, bar.add_task(what, total=total)
