"""Rounds of live loads in a box and of the lab's loads beside it, in turn.

For: the box and the testbed, and their loads. Both run all the time; neither side has the processors alone. Not for:
evaluating loads (`comparison`).
"""

import asyncio
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from benches.internet.against_lab.comparison import Cell, ComparedLoad
from benches.internet.against_lab.comparison_files import LAB_PLAN, LIVE_PLAN, ComparisonSettings, origins_of
from resolab.basics.errors import MachineError
from resolab.basics.records import DnsTransport, LiveTrialRecord, PageFailure, PageLoadRecord, Record, TrialRecord
from resolab.extras.internet import Box
from resolab.extras.internet.layout import HOME
from resolab.lab.engine import CoreProcess, find_core
from resolab.plan import Corpus, Plan, block_order, load_plan
from resolab.store import find_finished_trials, read_trial
from resolab.trials.page_load.runner import PageLoadRunner

Say = Callable[[str], None]
PRIMED_TYPES = ("A", "AAAA", "HTTPS")
"""The record types queried by browsers and our client."""
PRIME_TIMEOUT_S = 60.0


def lab_plan(folder: Path) -> tuple[Plan, Corpus]:
    """Read the lab's plan with the pages and the profile beside it."""
    corpus = Corpus(folder)
    return load_plan(folder / LAB_PLAN, corpus), corpus


async def rounds(
    sides: ComparisonSettings, box: Box, folder: Path, say: Say
) -> tuple[list[ComparedLoad], list[ComparedLoad]]:
    """Run all rounds; the first side of a round alternates."""
    live: list[ComparedLoad] = []
    lab: list[ComparedLoad] = []
    plan, corpus = lab_plan(folder)
    async with PageLoadRunner(plan, corpus, plan.seed) as testbed:
        for number in range(sides.rounds):
            for side in ("live", "lab") if number % 2 == 0 else ("lab", "live"):
                say(f"round {number + 1} of {sides.rounds}: {side}")
                if side == "live":
                    live += await _live_round(sides, box, folder, number)
                else:
                    lab += await _lab_round(testbed, plan, number)
    return live, lab


async def _live_round(sides: ComparisonSettings, box: Box, folder: Path, number: int) -> list[ComparedLoad]:
    await _prime(sides, box)
    dataset = folder / f"live-{number:03}"
    command = [*box.prefix(HOME), sys.executable, "-m", "resolab", "run", str(folder / LIVE_PLAN)]
    command += ["--out", str(dataset), "--seed", str(number + 1)]
    with (folder / f"live-{number:03}.output").open("wb") as output:
        run = await asyncio.create_subprocess_exec(
            *command, env=box.environment(), stdin=asyncio.subprocess.DEVNULL, stdout=output, stderr=output
        )
        try:
            code = await run.wait()
        finally:
            if run.returncode is None:
                run.terminate()
                await run.wait()
    if code:
        raise MachineError(f"the live run ended with code {code}: {output.name} has what it said")
    return live_loads(sides, dataset)


async def _prime(sides: ComparisonSettings, box: Box) -> None:
    """Make the resolver learn the zones of all names and, with a cache, the answers."""
    hosts = [origin.host for site in sides.sites for origin in origins_of(site)]
    command = [*box.prefix(HOME), str(find_core()), "query", "--resolver", sides.resolver.address]
    command += [word for one in PRIMED_TYPES for word in ("--type", one)]
    query = await CoreProcess.start("priming", [*command, *hosts], lambda _record: None, environment=box.environment())
    await query.wait(PRIME_TIMEOUT_S)


async def _lab_round(testbed: PageLoadRunner, plan: Plan, number: int) -> list[ComparedLoad]:
    loads = []
    for block in range(plan.blocks):
        for place, condition in enumerate(block_order(plan, plan.seed + number, block)):
            result = await testbed.run_trial(condition, f"r{number:03}-b{block:03}-t{place:03}")
            cell = (condition.page, condition.browser, condition.dns_transport.value)
            loads += [_load(cell, one) for one in _read_measured(result.records)]
    return loads


def live_loads(sides: ComparisonSettings, dataset: Path) -> list[ComparedLoad]:
    """Read the loads of a live round, in order; the URL identifies the site."""
    pages = {site.url: site.page for site in sides.sites}
    return [load for file in find_finished_trials(dataset).values() for load in _loads_of(pages, [*read_trial(file)])]


def _loads_of(pages: dict[str, str], records: Sequence[Record]) -> Iterator[ComparedLoad]:
    trial = next(one for one in records if isinstance(one, TrialRecord))
    live = next(one for one in records if isinstance(one, LiveTrialRecord))
    assert trial.browser is not None  # Of a page load.
    cell = (pages[live.url], trial.browser, DnsTransport(trial.dns_transport).value)
    for one in _read_measured(records):
        yield _load(cell, one)


def _read_measured(records: Sequence[Record]) -> list[PageLoadRecord]:
    """Return the measured loads, without loads refused by the manners."""
    loads = [one for one in records if isinstance(one, PageLoadRecord) and one.measured]
    return [one for one in loads if one.failure is not PageFailure.LEFT_ALONE]


def _load(cell: Cell, one: PageLoadRecord) -> ComparedLoad:
    return ComparedLoad(cell, 0, None if one.failure is not None else one.plt_ms, one.limit_ms)


def estimate_s(sides: ComparisonSettings) -> float:
    """Estimate the duration, in s."""
    of_round = sides.loads * len(sides.sites) * len(sides.transports) * len(sides.browsers)
    return START_S + sides.rounds * (LIVE_RUN_S + of_round * (LIVE_LOAD_S + LAB_LOAD_S))


START_S, LIVE_RUN_S, LIVE_LOAD_S, LAB_LOAD_S = 30.0, 20.0, 7.0, 3.0


def stamp_messages(began_s: float, say: Say) -> Say:
    """Prefix each message with the elapsed time."""
    return lambda text: say(f"{time.monotonic() - began_s:5.0f} s  {text}")
