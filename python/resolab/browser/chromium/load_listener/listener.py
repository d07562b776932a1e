"""One load under listening, in its own context: navigate, wait for the load event, then for quiet.

For: the order of the steps, and the result after a failed step. Not for: measured loads (`page_load`), free of close
listening.
"""

import asyncio
from contextlib import suppress

from resolab.basics.records import PageFailure
from resolab.browser import failures
from resolab.browser.chromium.cdp import CdpConnection, Session
from resolab.browser.chromium.context import Context
from resolab.browser.chromium.failures import classify_error_text
from resolab.browser.chromium.flags import DIRECT
from resolab.browser.chromium.load_listener.session_merger import SENT, SessionMerger
from resolab.browser.chromium.load_listener.sessions import Sessions
from resolab.browser.load_events import ListeningRequest, LoadEvents
from resolab.browser.remote import ALIVE_TIMEOUT_S, REMOTE_ERRORS, CallTimeoutError, Json
from resolab.browser.settings import BrowserSettings

Failure = tuple[PageFailure, str]


class ChromiumLoadListener:
    """One load under listening, from its context to its result."""

    def __init__(
        self, connection: CdpConnection, asked: ListeningRequest, settings: BrowserSettings, version: str
    ) -> None:
        self._connection = connection
        self._asked = asked
        self._proxy = DIRECT if settings.any_name else None
        self._version = version
        self._changed = asyncio.Event()
        self._merging = SessionMerger("")
        self._main = ""
        self._last_s = 0.0
        self._began_s: float | None = None
        self._loaded_s: float | None = None
        self._statuses: dict[str, int] = {}
        self._broken: dict[str, str] = {}
        self._crash = asyncio.Event()

    async def run(self) -> LoadEvents:
        """Carry out the load; failures of the page or the browser never raise."""
        context: Context | None = None
        loader_id = ""
        failure: Failure | None
        try:
            context = await Context.create(self._connection, proxy=self._proxy)
            failure, loader_id = await self._load_in_context(context)
        except REMOTE_ERRORS as error:
            failure = failures.classify_exception(error), str(error)
        finally:
            if context is not None:
                await context.dispose()
        status = self._statuses.get(loader_id)
        if failure is None and (of_status := failures.classify_status(status)):
            failure = of_status, f"status {status}"
        return self._build_events(failure, status)

    async def _load_in_context(self, context: Context) -> tuple[Failure | None, str]:
        page = await context.open_window()
        session = page.session
        self._main = session.session_id
        self._merging = SessionMerger(self._main)
        sessions = Sessions(self._connection, self._take)
        try:
            await sessions.begin(self._main)
            return await self._load(session)
        finally:
            await sessions.end()

    async def _load(self, session: Session) -> tuple[Failure | None, str]:
        asked, loop = self._asked, asyncio.get_running_loop()
        ends_s = loop.time() + asked.timeout_s
        call = session.call("Page.navigate", {"url": asked.url}, timeout_s=asked.timeout_s)
        navigation = asyncio.ensure_future(call)
        navigation.add_done_callback(lambda _: self._changed.set())
        try:
            async with asyncio.timeout_at(ends_s):
                await self._wait_until_loaded(navigation)
            failure, loader_id = self._failure(navigation)
            if failure is None:
                await self._wait_until_quiet(ends_s)
                failure, loader_id = self._failure(navigation)
        except (TimeoutError, CallTimeoutError):
            await self._connection.call("Browser.getVersion", timeout_s=ALIVE_TIMEOUT_S)  # Else the browser hangs.
            failure, loader_id = (PageFailure.PAGE_TIMEOUT, f"no load event within {asked.timeout_s:g} s"), ""
        finally:
            navigation.cancel()
            await asyncio.gather(navigation, return_exceptions=True)
        return failure, loader_id

    async def _wait_until_loaded(self, navigation: "asyncio.Future[Json]") -> None:
        while not self._crash.is_set() and not (navigation.done() and (self._loaded_s or self._failure(navigation)[0])):
            self._changed.clear()
            await self._changed.wait()

    def _failure(self, navigation: "asyncio.Future[Json]") -> tuple[Failure | None, str]:
        """Return the failure so far, and the document's loader; raise the error of the navigation's call."""
        if self._crash.is_set():
            return (PageFailure.BROWSER_CRASH, "the page's renderer died"), ""
        answer = navigation.result()
        loader_id: str = answer.get("loaderId", "")
        # A document that is broken off has no load event.
        error = answer.get("errorText") or self._broken.get(loader_id)
        return ((classify_error_text(error), error) if error else None), loader_id

    async def _wait_until_quiet(self, ends_s: float) -> None:
        loop = asyncio.get_running_loop()
        self._last_s = loop.time()
        while (left_s := min(self._last_s + self._asked.quiet_after_s, ends_s) - loop.time()) > 0:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._crash.wait(), left_s)
                return

    def _take(self, session: str, event: str, params: Json) -> None:
        if self._merging.take(session, event, params):
            self._last_s = asyncio.get_running_loop().time()
        if session == self._main:
            self._take_main(event, params)

    def _take_main(self, event: str, params: Json) -> None:
        """Note the fate of the page itself; its document's request carries the loader's id."""
        if event == SENT:
            self._began_s = self._began_s or params["timestamp"]
        elif event == "Network.responseReceived":
            self._statuses.setdefault(params["requestId"], params["response"]["status"])
        elif event == "Network.loadingFailed" and not params.get("canceled"):  # As by the page going elsewhere.
            self._broken[params["requestId"]] = params["errorText"]
        elif event == "Page.loadEventFired" and self._began_s is not None:
            self._loaded_s = self._loaded_s or params["timestamp"]
        elif event == "Inspector.targetCrashed":
            self._crash.set()
        else:
            return
        self._changed.set()

    def _build_events(self, failure: Failure | None, status: int | None) -> LoadEvents:
        began_s, loaded_s = self._began_s, self._loaded_s
        return LoadEvents(
            url=self._asked.url,
            browser="chromium",
            version=self._version,
            messages=self._merging.messages,
            load_ms=None if began_s is None or loaded_s is None else (loaded_s - began_s) * 1000,
            status=status,
            failure=failure[0] if failure else None,
            failure_detail=failure[1] if failure else None,
        )
