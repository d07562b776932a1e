"""One browser context: tabs, and clearing exactly the named state between warm-up and measured load.

For: a context's life, the window for the measurement, the hidden tab for the warm-up, the clearing. Not for: navigating
(`page`) or connections closed by the servers.

Dropping a context would drop its tickets too. So the host cache and the sockets are cleared from inside, by the
browser's internals page. Opened in this context, the page acts on the context's network stack. DoH connections belong
to the context as well and go with the sockets.
"""

import asyncio
from contextlib import suppress

from resolab.browser.chromium.cdp import CdpConnection, Session, retrieve_error
from resolab.browser.chromium.page import ChromiumPage
from resolab.browser.remote import REMOTE_ERRORS, CallError, CallTimeoutError, Json
from resolab.browser.result import ClearedState

INTERNALS_URL = "chrome://net-internals/#dns"
# Once it can be spoken to it is complete enough: its own scripts need not run beside the warm-up.
READY_SCRIPT = "typeof chrome !== 'undefined' && typeof chrome.send === 'function' && (window.stop(), true)"
READY_TIMEOUT_S = 10.0
READY_POLL_S = 0.01
DISPOSE_TIMEOUT_S = 5.0


class Context:
    """A fresh browser context, still without tabs."""

    def __init__(self, connection: CdpConnection, context_id: str) -> None:
        self._connection = connection
        self._context_id = context_id
        self._hidden: list[str] = []
        self._pages: list[ChromiumPage] = []
        self._internals: asyncio.Task[Session] | None = None

    @classmethod
    async def create(cls, connection: CdpConnection, *, proxy: str | None = None) -> "Context":
        """Make the context; with `proxy` the context's pages use this proxy instead of the browser's setting."""
        params = {"disposeOnDetach": True} | ({"proxyServer": proxy} if proxy else {})
        answer = await connection.call("Target.createBrowserContext", params)
        return cls(connection, answer["browserContextId"])

    async def open_window(self) -> ChromiumPage:
        """Open a blank tab in its own window; the window takes most of a context's cost."""
        page = await self._open(await self._create({"url": "about:blank"}))
        await page.ready()
        return page

    async def open_hidden(self, width_px: int, height_px: int) -> ChromiumPage:
        """Open a blank tab without a window: loads run as on a screen of this size, but the tab is never painted."""
        target_id = await self._create({"url": "about:blank", "hidden": True})
        screen = {"width": width_px, "height": height_px, "deviceScaleFactor": 1, "mobile": False}
        # Not waited for: its renderer starts while the navigation is under way. Of a page that is there sooner than the
        # renderer has taken the preparation, requests of the first instants are missing in the network's account.
        return await self._open(target_id, ("Emulation.setDeviceMetricsOverride", screen))

    async def close_hidden(self, page: ChromiumPage) -> None:
        """Close a hidden tab and with it every open request."""
        page.session.listen(None)
        await self._close(page.target_id)

    def prepare_clearing(self) -> None:
        """Begin to open the internals page, in parallel to the next steps."""
        if self._internals is None:
            self._internals = asyncio.create_task(self._open_internals())
            self._internals.add_done_callback(retrieve_error)

    async def clear(self, page: ChromiumPage, cleared: ClearedState, *, http_cache: bool) -> None:
        """Clear the named state, except tickets; `page` is any tab in this context.

        Only another context lacks the tickets. `http_cache` is cleared before `cleared`: clearing the HTTP cache makes
        the browser forget Alt-Svc, too.
        """
        internals = await self._ready_internals()
        messages = []
        if cleared.dns_cache:
            messages.append("clearHostResolverCache")
        if cleared.sockets:
            messages.append("flushSocketPools")
        if messages:
            sends = "".join(f"chrome.send('{message}');" for message in messages)
            await internals.call("Runtime.evaluate", {"expression": sends})
        if http_cache:
            await page.session.call("Network.clearBrowserCache")
        else:
            # The messages have no answer. What the network stack is asked later is carried out later, and this has one.
            await page.session.call("Network.getCookies", {"urls": ["https://order.invalid/"]})

    async def dispose(self) -> None:
        """Drop everything; harmless when the browser is already gone."""
        if self._internals is not None:
            await asyncio.wait({self._internals}, timeout=DISPOSE_TIMEOUT_S)
            self._internals.cancel()
        # The connection lives as long as the browser, and would keep each page with all that was seen in it.
        for page in self._pages:
            page.session.listen(None)
        # A hidden tab that outlives its context makes Chromium 156 abort a minute later.
        for target_id in tuple(self._hidden):
            with suppress(*REMOTE_ERRORS):
                await self._close(target_id)
        with suppress(*REMOTE_ERRORS):
            params = {"browserContextId": self._context_id}
            await self._connection.call("Target.disposeBrowserContext", params, timeout_s=DISPOSE_TIMEOUT_S)

    async def ready(self) -> None:
        """Wait until clearing is prepared."""
        await self._ready_internals()

    async def _ready_internals(self) -> Session:
        self.prepare_clearing()
        if self._internals is None:
            raise AssertionError("just prepared")
        # Whoever stops waiting does not stop it: a hidden tab half opened could not be closed.
        return await asyncio.shield(self._internals)

    async def _create(self, params: dict[str, object]) -> str:
        params = params | {"browserContextId": self._context_id}
        target_id: str = (await self._connection.call("Target.createTarget", params))["targetId"]
        if params.get("hidden"):
            self._hidden.append(target_id)
        return target_id

    async def _open(self, target_id: str, *calls: tuple[str, Json]) -> ChromiumPage:
        page = await ChromiumPage.open(self._connection, target_id, *calls)
        self._pages.append(page)
        return page

    async def _close(self, target_id: str) -> None:
        if target_id in self._hidden:
            self._hidden.remove(target_id)
        await self._connection.call("Target.closeTarget", {"targetId": target_id})

    async def _open_internals(self) -> Session:
        # Hidden: it neither takes the foreground from the measured tab nor is painted.
        target_id = await self._create({"url": INTERNALS_URL, "hidden": True})
        attached = await self._connection.call("Target.attachToTarget", {"targetId": target_id, "flatten": True})
        session = Session(self._connection, attached["sessionId"])
        deadline = asyncio.get_running_loop().time() + READY_TIMEOUT_S
        while not await _ready(session):
            if asyncio.get_running_loop().time() > deadline:
                raise CallTimeoutError(f"opening {INTERNALS_URL}", READY_TIMEOUT_S)
            await asyncio.sleep(READY_POLL_S)
        return session


async def _ready(session: Session) -> bool:
    try:
        answer = await session.call("Runtime.evaluate", {"expression": READY_SCRIPT, "returnByValue": True})
    except CallError:  # Between two documents there is no place to evaluate in.
        return False
    return answer.get("result", {}).get("value") is True
