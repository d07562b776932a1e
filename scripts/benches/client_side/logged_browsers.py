"""Browsers with their log read after each load, in a testbed unaware of the log.

For: returning every load with its log. Not for: judging (`verdicts`).
"""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from unittest import mock

from resolab.basics.records import BrowserKind
from resolab.browser import Browser, BrowserSettings, ListeningRequest, LoadEvents, LoadRequest, LoadResult
from resolab.browser.browser_log import BrowserLog
from resolab.browser.drivers import MAKERS
from resolab.trials.live.client_side import LoadLog, log_settings
from resolab.trials.page_load import runner as testbed_module
from resolab.trials.page_load.browsers import BrowserPool

Take = Callable[[LoadResult, BrowserLog | None], None]
"""The receiver of each load."""


class LoggedBrowser:
    """A stock browser writing its log."""

    def __init__(self, browser: Browser, file: Path, take: Take) -> None:
        self._browser, self._file, self._take = browser, file, take
        self._log: LoadLog | None = None

    async def start(self, command_prefix: Sequence[str], settings: BrowserSettings) -> None:
        """Start the browser with its log on."""
        settings, self._log = log_settings(BrowserKind(self._browser.name), settings, self._file)
        await self._browser.start(command_prefix, settings)

    async def load(self, request: LoadRequest) -> LoadResult:
        """Run a load and hand the result out with its log."""
        assert self._log is not None  # It has been started.
        self._log.mark()
        result = await self._browser.load(request)
        self._take(result, self._log.read())
        return result

    async def listen(self, asked: ListeningRequest) -> LoadEvents:
        """Load once and listen."""
        return await self._browser.listen(asked)

    async def close(self) -> None:
        """End the stock browser."""
        await self._browser.close()

    @property
    def name(self) -> str:
        """The name of the browser."""
        return self._browser.name

    @property
    def version(self) -> str:
        """The version of the browser."""
        return self._browser.version

    @property
    def pid(self) -> int | None:
        """The process id of the browser."""
        return self._browser.pid

    @property
    def usable(self) -> bool:
        """Return True when the browser can take a load."""
        return self._browser.usable


@contextlib.contextmanager
def start_logged_browsers(folder: Path, take: Take) -> Iterator[None]:
    """Make testbeds start logged browsers within this context."""
    count = iter(range(1 << 30))

    def maker(name: BrowserKind) -> Callable[[], Browser]:
        return lambda: LoggedBrowser(MAKERS[name](), folder / f"{next(count):04}.{name}.log", take)

    makers: Mapping[BrowserKind, Callable[[], Browser]] = {name: maker(name) for name in MAKERS}
    with mock.patch.object(testbed_module, "BrowserPool", partial(BrowserPool, makers=makers)):
        yield
