"""One tab: attach to it, navigate it once, wait for its load event, take its accounts.

For: turning a navigation into a `PageLoad`, whatever becomes of it, within its limit.
Not for: the order of warm-up, clearing and measurement (`page_load`).
"""

import asyncio
from collections.abc import Awaitable
from contextlib import suppress
from typing import TypeVar

from resolab.browser.chromium import failures
from resolab.browser.chromium.cdp import CdpClosedError, CdpError, CdpTimeoutError, Connection, Json, Session
from resolab.browser.chromium.network_log import NetworkLog
from resolab.browser.result import PageLoad
from resolab.browser.timings import BUFFER_SCRIPT, collect_script, page_timings, resource_records
from resolab.records import PageFailure

ResultT = TypeVar("ResultT")
ALIVE_TIMEOUT_S = 3.0
COLLECT_TIMEOUT_S = 10.0
PARTIAL_TIMEOUT_S = 1.0


class PageCrashedError(Exception):
    """The tab's renderer died."""


class Page:
    """A tab of one context."""

    def __init__(self, target_id: str, session: Session) -> None:
        self.target_id = target_id
        self.session = session
        self._network = NetworkLog()
        self._crashed = asyncio.Event()
        self._loaded: set[str] = set()
        self._load_seen = asyncio.Event()
        session.listen(self._take)

    @classmethod
    async def open(cls, connection: Connection, context_id: str, *, background: bool) -> "Page":
        """Open a blank tab, ready to be navigated."""
        params = {"url": "about:blank", "browserContextId": context_id, "background": background}
        target_id = (await connection.call("Target.createTarget", params))["targetId"]
        attached = await connection.call("Target.attachToTarget", {"targetId": target_id, "flatten": True})
        page = cls(target_id, Session(connection, attached["sessionId"]))
        await asyncio.gather(
            page.session.call("Page.enable"),
            page.session.call("Network.enable"),
            page.session.call("Inspector.enable"),
            page.session.call("Page.setLifecycleEventsEnabled", {"enabled": True}),
            page.session.call("Page.addScriptToEvaluateOnNewDocument", {"source": BUFFER_SCRIPT}),
        )
        return page

    async def close(self) -> None:
        """Close the tab and with it whatever it still requests."""
        self.session.listen(None)
        await self.session.connection.call("Target.closeTarget", {"targetId": self.target_id})

    async def load(self, url: str, timeout_s: float, *, measured: bool) -> PageLoad:
        """Navigate and wait for the load event, at most `timeout_s`; never raises for what the page or browser does."""
        self._network.begin()
        outcome: PageLoad
        try:
            outcome = await self._load(url, timeout_s, measured=measured)
        except (CdpError, CdpTimeoutError, CdpClosedError) as error:
            outcome = self._failed(url, timeout_s, measured, failures.of_exception(error), str(error))
        except PageCrashedError:
            detail = "the page's renderer died"
            outcome = self._failed(url, timeout_s, measured, PageFailure.BROWSER_CRASH, detail)
        return outcome

    async def _load(self, url: str, timeout_s: float, *, measured: bool) -> PageLoad:
        loader_id = ""
        try:
            async with asyncio.timeout(timeout_s):
                error_text, loader_id = await self._navigate(url, timeout_s)
                if not error_text:
                    await self._unless_crashed(self._until_loaded(loader_id))
        except (TimeoutError, CdpTimeoutError):
            return await self._timed_out(url, timeout_s, measured, loader_id)
        if error_text:
            return self._failed(url, timeout_s, measured, failures.of_error_text(error_text), error_text)
        account = await self._unless_crashed(self._collect(loader_id, COLLECT_TIMEOUT_S, wait_for_paint=True))
        if not account:
            detail = "the page went elsewhere right after its load event"
            return self._failed(url, timeout_s, measured, PageFailure.OTHER, detail)
        status = self._network.document_status(loader_id)
        failure = failures.of_status(status)
        return self._page_load(
            url, timeout_s, measured, account, status, failure, f"status {status}" if failure else None
        )

    async def _navigate(self, url: str, timeout_s: float) -> tuple[str | None, str]:
        call = self.session.call("Page.navigate", {"url": url}, timeout_s=timeout_s)
        answer = await self._unless_crashed(call)
        return answer.get("errorText") or None, answer.get("loaderId", "")

    async def _until_loaded(self, loader_id: str) -> None:
        while loader_id not in self._loaded:
            self._load_seen.clear()
            await self._load_seen.wait()

    async def _timed_out(self, url: str, timeout_s: float, measured: bool, loader_id: str) -> PageLoad:  # noqa: FBT001
        try:
            await self.session.connection.call("Browser.getVersion", timeout_s=ALIVE_TIMEOUT_S)
        except CdpTimeoutError:
            detail = f"the browser itself no longer answered after {timeout_s:g} s"
            return self._failed(url, timeout_s, measured, PageFailure.BROWSER_HANG, detail)
        account: Json = {}
        with suppress(CdpError, CdpTimeoutError):
            account = await self._collect(loader_id, PARTIAL_TIMEOUT_S, wait_for_paint=False)
        if account.get("navigation"):
            account["navigation"]["loadEventStart"] = 0  # One that came after the limit does not count.
        detail = f"no load event within {timeout_s:g} s"
        status = self._network.document_status(loader_id)
        return self._page_load(url, timeout_s, measured, account, status, PageFailure.PAGE_TIMEOUT, detail)

    async def _collect(self, loader_id: str, timeout_s: float, *, wait_for_paint: bool) -> Json:
        """Ask the document for its account; empty when another document stands in the tab."""
        tree = await self.session.call("Page.getFrameTree", timeout_s=timeout_s)
        frame = tree["frameTree"]["frame"]
        if frame["loaderId"] != loader_id:
            return {}
        # An isolated world has its own built-ins: the page's scripts cannot have replaced them.
        world = await self.session.call("Page.createIsolatedWorld", {"frameId": frame["id"]}, timeout_s=timeout_s)
        params = {
            "expression": collect_script(wait_for_paint=wait_for_paint),
            "contextId": world["executionContextId"],
            "awaitPromise": True,
            "returnByValue": True,
        }
        answer = await self.session.call("Runtime.evaluate", params, timeout_s=timeout_s)
        if "exceptionDetails" in answer:
            raise CdpError("Runtime.evaluate", str(answer["exceptionDetails"].get("text")))
        account: Json = answer["result"]["value"]
        return account

    def _page_load(
        self,
        url: str,
        timeout_s: float,
        measured: bool,  # noqa: FBT001
        account: Json,
        status: int | None,
        failure: PageFailure | None,
        detail: str | None,
    ) -> PageLoad:
        return PageLoad(
            url=url,
            measured=measured,
            limit_ms=timeout_s * 1000,
            timings=page_timings(account),
            resources=resource_records(account),
            network=self._network.requests(),
            status=status,
            failure=failure,
            failure_detail=detail,
        )

    def _failed(self, url: str, timeout_s: float, measured: bool, failure: PageFailure, detail: str) -> PageLoad:  # noqa: FBT001
        return self._page_load(url, timeout_s, measured, {}, None, failure, detail)

    async def _unless_crashed(self, work: Awaitable[ResultT]) -> ResultT:
        task = asyncio.ensure_future(work)
        crash = asyncio.ensure_future(self._crashed.wait())
        try:
            await asyncio.wait({task, crash}, return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                return task.result()
            raise PageCrashedError
        finally:
            task.cancel()
            crash.cancel()
            await asyncio.gather(task, crash, return_exceptions=True)

    def _take(self, event: str, params: Json) -> None:
        if event == "Page.lifecycleEvent":
            if params["name"] == "load":
                self._loaded.add(params["loaderId"])
                self._load_seen.set()
        elif event == "Inspector.targetCrashed":
            self._crashed.set()
        else:
            self._network.take(event, params)
