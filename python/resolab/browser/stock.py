"""The life of a stock browser's process, common to all browsers: start, loads in sequence, a certain end.

For: the order of these steps and the clean-up after a failed step. Not for: the commands to a browser, sent by its own
driver (`chromium.driver`, `firefox.driver`).
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from resolab.basics.errors import MachineError, ResolabError
from resolab.basics.records import PageFailure
from resolab.browser.load_events import ListeningRequest, LoadEvents
from resolab.browser.remote import REMOTE_ERRORS, RemoteConnection
from resolab.browser.result import LoadRequest, LoadResult
from resolab.browser.settings import BrowserSettings

if TYPE_CHECKING:
    from resolab.browser.home import BrowserHome
    from resolab.browser.process import BrowserProcess

CLOSE_TIMEOUT_S = 2.0
END_TIMEOUT_S = 5.0

ConnectionT = TypeVar("ConnectionT", bound=RemoteConnection)


class StockBrowser(ABC, Generic[ConnectionT]):
    """One browser; after a crash or a hang `usable` is false and `start` may be called again."""

    NAME: ClassVar[str]
    START_ERRORS: ClassVar[tuple[type[Exception], ...]] = REMOTE_ERRORS
    """The errors of a start with a known binary; the message gets the browser's last words."""

    def __init__(self) -> None:
        self._home: BrowserHome | None = None
        self._process: BrowserProcess | None = None
        self._connection: ConnectionT | None = None
        self._settings = BrowserSettings(resolvable_names=())
        self._version = ""
        self._one_load = asyncio.Lock()
        self._broken = False

    async def start(self, command_prefix: Sequence[str], settings: BrowserSettings) -> None:
        """Start the browser behind `command_prefix` (a program running the browser elsewhere; empty: here)."""
        await self.close()
        binary = settings.binary or self._find()
        self._settings = settings
        try:
            self._version = await self._begin(binary, command_prefix, settings)
        except self.START_ERRORS as error:
            words = self._process.last_words() if self._process else ""
            await self.close()
            raise MachineError(f"could not start the browser {binary}: {error}; its last words: {words}") from error
        except BaseException:
            await self.close()
            raise

    @property
    def name(self) -> str:
        """Name of the browser in records and plans."""
        return self.NAME

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
        """Return True when the browser runs, answers, and can take a load."""
        return (
            self._connection is not None
            and not self._connection.closed.is_set()
            and self._process is not None
            and self._process.running
            and not self._broken
        )

    async def load(self, request: LoadRequest) -> LoadResult:
        """Carry out one request, warm-up included; failures are data.

        Only `between` may raise. `UnsupportedError` is raised for state impossible to clear in this browser.
        """
        async with self._one_load:
            self._check_usable()
            result = await self._carry_out(request)
            await self._judge(result.failure)
            return result

    async def listen(self, asked: ListeningRequest) -> LoadEvents:
        """Load once in a fresh context and listen to everything; failures are data."""
        async with self._one_load:
            self._check_usable()
            heard = await self._listen(asked)
            await self._judge(heard.failure)
            return heard

    async def close(self) -> None:
        """End the browser and remove its files; harmless without a running browser."""
        asked = False
        if self._connection is not None:
            asked = await self._ask_to_end(self._connection)
            await self._connection.close()
        if self._process is not None:
            await self._process.end(END_TIMEOUT_S if asked else 0.0)
            await asyncio.to_thread(self._finish_after_end)
        if self._home is not None:
            await asyncio.to_thread(self._home.remove)
        self._home = self._process = self._connection = None
        self._broken = False

    def _check_usable(self) -> None:
        if not self.usable:
            raise ResolabError("could not load a page: the browser is not running; start it first")

    async def _judge(self, failure: PageFailure | None) -> None:
        """Check if the browser survived a failed load."""
        if failure is PageFailure.BROWSER_HANG:
            self._broken = True
        elif failure is not None:
            try:
                await self._check_alive()
            except REMOTE_ERRORS:
                self._broken = True

    @property
    def _connected(self) -> ConnectionT:
        if self._connection is None:
            raise AssertionError("usable, so it has a connection")
        return self._connection

    @abstractmethod
    def _find(self) -> Path:
        """Find the machine's own."""

    @abstractmethod
    async def _begin(self, binary: Path, command_prefix: Sequence[str], settings: BrowserSettings) -> str:
        """Make home, process and connection, and keep each at once; return the browser's version."""

    @abstractmethod
    async def _carry_out(self, request: LoadRequest) -> LoadResult:
        """Carry out one request in the running browser."""

    @abstractmethod
    async def _listen(self, asked: ListeningRequest) -> LoadEvents:
        """Load and listen in the running browser."""

    @abstractmethod
    async def _check_alive(self) -> None:
        """Send an empty call; raise one of `REMOTE_ERRORS` when no answer comes."""

    @abstractmethod
    async def _ask_to_end(self, connection: ConnectionT) -> bool:
        """Ask for an orderly end where the browser needs this; return True when the end is under way."""

    def _finish_after_end(self) -> None:
        """Do the work possible only between the end of the process and the removal of its home."""
