"""A stock Chromium, driven from outside its network namespace.

For: one browser process: the parts of its start, its loads and its end. Not for: their order (`stock`), the steps of a
load (`page_load`) or the settings at the start (`flags`, `profile`).
"""

import asyncio
import itertools
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from resolab.browser.chromium.cdp import CdpConnection
from resolab.browser.chromium.flags import command_line
from resolab.browser.chromium.load_listener.listener import ChromiumLoadListener
from resolab.browser.chromium.page_load import TrialLoad, check_supported
from resolab.browser.chromium.profile import ChromiumHome
from resolab.browser.chromium.tracing import ChromiumTracer
from resolab.browser.find import find_chromium
from resolab.browser.load_events import ListeningRequest, LoadEvents
from resolab.browser.process import BrowserProcess, build_piped_command
from resolab.browser.remote import ALIVE_TIMEOUT_S, REMOTE_ERRORS
from resolab.browser.result import LoadRequest, LoadResult
from resolab.browser.settings import BrowserSettings
from resolab.browser.stock import CLOSE_TIMEOUT_S, StockBrowser

START_TIMEOUT_S = 30.0
DOH_PROBE_DELAY_S = 5.5
"""The wait before the first load. 5 s after its start Chromium probes the DoH server from every open context, later
from each new context at once. No load begins earlier, so the probe falls before the warm-up and never into a
measured load."""


class Chromium(StockBrowser[CdpConnection]):
    """One browser; after a crash or a hang `usable` is false and `start` may be called again."""

    NAME = "chromium"

    def __init__(self) -> None:
        super().__init__()
        self._loads_count = 0
        self._quiet_from_s = 0.0

    def _find(self) -> Path:
        return find_chromium()

    async def _begin(self, binary: Path, command_prefix: Sequence[str], settings: BrowserSettings) -> str:
        if settings.netlog_file is not None:
            await asyncio.to_thread(_move_aside, settings.netlog_file)
        home = await asyncio.to_thread(ChromiumHome, settings)
        self._home = home
        command = build_piped_command(command_prefix, command_line(binary, settings, home.profile_folder))
        self._process = await BrowserProcess.start(command, home.folder, home.temporary_folder)
        self._connection = CdpConnection(*self._process.streams)
        answer = await self._connection.call("Browser.getVersion", timeout_s=START_TIMEOUT_S)
        self._quiet_from_s = asyncio.get_running_loop().time() + (DOH_PROBE_DELAY_S if settings.doh else 0.0)
        version: str = answer["product"].replace("HeadlessChrome/", "Chrome/").partition("/")[2]
        return version

    async def _carry_out(self, request: LoadRequest) -> LoadResult:
        check_supported(request, self._settings)
        await self._wait_for_probe()
        self._loads_count += 1
        return await self._make_load(request, self._loads_count).run()

    def _make_load(self, request: LoadRequest, number: int) -> TrialLoad:
        return TrialLoad(self._connected, self._outermost, request, self._settings, number)

    @property
    def _outermost(self) -> int:
        if self._process is None:
            raise AssertionError("usable, so it has a process")
        return self._process.pid

    def tracing(self) -> ChromiumTracer:
        """Return the tracer of this browser process."""
        return ChromiumTracer(self._connected)

    async def _listen(self, asked: ListeningRequest) -> LoadEvents:
        await self._wait_for_probe()
        return await ChromiumLoadListener(self._connected, asked, self._settings, self._version).run()

    async def _wait_for_probe(self) -> None:
        await asyncio.sleep(max(0.0, self._quiet_from_s - asyncio.get_running_loop().time()))

    async def _check_alive(self) -> None:
        await self._connected.call("Browser.getVersion", timeout_s=ALIVE_TIMEOUT_S)

    async def _ask_to_end(self, connection: CdpConnection) -> bool:
        with suppress(*REMOTE_ERRORS):
            await connection.call("Browser.close", timeout_s=CLOSE_TIMEOUT_S)
            return True
        return False


def _move_aside(file: Path) -> None:
    """Keep the log of an earlier process, for example a crashed process."""
    if file.exists():
        number = next(number for number in itertools.count(1) if not file.with_suffix(f".{number}.json").exists())
        file.rename(file.with_suffix(f".{number}.json"))
