"""A stock Chromium, driven from outside its network namespace.

For: one browser process: start, loads one after the other, end for certain.
Not for: what a load consists of (`page_load`) or what the browser is told at its start (`flags`, `profile`).
"""

import asyncio
import itertools
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from resolab.browser.chromium.cdp import CdpClosedError, CdpError, CdpTimeoutError, Connection
from resolab.browser.chromium.flags import command_line
from resolab.browser.chromium.page_load import TrialLoad, check_supported
from resolab.browser.chromium.profile import BrowserHome
from resolab.browser.find import find_chromium
from resolab.browser.process import BrowserProcess, piped_command
from resolab.browser.result import LoadRequest, LoadResult
from resolab.browser.settings import BrowserSettings
from resolab.errors import MachineError, ResolabError
from resolab.records import PageFailure

START_TIMEOUT_S = 30.0
CLOSE_TIMEOUT_S = 2.0
END_TIMEOUT_S = 5.0
ALIVE_TIMEOUT_S = 3.0
DOH_PROBE_DELAY_S = 5.5
"""5 s after its start Chromium probes the DoH server from every context there is, later from each new context at once.
No load is begun before, so that the probe always falls before the warm-up and never into a measured load."""


class Chromium:
    """One browser; after a crash or a hang `usable` is false and `start` may be called again."""

    def __init__(self) -> None:
        self._home: BrowserHome | None = None
        self._process: BrowserProcess | None = None
        self._connection: Connection | None = None
        self._settings: BrowserSettings | None = None
        self._version = ""
        self._loads_count = 0
        self._quiet_from_s = 0.0
        self._one_load = asyncio.Lock()
        self._broken = False

    async def start(self, command_prefix: Sequence[str], settings: BrowserSettings) -> None:
        """Start the browser behind `command_prefix` (a program that runs it elsewhere; empty: here)."""
        await self.close()
        self._settings = settings
        binary = settings.binary or find_chromium()
        loop = asyncio.get_running_loop()
        try:
            if settings.netlog_file is not None:
                await asyncio.to_thread(_move_aside, settings.netlog_file)
            self._home = await asyncio.to_thread(BrowserHome, settings)
            command = command_line(binary, settings, self._home.profile_folder)
            self._process = await BrowserProcess.start(piped_command(command_prefix, command), self._home.folder)
            self._connection = Connection(*self._process.streams)
            answer = await self._connection.call("Browser.getVersion", timeout_s=START_TIMEOUT_S)
        except (CdpError, CdpTimeoutError, CdpClosedError) as error:
            words = self._process.last_words() if self._process else ""
            await self.close()
            raise MachineError(f"could not start the browser {binary}: {error}; its last words: {words}") from error
        except BaseException:
            await self.close()
            raise
        self._version = answer["product"].replace("HeadlessChrome/", "Chrome/").partition("/")[2]
        self._quiet_from_s = loop.time() + (DOH_PROBE_DELAY_S if settings.doh else 0.0)

    @property
    def name(self) -> str:
        """`chromium`."""
        return "chromium"

    @property
    def version(self) -> str:
        """Version number of the running browser."""
        return self._version

    @property
    def pid(self) -> int | None:
        """Process id of the outermost process, `None` when not started."""
        return self._process.pid if self._process else None

    @property
    def usable(self) -> bool:
        """Whether it runs, answers, and can take a load."""
        return (
            self._connection is not None
            and not self._connection.closed.is_set()
            and self._process is not None
            and self._process.running
            and not self._broken
        )

    async def load(self, request: LoadRequest) -> LoadResult:
        """Carry out one request, warm-up included; failures are data.

        Only `between` may raise, and `UnsupportedError` comes of what Chromium cannot clear.
        """
        async with self._one_load:
            if not self.usable or self._connection is None or self._settings is None:
                raise ResolabError("could not load a page: the browser is not running; start it first")
            check_supported(request, self._settings)
            await asyncio.sleep(max(0.0, self._quiet_from_s - asyncio.get_running_loop().time()))
            self._loads_count += 1
            result = await TrialLoad(self._connection, request, self._settings, self._loads_count).run()
            if result.failure is PageFailure.BROWSER_HANG:
                self._broken = True
            elif result.failure is not None:
                await self._check_alive(self._connection)
            return result

    async def close(self) -> None:
        """End the browser and remove its files; harmless when it is not running."""
        answers = False
        if self._connection is not None:
            with suppress(CdpError, CdpTimeoutError, CdpClosedError):
                await self._connection.call("Browser.close", timeout_s=CLOSE_TIMEOUT_S)
                answers = True
            await self._connection.close()
        if self._process is not None:
            await self._process.end(END_TIMEOUT_S if answers else 0.0)
        if self._home is not None:
            await asyncio.to_thread(self._home.remove)
        self._home = self._process = self._connection = None
        self._broken = False

    async def _check_alive(self, connection: Connection) -> None:
        try:
            await connection.call("Browser.getVersion", timeout_s=ALIVE_TIMEOUT_S)
        except (CdpError, CdpTimeoutError, CdpClosedError):
            self._broken = True


def _move_aside(file: Path) -> None:
    """Keep the log of an earlier process, e.g. one that crashed."""
    if file.exists():
        number = next(number for number in itertools.count(1) if not file.with_suffix(f".{number}.json").exists())
        file.rename(file.with_suffix(f".{number}.json"))
