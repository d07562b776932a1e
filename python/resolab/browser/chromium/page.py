"""One tab: attach, navigate once, wait for the load event, read the accounts.

For: turning any navigation, successful or failed, into a `PageLoad` within its limit. Not for: the order of warm-up,
clearing and measurement (`page_load`), opening and closing tabs (`context`).
"""

import asyncio
import base64
from collections.abc import Awaitable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import msgspec

from resolab.basics.records import PageFailure
from resolab.browser import failures
from resolab.browser.chromium.cdp import CdpConnection, Session, retrieve_error
from resolab.browser.chromium.console import Console
from resolab.browser.chromium.failures import classify_error_text
from resolab.browser.chromium.network_log import NetworkLog
from resolab.browser.remote import ALIVE_TIMEOUT_S, REMOTE_ERRORS, CallError, CallTimeoutError, Json
from resolab.browser.result import PageLoad
from resolab.browser.timings import BUFFER_SCRIPT, collect_script, page_timings, resource_records

ResultT = TypeVar("ResultT")
COLLECT_TIMEOUT_S = 10.0
PARTIAL_TIMEOUT_S = 1.0
_PREPARATION: tuple[tuple[str, Json], ...] = (
    ("Page.enable", {}),
    ("Network.enable", {}),
    ("Inspector.enable", {}),
    ("Page.setLifecycleEventsEnabled", {"enabled": True}),
    ("Page.addScriptToEvaluateOnNewDocument", {"source": BUFFER_SCRIPT}),
)


class PageCrashedError(Exception):
    """The tab's renderer died."""


@dataclass(frozen=True, slots=True)
class Navigation:
    """The task of a tab: one navigation."""

    url: str
    timeout_s: float
    measured: bool
    screenshot_file: Path | None = None
    """The file for a failed load's screenshot."""


