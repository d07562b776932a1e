"""Loads by resolab and by browsertime in turn, through one path and from one edge.

For: the cells, the order of tools in each round, and the total seconds of each load. Not for: evaluating loads
(`comparison`, `table`).

Both tools run in the client host of resolab's own testbed, with processors kept awake. browsertime runs while resolab's
browser is idle. A round is one invocation of browsertime, then the same number of trials; the next round has the
reverse order. A tool's loads in a round are a turn: the loads share an invocation, and the state of the machine. In
every cell, a load of each tool is discarded before.
"""

import os
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from benches.common import turns
from benches.peers.browsertime import Peer, prepare_browsertime
from benches.peers.rule import BrowserTimings, failure_of
from resolab.basics.records import PageFailure, PageLoadRecord, look_up_ms
from resolab.lab.layout import PageSite
from resolab.lab.sites import assign_sites
from resolab.plan import Condition, Corpus, Plan, parse_plan, stream_seed
from resolab.trials.page_load.runner import PageLoadRunner
from resolab.trials.trial_result import TrialResult

TOOLS = ("browsertime", "resolab")
PLAN = """
name = "peers"
question = "How many loads, and how much time, does an interval of one width take?"
seed = 1
blocks = {loads}
[factors]
page = {pages}
profile = {profiles}
dns_transport = ["doudp"]
http_version = ["h2"]
requested_handshake_mode = ["full"]
browser = ["chromium"]
[resolver_path]
doudp = "native"
[baseline]
dns_transport = "doudp"
"""


@dataclass(frozen=True)
class ToolLoad:
    """A load of a tool."""

    turn: int
    """The number of the round: for browsertime the invocation."""
    seconds: float
    """The total time; for browsertime the invocation's time, divided among its loads."""
    plt_ms: float | None
    response_start_ms: float | None
    failure: str | None


@dataclass
class ToolsCell:
    """Both tools' loads of a page over a profile."""

    page: str
    profile: str
    loads: dict[str, list[ToolLoad]] = field(default_factory=lambda: {tool: [] for tool in TOOLS})
    load_average: tuple[float, float] = (0.0, 0.0)
    """The load average of the last minute, before and after."""


@dataclass
class Lab:
    """The testbed with browsertime inside."""

    testbed: PageLoadRunner
    peer: Peer
    plan: Plan
    corpus: Corpus
    start_seconds: float
    """The time of resolab's start, before its first load."""

    async def loads(self, tool: str, condition: Condition, name: str, count: int, turn: int = 0) -> list[ToolLoad]:
        """Load a page `count` times with a tool, in one turn."""
        site = assign_sites(self.corpus, self.plan.factors.page)[condition.page]
        if tool == "resolab":
            return [await self._trial(condition, f"{name}-{number}", site, turn) for number in range(count)]
        profile = self.corpus.profile(condition.profile)
        await self.testbed.path.set_profile(profile, stream_seed(self.plan.seed, "link", name))
        found, seconds = await self.peer.loads(site, count)
        return [ToolLoad(turn, seconds / count, one.plt_ms, one.response_start_ms, one.failure) for one in found]

    async def _trial(self, condition: Condition, trial_id: str, site: PageSite, turn: int) -> ToolLoad:
        began_s = time.monotonic()
        result = await self.testbed.run_trial(condition, trial_id)
        return read(result, time.monotonic() - began_s, turn, site.request_count)


def plan_of(pages: Sequence[str], profiles: Sequence[str], loads: int, corpus: Corpus) -> Plan:
    """Make the plan with the cells as conditions."""
    return parse_plan(PLAN.format(pages=list(pages), profiles=list(profiles), loads=loads), "the plan of peers", corpus)


def read(result: TrialResult, seconds: float, turn: int, request_count: int | None) -> ToolLoad:
    """Read a trial of resolab by the rule for browsertime's loads."""
    measured = next(one for one in result.records if isinstance(one, PageLoadRecord) and one.measured)
    failure = _failure(measured, request_count)
    if failure is not None:
        return ToolLoad(turn, seconds, None, None, failure)
    return ToolLoad(turn, seconds, measured.plt_ms, measured.response_start_ms, None)


def _failure(measured: PageLoadRecord, request_count: int | None) -> str | None:
    # That a load is incomplete is what the edge says; of browsertime's loads nobody asks it.
    if measured.failure not in {None, PageFailure.INCOMPLETE}:
        return str(measured.failure)
    look_up = look_up_ms(
        measured.browser, measured.fetch_start_ms, measured.domain_lookup_start_ms, measured.domain_lookup_end_ms
    )
    times = (measured.plt_ms, measured.response_start_ms, look_up)
    return failure_of(BrowserTimings(*times, measured.next_hop_protocol, measured.request_count), request_count)


def rounds(loads: int, of_round: int) -> list[tuple[int, list[str]]]:
    """Return each round's count, and its tools in alternating order."""
    sizes = [min(of_round, loads - done) for done in range(0, loads, of_round)]
    return [(size, turns.order_arms(TOOLS, number)) for number, size in enumerate(sizes)]


@asynccontextmanager
async def lab(plan: Plan, corpus: Corpus, *, short_waits: bool) -> AsyncIterator[Lab]:
    """Run a testbed with browsertime beside the testbed's browser."""
    began_s = time.monotonic()
    async with PageLoadRunner(plan, corpus, plan.seed) as testbed:
        start_seconds = time.monotonic() - began_s
        with prepare_browsertime(testbed.path.ready.pid, testbed.ca_file, short_waits=short_waits) as peer:
            yield Lab(testbed, peer, plan, corpus, start_seconds)


async def measure(lab: Lab, loads: int, of_round: int, say: Callable[[str, str, int], None]) -> list[ToolsCell]:
    """Load every cell `loads` times by each tool."""
    cells = []
    for condition in lab.plan.conditions():
        cell = ToolsCell(condition.page, condition.profile)
        name = f"{cell.page} {cell.profile}"
        for tool in TOOLS:
            say(f"{name}: {tool}, not counted", tool, 1)
            await lab.loads(tool, condition, f"{name} {tool} before", 1)
        before = os.getloadavg()[0]
        for number, (size, tools) in enumerate(rounds(loads, of_round)):
            for tool in tools:
                say(f"{name}: {tool}, from load {number * of_round + 1} of {loads}", tool, size)
                cell.loads[tool] += await lab.loads(tool, condition, f"{name} {tool} {number}", size, number)
        cell.load_average = before, os.getloadavg()[0]
        cells.append(cell)
    return cells
