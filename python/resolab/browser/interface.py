"""The operations of every browser of the lab; the testbed knows only this interface.

For: the one interface behind all browsers. Not for: the implementation (`chromium`, `firefox`).
"""

from collections.abc import Sequence
from typing import Protocol

from resolab.browser.load_events import ListeningRequest, LoadEvents
from resolab.browser.result import LoadRequest, LoadResult
from resolab.browser.settings import BrowserSettings


class Browser(Protocol):
    """One browser process; after a crash or a hang `usable` is false and `start` may be called again."""

    async def start(self, command_prefix: Sequence[str], settings: BrowserSettings) -> None:
        """Start the browser behind `command_prefix` (a program running the browser elsewhere; empty: here).

        Raises `UnsupportedError` for settings impossible in this browser, `MachineError` when the browser does not
        start.
        """

    @property
    def name(self) -> str:
        """Name of the browser: `chromium` or `firefox`."""

    @property
    def version(self) -> str:
        """Version number of the running browser."""

    @property
    def pid(self) -> int | None:
        """Process id of the outermost process, `None` when not started."""

    @property
    def usable(self) -> bool:
        """Return True when the browser runs, answers, and can take a load."""

    async def load(self, request: LoadRequest) -> LoadResult:
        """Carry out one request in a fresh context, warm-up included; failures are data, only `between` may raise."""

    async def listen(self, asked: ListeningRequest) -> LoadEvents:
        """Load once in a fresh context, without state of a former load, and listen to everything; failures are data.

        Listening slows the page down: do not use for times.
        """

    async def close(self) -> None:
        """End the browser and remove its files; harmless without a running browser."""
