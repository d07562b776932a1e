"""The cost of a browser's log: page load time with and without the log, in turn.

For: two browsers with the log as the only difference, on one testbed, one load at a time. Not for: verdicts.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from unittest import mock

import numpy as np

from benches.client_side.cells import Group
from benches.client_side.logged_browsers import LoggedBrowser
from benches.common.part import BenchPart, verdict
from resolab.basics.records import BrowserKind
from resolab.browser import Browser, BrowserSettings, ListeningRequest, LoadEvents, LoadRequest, LoadResult
from resolab.browser.browser_log import BrowserLog
from resolab.browser.drivers import MAKERS
from resolab.campaign.schedule import schedule
from resolab.plan import Corpus
from resolab.trials.page_load import runner as testbed_module
from resolab.trials.page_load.browsers import BrowserPool
from resolab.trials.page_load.runner import PageLoadRunner

UNUSED_PAIRS_COUNT = 2
"""A browser's first loads include one-time start-up work."""
LIMIT_RATIO, LIMIT_MS = 0.02, 5.0
COLUMNS = ["browser", "resolver", "page", "pairs", "without ms", "with ms", "more ms", "95 % of more", "KiB a load"]


@dataclass(frozen=True)
class Cost:
    """Page load times in pairs, and the log's size."""

    group: Group
    page: str
    without_ms: Sequence[float]
    with_ms: Sequence[float]
    log_bytes: int
    loads_count: int


class BrowserPair:
    """A silent and a logged browser, loading in turn."""

    def __init__(self, name: BrowserKind, file: Path, seen: list[tuple[bool, float | None]]) -> None:
        self._silent: Browser = MAKERS[name]()
        self._logged: Browser = LoggedBrowser(MAKERS[name](), file, self._ignore)
        self._seen = seen
        self._turn = 0

    @staticmethod
    def _ignore(_: LoadResult, __: BrowserLog | None) -> None:
        return

    async def start(self, command_prefix: Sequence[str], settings: BrowserSettings) -> None:
        """Start both browsers in parallel."""
        await asyncio.gather(*(one.start(command_prefix, settings) for one in (self._silent, self._logged)))

    async def load(self, request: LoadRequest) -> LoadResult:
        """Load with the browser whose turn has come; the first browser of a pair alternates from pair to pair."""
        is_logged = (self._turn % 2 == 1) != (self._turn // 2 % 2 == 1)
        self._turn += 1
        result = await (self._logged if is_logged else self._silent).load(request)
        timings = result.measured.timings if result.measured.failure is None else None
        self._seen.append((is_logged, timings.plt_ms if timings is not None else None))
        return result

    async def listen(self, asked: ListeningRequest) -> LoadEvents:
        """Listen with the silent browser."""
        return await self._silent.listen(asked)

    async def close(self) -> None:
        """End both browsers in parallel."""
        await asyncio.gather(self._silent.close(), self._logged.close())

    @property
    def name(self) -> str:
        """The name of both browsers."""
        return self._silent.name

    @property
    def version(self) -> str:
        """The version of both browsers."""
        return self._silent.version

    @property
    def pid(self) -> int | None:
        """The process of the silent browser."""
        return self._silent.pid

    @property
    def usable(self) -> bool:
        """Return True when both browsers can take a load."""
        return self._silent.usable and self._logged.usable


async def measure(
    group: Group, *, page: str, profile: str, pairs: int, folder: Path, say: Callable[[str], None]
) -> Cost:
    """Load in turn with and without the log."""
    plan = group.plain_plan(page=page, profile=profile, blocks=2 * (pairs + UNUSED_PAIRS_COUNT))
    seen: list[tuple[bool, float | None]] = []
    name = BrowserKind(group.browser)
    file = folder / f"cost.{group.browser}.{group.way}"
    pool = partial(BrowserPool, makers={name: lambda: BrowserPair(name, file, seen)})
    with mock.patch.object(testbed_module, "BrowserPool", pool):
        async with PageLoadRunner(plan, Corpus.from_project(), plan.seed) as testbed:
            for planned in schedule(plan, plan.seed, plan.blocks):
                say(f"{group.browser} {group.way}, load {planned.block + 1} of {plan.blocks}")
                await testbed.run_trial(planned.condition, planned.trial_id)
    size = await asyncio.to_thread(_size_bytes, file)
    both = [seen[at : at + 2] for at in range(2 * UNUSED_PAIRS_COUNT, len(seen) - 1, 2)]
    good = [dict(pair) for pair in both if len(dict(pair)) == 2 and all(plt is not None for _, plt in pair)]
    return Cost(
        group,
        page,
        [float(pair[False] or 0.0) for pair in good],
        [float(pair[True] or 0.0) for pair in good],
        size,
        sum(is_logged for is_logged, _ in seen),
    )


def _size_bytes(file: Path) -> int:
    return sum(one.stat().st_size for one in file.parent.glob(f"{file.name}*"))


def table(costs: Sequence[Cost]) -> BenchPart:
    """Judge the median of the pairs' differences."""
    part = BenchPart("cost", "page load time with and without the log, in pairs", [*COLUMNS, "verdict"])
    rng = np.random.default_rng(1)
    for cost in costs:
        without, with_log = np.asarray(cost.without_ms), np.asarray(cost.with_ms)
        more = with_log - without
        drawn = np.median(rng.choice(more, (2000, len(more))), axis=1)
        low, high = np.quantile(drawn, [0.025, 0.975])
        limit_ms = max(LIMIT_MS, LIMIT_RATIO * float(np.median(without)))
        cells = [cost.group.browser, cost.group.way, cost.page, str(len(more))]
        cells += [f"{np.median(values):.1f}" for values in (without, with_log, more)]
        cells += [f"{low:.1f}..{high:.1f}", f"{cost.log_bytes / 1024 / cost.loads_count:.0f}"]
        part.add([*cells, verdict(float(np.median(more)), limit_ms)], vars(cost) | {"group": vars(cost.group)})
    part.remarks = [f"may cost {LIMIT_MS:g} ms or {LIMIT_RATIO:.0%} of the page load time, whichever is more"]
    part.remarks += ["95 % of more: of the median of the differences, by bootstrap over pairs"]
    return part
