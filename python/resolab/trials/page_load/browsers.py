"""The browsers of a testbed: one process for each combination of settings, a few alive at a time.

For: starting a browser when first needed, replacing a dead browser, and ending the least recently used browser.
Not for: a browser's settings (`ways`) or loads.

An idle browser costs memory (400 to 500 MiB) and wakes up beside others' measurements, so at most `LIVE_LIMIT` live. A
browser is started and ended only while a trial is prepared, never during a load. Firefox grows by 0.2 MiB a load, so a
browser is replaced after `RENEWED_AFTER_COUNT` trials.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from resolab.basics.records import BrowserKind
from resolab.browser import Browser
from resolab.browser.drivers import MAKERS
from resolab.trials.page_load.browser_setup import BrowserSetup, TestbedPaths, build_prefix, build_settings, probes

LIVE_LIMIT = 4
RENEWED_AFTER_COUNT = 250
"""The number of trials before a browser is replaced by a new browser."""


def choose_first_browsers(ways: Iterable[BrowserSetup]) -> list[BrowserSetup]:
    """Return the settings of browsers to start before the first trial, in order: as many as may live.

    A browser with background queries to its resolver starts with its first trial, and the trial's load waits for the
    queries. With an earlier start, these queries would fall into another browser's load.
    """
    distinct = list(dict.fromkeys(ways))
    silent = [way for way in distinct if not probes(way)]
    return (silent or distinct[:1])[:LIVE_LIMIT]


def find_log_number(folder: Path | None) -> int:
    """Return the highest number of an existing log: earlier testbeds' or processes' trials refer to these logs."""
    names = [] if folder is None or not folder.is_dir() else [file.name for file in folder.glob("[0-9]*.json")]
    return max((int(name.partition(".")[0]) for name in names), default=0)


class BrowserPool:
    """The browser processes by settings, the most recently used last."""

    def __init__(
        self,
        surroundings: TestbedPaths,
        *,
        live_limit: int = LIVE_LIMIT,
        makers: Mapping[BrowserKind, Callable[[], Browser]] = MAKERS,
    ) -> None:
        self._surroundings, self._live_limit, self._makers = surroundings, live_limit, makers
        self._browsers: OrderedDict[BrowserSetup, Browser] = OrderedDict()
        self._started_count = find_log_number(surroundings.kept.netlog_folder)
        self._trials_counts: dict[BrowserSetup, int] = {}
        self._netlog_files: dict[BrowserSetup, Path | None] = {}

    @property
    def ways(self) -> list[BrowserSetup]:
        """Return the settings of all running browsers, the most recently used last."""
        return list(self._browsers)

    async def get(self, way: BrowserSetup) -> Browser:
        """Find or start the browser with these settings for a trial; may end another browser."""
        browser = self._browsers.pop(way, None)
        if browser is not None and (not browser.usable or self._trials_counts[way] >= RENEWED_AFTER_COUNT):
            await browser.close()
            browser = None
        if browser is None:
            await self._make_room()
            browser = self._makers[way.kind]()
            self._started_count += 1
            settings = build_settings(way, self._surroundings, start_number=self._started_count)
            await browser.start(build_prefix(way, self._surroundings), settings)
            self._trials_counts[way] = 0
            self._netlog_files[way] = settings.netlog_file
        self._browsers[way] = browser
        self._trials_counts[way] += 1
        return browser

    def netlog_file(self, way: BrowserSetup) -> Path | None:
        """Return the log file of the latest browser with these settings."""
        return self._netlog_files.get(way)

    async def close(self) -> None:
        """Stop every browser of the testbed."""
        while self._browsers:
            _, browser = self._browsers.popitem()
            await browser.close()

    async def _make_room(self) -> None:
        while len(self._browsers) >= self._live_limit:
            _, oldest = self._browsers.popitem(last=False)
            await oldest.close()