class ChromiumPage:
    """One tab of a browser context."""

    def __init__(self, target_id: str, session: Session) -> None:
        self.target_id = target_id
        self.session = session
        self._network = NetworkLog()
        self._console = Console(session)
        self._crashed = asyncio.Event()
        self._loaded: set[str] = set()
        self._load_seen = asyncio.Event()
        self.navigating = asyncio.Event()
        """Set once the browser has been sent the navigation, or will never be."""
        self._preparing: list[asyncio.Task[Json]] = []
        session.listen(self._take)

    @classmethod
    async def open(cls, connection: CdpConnection, target_id: str, *further: tuple[str, Json]) -> "ChromiumPage":
        """Attach to a blank tab, and send the preparation of a navigation and the `further` calls.

        `ready` awaits the answers.
        """
        attached = await connection.call("Target.attachToTarget", {"targetId": target_id, "flatten": True})
        page = cls(target_id, Session(connection, attached["sessionId"]))
        calls = (*_PREPARATION, *further)
        # Begun in this order, which a tab keeps: a navigation sent next comes after them without their answers.
        page._preparing = [asyncio.create_task(page.session.call(method, params)) for method, params in calls]
        for call in page._preparing:
            call.add_done_callback(retrieve_error)
        await asyncio.sleep(0)
        return page

    async def ready(self) -> None:
        """Wait until the tab's renderer has started and taken the preparation."""
        await asyncio.gather(*self._preparing)

    async def load(self, asked: Navigation) -> PageLoad:
        """Navigate and wait for the load event; failures of the page or the browser never raise."""
        self._network.begin()
        try:
            outcome = await self._load(asked)
        except REMOTE_ERRORS as error:
            outcome = self._build_failed(asked, failures.classify_exception(error), str(error))
        except PageCrashedError:
            outcome = self._build_failed(asked, PageFailure.BROWSER_CRASH, "the page's renderer died")
        return await self._add_evidence(asked, outcome)

    async def _load(self, asked: Navigation) -> PageLoad:
        loader_id = ""
        try:
            async with asyncio.timeout(asked.timeout_s):
                error_text, loader_id = await self._navigate(asked)
                if not error_text:
                    await self._unless_crashed(self._wait_until_loaded(loader_id))
        except (TimeoutError, CallTimeoutError):
            return await self._build_timed_out(asked, loader_id)
        if error_text:
            return self._build_failed(asked, classify_error_text(error_text), error_text)
        return await self._build_loaded(asked, loader_id)

    async def _navigate(self, asked: Navigation) -> tuple[str | None, str]:
        call = asyncio.ensure_future(self.session.call("Page.navigate", {"url": asked.url}, timeout_s=asked.timeout_s))
        await asyncio.sleep(0)  # Now it is written.
        self.navigating.set()
        answer = await self._unless_crashed(call)
        await self._unless_crashed(self.ready())
        return answer.get("errorText") or None, answer.get("loaderId", "")

    async def _wait_until_loaded(self, loader_id: str) -> None:
        # A document that is broken off has no load event.
        while loader_id not in self._loaded and not self._network.document_error(loader_id):
            self._load_seen.clear()
            await self._load_seen.wait()

    async def _build_loaded(self, asked: Navigation, loader_id: str) -> PageLoad:
        # Only what is measured is painted: the warm-up's tab has no window.
        collecting = self._collect(loader_id, COLLECT_TIMEOUT_S, wait_for_paint=asked.measured)
        try:
            account = await self._unless_crashed(collecting)
        except CallTimeoutError:
            if not await self._browser_answers():
                raise
            return self._build_failed(asked, PageFailure.OTHER, "the page did not answer any more after its load event")
        if not account:
            return self._build_failed(asked, PageFailure.OTHER, "the page went elsewhere right after its load event")
        status, broken_off = self._network.document_status(loader_id), self._network.document_error(loader_id)
        if broken_off:
            return self._page_load(asked, account, status, classify_error_text(broken_off), broken_off)
        failure = failures.classify_status(status)
        return self._page_load(asked, account, status, failure, f"status {status}" if failure else None)

    async def _build_timed_out(self, asked: Navigation, loader_id: str) -> PageLoad:
        if not await self._browser_answers():
            detail = f"the browser itself no longer answered after {asked.timeout_s:g} s"
            return self._build_failed(asked, PageFailure.BROWSER_HANG, detail)
        account: Json = {}
        with suppress(CallError, CallTimeoutError):
            account = await self._collect(loader_id, PARTIAL_TIMEOUT_S, wait_for_paint=False)
        if account.get("navigation"):
            account["navigation"]["loadEventStart"] = 0  # One that came after the limit does not count.
        detail = f"no load event within {asked.timeout_s:g} s"
        status = self._network.document_status(loader_id)
        return self._page_load(asked, account, status, PageFailure.PAGE_TIMEOUT, detail)

    async def _browser_answers(self) -> bool:
        try:
            await self.session.connection.call("Browser.getVersion", timeout_s=ALIVE_TIMEOUT_S)
        except CallTimeoutError:
            return False
        return True

    async def _collect(self, loader_id: str, timeout_s: float, *, wait_for_paint: bool) -> Json:
        """Ask the document for its account; empty when the tab shows another document."""
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
            raise CallError("Runtime.evaluate", str(answer["exceptionDetails"].get("text")))
        account: Json = answer["result"]["value"]
        return account

    async def _add_evidence(self, asked: Navigation, outcome: PageLoad) -> PageLoad:
        """Add the console's errors and, of a failed load, the screenshot, as far as the page still answers."""
        if outcome.failure in {PageFailure.BROWSER_CRASH, PageFailure.BROWSER_HANG}:
            return outcome
        screenshot: Path | None = None

        async def screen() -> None:
            nonlocal screenshot
            if asked.screenshot_file is not None and outcome.failure is not None:
                await self._screenshot(asked.screenshot_file)
                screenshot = asked.screenshot_file

        # A frozen page answers neither.
        unavailable = (*REMOTE_ERRORS, OSError)
        done = await asyncio.gather(self._console.ask(PARTIAL_TIMEOUT_S), screen(), return_exceptions=True)
        for error in done:
            if isinstance(error, BaseException) and not isinstance(error, unavailable):
                raise error
        changes = {"console_errors": self._console.errors(), "screenshot_file": screenshot}
        return msgspec.structs.replace(outcome, **changes)

    async def _screenshot(self, file: Path) -> None:
        answer = await self.session.call("Page.captureScreenshot", {"format": "png"}, timeout_s=PARTIAL_TIMEOUT_S)
        await asyncio.to_thread(_write, file, base64.b64decode(answer["data"]))

    def _page_load(
        self, asked: Navigation, account: Json, status: int | None, failure: PageFailure | None, detail: str | None
    ) -> PageLoad:
        return PageLoad(
            url=asked.url,
            measured=asked.measured,
            limit_ms=asked.timeout_s * 1000,
            timings=page_timings(account),
            resources=resource_records(account),
            network=self._network.requests(),
            status=status,
            failure=failure,
            failure_detail=detail,
        )

    def _build_failed(self, asked: Navigation, failure: PageFailure, detail: str) -> PageLoad:
        return self._page_load(asked, {}, None, failure, detail)

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
            self._console.take(event, params)
            if event == "Network.loadingFailed":
                self._load_seen.set()


def _write(file: Path, content: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
