"""One browser context: its tabs, and making it cold again without losing its session tickets.

For: a context's life and the exact clearing between warm-up and measured load.
Not for: navigating (`page`) or what the servers close.

Dropping a context would drop its tickets too, so the host cache and the sockets are cleared from inside: by the
browser's own page for it, opened in this context, where it acts on this context's network stack. DoH connections belong
to the context as well and go with the sockets.
"""

import asyncio
from contextlib import suppress
from dataclasses import dataclass

from resolab.browser.chromium.cdp import CdpClosedError, CdpError, CdpTimeoutError, Connection, Session
from resolab.browser.chromium.page import Page

INTERNALS_URL = "chrome://net-internals/#dns"
CLEAR_SCRIPT = "chrome.send('clearHostResolverCache'); chrome.send('flushSocketPools'); true"
READY_SCRIPT = "typeof chrome !== 'undefined' && typeof chrome.send === 'function'"
READY_TIMEOUT_S = 10.0
READY_POLL_S = 0.01
SETTLE_S = 0.05
"""The clearing messages have no answer; they are carried out within a few ms."""
DISPOSE_TIMEOUT_S = 5.0


@dataclass(frozen=True, slots=True)
class _Internals:
    """The browser's own page, open in a context."""

    target_id: str
    session: Session


class Context:
    """A fresh context with a tab to measure in, one to warm up in, and the internals page."""

    def __init__(self, connection: Connection, context_id: str) -> None:
        self._connection = connection
        self._context_id = context_id
        self._internals: asyncio.Task[_Internals] | None = None

    @classmethod
    async def create(cls, connection: Connection) -> "Context":
        """Make the context; it has no tab yet."""
        answer = await connection.call("Target.createBrowserContext", {"disposeOnDetach": True})
        return cls(connection, answer["browserContextId"])

    async def open_page(self, *, background: bool = False) -> Page:
        """Open a blank tab."""
        return await Page.open(self._connection, self._context_id, background=background)

    def prepare_clearing(self) -> None:
        """Begin to open the internals page, beside whatever happens next."""
        if self._internals is None:
            self._internals = asyncio.create_task(self._open_internals())

    async def clear(self, page: Page) -> None:
        """Empty HTTP cache and host cache and close every socket; keep tickets."""
        self.prepare_clearing()
        if self._internals is None:
            raise AssertionError("just prepared")
        internals = await self._internals
        await page.session.call("Network.clearBrowserCache")
        await internals.session.call("Runtime.evaluate", {"expression": CLEAR_SCRIPT})
        await self._close_internals()
        await asyncio.sleep(SETTLE_S)

    async def dispose(self) -> None:
        """Drop everything; harmless when the browser is already gone."""
        with suppress(CdpError, CdpTimeoutError, CdpClosedError):
            await self._close_internals()
        with suppress(CdpError, CdpTimeoutError, CdpClosedError):
            params = {"browserContextId": self._context_id}
            await self._connection.call("Target.disposeBrowserContext", params, timeout_s=DISPOSE_TIMEOUT_S)

    async def _close_internals(self) -> None:
        """Close the internals page; a hidden tab that outlives its context makes Chromium 156 abort a minute later."""
        if self._internals is None:
            return
        opening, self._internals = self._internals, None
        internals = await opening
        await self._connection.call("Target.closeTarget", {"targetId": internals.target_id})

    async def _open_internals(self) -> _Internals:
        # Hidden: it neither takes the foreground from the measured tab nor is painted.
        params = {"url": INTERNALS_URL, "browserContextId": self._context_id, "hidden": True}
        target_id = (await self._connection.call("Target.createTarget", params))["targetId"]
        attached = await self._connection.call("Target.attachToTarget", {"targetId": target_id, "flatten": True})
        session = Session(self._connection, attached["sessionId"])
        deadline = asyncio.get_running_loop().time() + READY_TIMEOUT_S
        while not await _ready(session):
            if asyncio.get_running_loop().time() > deadline:
                raise CdpTimeoutError(f"opening {INTERNALS_URL}", READY_TIMEOUT_S)
            await asyncio.sleep(READY_POLL_S)
        return _Internals(target_id, session)


async def _ready(session: Session) -> bool:
    try:
        answer = await session.call("Runtime.evaluate", {"expression": READY_SCRIPT, "returnByValue": True})
    except CdpError:  # Between two documents there is no place to evaluate in.
        return False
    return answer.get("result", {}).get("value") is True
