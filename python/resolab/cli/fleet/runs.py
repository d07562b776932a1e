"""`resolab fleet run`, `status`, `fetch` and `stop`: runs as the one who began them sees them.

For: words, tables and JSON Lines. Not for: the calls behind them (`resolab.fleet.operations`, `fetch`).
"""

import argparse
import asyncio
import contextlib
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from nats.aio.client import Client
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table

from resolab.campaign.progress import duration_text
from resolab.cli.console import Console
from resolab.cli.fleet.connected import with_server
from resolab.errors import ConfigurationError
from resolab.fleet.checks import ground_of, named_path
from resolab.fleet.fetch import fetch as fetch_run
from resolab.fleet.job import Run, RunState, as_dict
from resolab.fleet.operations import Operations, RunProgress, check_vantages, new_run_id
from resolab.fleet.server_folder import ServerFolder
from resolab.plan import load_plan
from resolab.wording import counted

LOOK_EVERY_S = 2.0
PIPED_WIDTH = 160


def run(options: argparse.Namespace) -> int:
    """Queue a plan's blocks at every vantage point."""
    return with_server(options.fleet, lambda client, folder: _run(options, client, folder))


async def _run(options: argparse.Namespace, client: Client, folder: ServerFolder) -> int:
    plan = load_plan(options.plan, seed=options.seed, blocks=options.blocks)
    path = named_path(plan.source_text, str(options.plan))
    if path is not None:
        raise ConfigurationError(f"could not give {plan.name} to a fleet: it names {path}, which agents have not")
    operations, now = Operations(client), time.time()
    vantages = check_vantages(options.vantage, folder.invited())
    taken = [one.id for one in await operations.runs()]
    begun = Run(
        id=new_run_id(plan.name, taken, now),
        plan_name=plan.name,
        plan_text=plan.source_text,
        seed=plan.seed,
        blocks=plan.blocks,
        ground=ground_of(plan),
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
    blocks = counted(plan.blocks, "block")
    print(f"{begun.id}: {blocks} at {', '.join(vantages)}; see resolab fleet status")
    return 0


def status(options: argparse.Namespace) -> int:
    """Say how far a run is, and what its agents say."""
    return with_server(options.fleet, lambda client, _folder: _status(options, client))


async def _status(options: argparse.Namespace, client: Client) -> int:
    operations = Operations(client)
    found = await operations.run(options.name)
    progress = await operations.progress(found)
    if options.wait:
        with _bar("blocks", progress.blocks_count) as (bar, task):
            while progress.run.state is RunState.OPEN and progress.blocks_done_count < progress.blocks_count:
                bar.update(task, completed=progress.blocks_done_count)
                await asyncio.sleep(LOOK_EVERY_S)
                progress = await operations.progress(await operations.run(found.id))
    if options.json:
        for line in _lines(progress):
            print(json.dumps(line))
    else:
        _print(progress)
    return 0


def _lines(progress: RunProgress) -> list[dict[str, object]]:
    """Write one line for each vantage point."""
    return [
        {
            "run": progress.run.id,
            "state": str(progress.run.state),
            "vantage_point": one.vantage,
            "blocks_done_count": one.blocks_done_count,
            "blocks_count": one.blocks_count,
            "agent": None if one.state is None else as_dict(one.state),
        }
        for one in progress.places
    ]


def _print(progress: RunProgress) -> None:
    console = Console(width=None if sys.stdout.isatty() else PIPED_WIDTH)
    table = Table("vantage point", "blocks", "agent", "heard of", "resolab", "problem", box=None, pad_edge=False)
    now_ns = time.time_ns()
    for one in progress.places:
        state = one.state
        said = ("never", "", "", "") if state is None else (
            state.doing,
            f"{duration_text(max(0.0, (now_ns - state.unix_ns) / 1e9))} ago",
            state.versions.get("resolab", ""),
            state.problem or "",
        )  # fmt: skip
        table.add_row(one.vantage, f"{one.blocks_done_count} of {one.blocks_count}", *said)
    console.print(table)
    left_s = progress.left_s(now_ns)
    rest = "" if left_s is None or not left_s else f", about {duration_text(left_s)} left"
    line = (
        f"{progress.run.id}: {progress.run.state}, {progress.blocks_done_count} of {progress.blocks_count} blocks{rest}"
    )
    console.print(line, highlight=False, markup=False, soft_wrap=True)


def fetch(options: argparse.Namespace) -> int:
    """Make one dataset of a run's results."""
    return with_server(options.fleet, lambda client, _folder: _fetch(options, client))


async def _fetch(options: argparse.Namespace, client: Client) -> int:
    operations = Operations(client)
    found = await operations.run(options.name)
    out = options.out or Path("runs") / found.id
    with _bar("blocks", found.blocks * len(found.vantages)) as (bar, task):
        fetched = await fetch_run(client, found, out, lambda: bar.advance(task))
    for line in fetched.refused:
        print(f"left out: {line}", file=sys.stderr)
    trials_count = fetched.manifest.trials_finished_count
    blocks = ", ".join(f"{vantage} {count}" for vantage, count in fetched.blocks_count.items())
    print(f"dataset: {out}, {trials_count} trials; blocks there: {blocks}. Report: resolab report {out}")
    if all(count == found.blocks for count in fetched.blocks_count.values()):
        await operations.end(found, RunState.FETCHED)
    return 0


def stop(options: argparse.Namespace) -> int:
    """Take what is left of a run out of the queues."""
    return with_server(options.fleet, lambda client, _folder: _stop(options, client))


async def _stop(options: argparse.Namespace, client: Client) -> int:
    operations = Operations(client)
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
