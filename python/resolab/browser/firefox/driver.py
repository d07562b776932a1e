"""A stock Firefox, driven from outside its network namespace.

For: one browser process: start, loads one after the other, end for certain.
Not for: what a load consists of (`page_load`) or what the browser is told at its start (`command`, `preferences`).
"""

import asyncio
import itertools
from collections.abc import Sequence
from contextlib import suppress

from resolab.browser.find import find_firefox
from resolab.browser.firefox.agent import Agent
from resolab.browser.firefox.command import LOG_SUFFIX, command_line, whole_command
from resolab.browser.firefox.connector import connect
from resolab.browser.firefox.marionette import MARIONETTE_ERRORS, Connection
from resolab.browser.firefox.page_load import TrialLoad
from resolab.browser.firefox.profile import BrowserHome
from resolab.browser.process import BrowserProcess
from resolab.browser.result import LoadRequest, LoadResult
from resolab.browser.settings import BrowserSettings
from resolab.errors import MachineError, ResolabError
from resolab.records import PageFailure

START_TIMEOUT_S = 60.0
CLOSE_TIMEOUT_S = 2.0
END_TIMEOUT_S = 5.0
FIRST_CONTEXT = 1001
"""Above the containers Firefox brings along."""


class Firefox:
    """One browser; after a crash or a hang `usable` is false and `start` may be called again."""

    def __init__(self) -> None:
        self._home: BrowserHome | None = None
        self._process: BrowserProcess | None = None
        self._connection: Connection | None = None
        self._agent: Agent | None = None
        self._settings = BrowserSettings(resolvable_names=())
        self._version = ""
        self._context_ids = itertools.count(FIRST_CONTEXT)
        self._one_load = asyncio.Lock()
        self._broken = False

    async def start(self, command_prefix: Sequence[str], settings: BrowserSettings) -> None:
        """Start the browser behind `command_prefix` (a program that runs it elsewhere; empty: here)."""
        await self.close()
        binary = settings.binary or find_firefox()
        try:
            self._settings = settings
            self._home = home = await asyncio.to_thread(BrowserHome, settings)
            command = command_line(binary, settings, home.profile_folder, home.temporary_folder)
            self._process = await BrowserProcess.start(whole_command(command_prefix, command), home.folder)
            self._connection = Connection(*await self._connect(self._process, command_prefix, home))
            self._agent, self._version = await Agent.begin(self._connection, settings)
        except (*MARIONETTE_ERRORS, MachineError) as error:
            words = self._process.last_words() if self._process else ""
            await self.close()
            raise MachineError(f"could not start the browser {binary}: {error}; its last words: {words}") from error
        except BaseException:
            await self.close()
            raise

    @property
    def name(self) -> str:
        """`firefox`."""
        return "firefox"

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
            self._agent is not None
            and self._connection is not None
            and not self._connection.closed.is_set()
            and self._process is not None
            and self._process.running
            and not self._broken
        )

    async def load(self, request: LoadRequest) -> LoadResult:
        """Carry out one request, warm-up included; failures are data, only `between` may raise."""
        async with self._one_load:
            if not self.usable or self._agent is None:
                raise ResolabError("could not load a page: the browser is not running; start it first")
            result = await TrialLoad(self._agent, next(self._context_ids), request, self._settings).run()
            if result.failure is PageFailure.BROWSER_HANG:
                self._broken = True
            elif result.failure is not None:
                await self._check_alive(self._agent)
            return result

    async def close(self) -> None:
        """End the browser and remove its files; harmless when it is not running."""
        asked = False
        if self._connection is not None:
            if self._settings.netlog_file is not None:  # Its log is whole only after an orderly end.
                with suppress(*MARIONETTE_ERRORS):
                    await self._connection.call("Marionette:Quit", {"flags": ["eForceQuit"]}, timeout_s=CLOSE_TIMEOUT_S)
                    asked = True
            await self._connection.close()
        if self._process is not None:
            await self._process.end(END_TIMEOUT_S if asked else 0.0)
            await asyncio.to_thread(self._name_log)
        if self._home is not None:
            await asyncio.to_thread(self._home.remove)
        self._home = self._process = self._connection = self._agent = None
        self._broken = False

    async def _connect(
        self, process: BrowserProcess, prefix: Sequence[str], home: BrowserHome
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Connect as soon as it listens, or fail as soon as it has ended."""
        connecting = asyncio.ensure_future(connect(prefix, home.profile_folder, START_TIMEOUT_S))
        ending = asyncio.ensure_future(process.ended())
        try:
            await asyncio.wait({connecting, ending}, return_when=asyncio.FIRST_COMPLETED)
            if not connecting.done():
                raise MachineError("it ended before it listened")
            return connecting.result()
        finally:
            connecting.cancel()
            ending.cancel()
            await asyncio.gather(connecting, ending, return_exceptions=True)

    async def _check_alive(self, agent: Agent) -> None:
        try:
            await agent.check_alive()
        except MARIONETTE_ERRORS:
            self._broken = True

    def _name_log(self) -> None:
        """Give the log the name it was asked for; page processes, which have no network, write of nothing else."""
        wanted = self._settings.netlog_file
        if wanted is None:
            return
        for of_page_process in wanted.parent.glob(f"{wanted.name}.child-*{LOG_SUFFIX}"):
            of_page_process.unlink(missing_ok=True)
        if wanted.suffix != LOG_SUFFIX:
            with suppress(FileNotFoundError):
                wanted.with_name(wanted.name + LOG_SUFFIX).replace(wanted)
