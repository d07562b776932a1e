"""A stock Firefox, driven from outside its network namespace.

For: one browser process: the parts of its start, its loads and its end. Not for: their order (`stock`), the steps of a
load (`page_load`) or the settings at the start (`command`, `preferences`).
"""

import asyncio
import itertools
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from resolab.basics.errors import MachineError
from resolab.browser.find import find_firefox
from resolab.browser.firefox.agent import Agent
from resolab.browser.firefox.command import LOG_SUFFIX, command_line, whole_command
from resolab.browser.firefox.connector import connect
from resolab.browser.firefox.load_listener.listener import FirefoxLoadListener
from resolab.browser.firefox.marionette import MarionetteConnection
from resolab.browser.firefox.page_load import TrialLoad
from resolab.browser.firefox.profile import FirefoxHome
from resolab.browser.load_events import ListeningRequest, LoadEvents
from resolab.browser.process import BrowserProcess
from resolab.browser.remote import REMOTE_ERRORS
from resolab.browser.result import LoadRequest, LoadResult
from resolab.browser.settings import BrowserSettings
from resolab.browser.stock import CLOSE_TIMEOUT_S, StockBrowser

START_TIMEOUT_S = 60.0
FIRST_CONTEXT = 1001
"""Above the containers Firefox brings along."""


class Firefox(StockBrowser[MarionetteConnection]):
    """One browser; after a crash or a hang `usable` is false and `start` may be called again."""

    NAME = "firefox"
    START_ERRORS = (*REMOTE_ERRORS, MachineError)

    def __init__(self) -> None:
        super().__init__()
        self._agent: Agent | None = None
        self._context_ids = itertools.count(FIRST_CONTEXT)

    @property
    def usable(self) -> bool:
        """Return True when the browser runs, answers, and can take a load."""
        return self._agent is not None and super().usable

    async def close(self) -> None:
        """End the browser and remove its files; harmless without a running browser."""
        await super().close()
        self._agent = None

    def _find(self) -> Path:
        return find_firefox()

    async def _begin(self, binary: Path, command_prefix: Sequence[str], settings: BrowserSettings) -> str:
        home = await asyncio.to_thread(FirefoxHome, settings)
        self._home = home
        command = command_line(binary, settings, home.profile_folder, home.temporary_folder)
        self._process = await BrowserProcess.start(whole_command(command_prefix, command), home.folder)
        self._connection = MarionetteConnection(
            *await self._connect(self._process, command_prefix, home.profile_folder)
        )
        self._agent, version = await Agent.begin(self._connection, settings)
        return version

    async def _carry_out(self, request: LoadRequest) -> LoadResult:
        return await TrialLoad(self._inside, next(self._context_ids), request, self._settings).run()

    async def _listen(self, asked: ListeningRequest) -> LoadEvents:
        return await FirefoxLoadListener(self._inside, next(self._context_ids), asked, self._version).run()

    async def _check_alive(self) -> None:
        await self._inside.check_alive()

    async def _ask_to_end(self, connection: MarionetteConnection) -> bool:
        if self._settings.netlog_file is None:  # Its log is whole only after an orderly end.
            return False
        with suppress(*REMOTE_ERRORS):
            await connection.call("Marionette:Quit", {"flags": ["eForceQuit"]}, timeout_s=CLOSE_TIMEOUT_S)
            return True
        return False

    def _finish_after_end(self) -> None:
        """Give the log the requested name, and remove the logs of page processes.

        Page processes have no network, so their logs hold nothing else.
        """
        wanted = self._settings.netlog_file
        if wanted is None:
            return
        for of_page_process in wanted.parent.glob(f"{wanted.name}.child-*{LOG_SUFFIX}"):
            of_page_process.unlink(missing_ok=True)
        if wanted.suffix != LOG_SUFFIX:
            with suppress(FileNotFoundError):
                wanted.with_name(wanted.name + LOG_SUFFIX).replace(wanted)

    @property
    def _inside(self) -> Agent:
        if self._agent is None:
            raise AssertionError("usable, so it has an agent")
        return self._agent

    @staticmethod
    async def _connect(
        process: BrowserProcess, prefix: Sequence[str], profile_folder: Path
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Connect as soon as the browser listens, or fail as soon as the browser has ended."""
        connecting = asyncio.ensure_future(connect(prefix, profile_folder, START_TIMEOUT_S))
        ending = asyncio.ensure_future(process.wait_for_end())
        try:
            await asyncio.wait({connecting, ending}, return_when=asyncio.FIRST_COMPLETED)
            if not connecting.done():
                raise MachineError("it ended before it listened")
            return connecting.result()
        finally:
            connecting.cancel()
            ending.cancel()
            await asyncio.gather(connecting, ending, return_exceptions=True)
