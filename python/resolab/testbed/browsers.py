"""The browsers of a testbed: one process for each way that is needed, some of them alive at a time.

For: starting a browser when its way is first needed, replacing it when it died, and ending the one that was not used
for longest. Not for: which settings a way has (`ways`) or loads.

An idle browser costs memory (400 to 500 MiB) and wakes up beside others' measurements, so at most `LIVE_LIMIT` live. A
browser is started and ended only while a trial is prepared, never during a load. Firefox grows by 0.2 MiB a load, so
that a browser is replaced after `RENEWED_AFTER_COUNT` trials.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from resolab.browser import Browser, Chromium, Firefox
from resolab.records import BrowserName
from resolab.testbed.ways import Surroundings, Way, prefix_of, probes, settings_of

LIVE_LIMIT = 4
RENEWED_AFTER_COUNT = 250
"""Trials after which a browser is replaced by a new one."""
MAKERS: Mapping[BrowserName, Callable[[], Browser]] = {
    BrowserName.CHROMIUM: Chromium,
    BrowserName.FIREFOX: Firefox,
}


def started_first(ways: Iterable[Way]) -> list[Way]:
    """Choose, in their order, whose browsers start before the first trial: as many as may live.

    A browser that asks its resolver by itself starts with its first trial, whose load waits for that: started before,
    it would ask during a load of another.
    """
    distinct = list(dict.fromkeys(ways))
    silent = [way for way in distinct if not probes(way)]
    return (silent or distinct[:1])[:LIVE_LIMIT]


def logged_count(folder: Path | None) -> int:
    """Find the highest number of a log that is there: the trials of an earlier testbed or process name those logs."""
    names = [] if folder is None or not folder.is_dir() else [file.name for file in folder.glob("[0-9]*.json")]
    return max((int(name.partition(".")[0]) for name in names), default=0)


class BrowserPool:
    """Browser processes by their way, the one used last at the end."""

    def __init__(
        self,
        surroundings: Surroundings,
        *,
        live_limit: int = LIVE_LIMIT,
        makers: Mapping[BrowserName, Callable[[], Browser]] = MAKERS,
    ) -> None:
        self._surroundings, self._live_limit, self._makers = surroundings, live_limit, makers
        self._browsers: OrderedDict[Way, Browser] = OrderedDict()
        self._started_count = logged_count(surroundings.kept.netlog_folder)
        self._trials_counts: dict[Way, int] = {}
        self._netlog_files: dict[Way, Path | None] = {}

    @property
    def ways(self) -> list[Way]:
        """The ways whose browser runs, the one used last at the end."""
        return list(self._browsers)

    async def get(self, way: Way) -> Browser:
        """Find or start the browser of a way for a trial; may end another."""
        browser = self._browsers.pop(way, None)
        if browser is not None and (not browser.usable or self._trials_counts[way] >= RENEWED_AFTER_COUNT):
            await browser.close()
            browser = None
        if browser is None:
            await self._make_room()
            browser = self._makers[way.browser]()
            self._started_count += 1
            settings = settings_of(way, self._surroundings, start_number=self._started_count)
            await browser.start(prefix_of(way, self._surroundings), settings)
            self._trials_counts[way] = 0
            self._netlog_files[way] = settings.netlog_file
        self._browsers[way] = browser
        self._trials_counts[way] += 1
        return browser

    def netlog_file(self, way: Way) -> Path | None:
        """Name the log of the way's latest browser."""
        return self._netlog_files.get(way)

    async def close(self) -> None:
        """Stop every browser."""
        while self._browsers:
            _, browser = self._browsers.popitem()
            await browser.close()

    async def _make_room(self) -> None:
        while len(self._browsers) >= self._live_limit:
            _, oldest = self._browsers.popitem(last=False)
            await oldest.close()
