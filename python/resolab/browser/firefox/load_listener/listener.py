"""One load under listening, in its own context: clear everything, navigate, wait for quiet.

For: the order of the steps, and the result after a failed step. Not for: the facts kept of a request (`listener.js`),
or measured loads (`page_load`).
"""

import asyncio
from contextlib import suppress
from importlib.resources import files

import msgspec

from resolab.basics.records import PageFailure
from resolab.browser import failures
from resolab.browser.firefox.agent import CALL_TIMEOUT_S, Agent
from resolab.browser.firefox.page import FirefoxPage
from resolab.browser.firefox.page_load import DISPOSE_TIMEOUT_S, EVERYTHING
from resolab.browser.load_events import ListeningRequest, LoadEvents
from resolab.browser.remote import REMOTE_ERRORS, Json
from resolab.browser.result import PageLoad

_ABORTED = "NS_BINDING_ABORTED"
"""The error of a load when the page navigates elsewhere."""
_WHOLE = (None, PageFailure.HTTP_STATUS)
"""The failure values of loads with a load event."""


class FirefoxLoadListener:
    """One load under listening, from its context to its result."""

    def __init__(self, agent: Agent, context_id: int, asked: ListeningRequest, version: str) -> None:
        self._agent = agent
        self._context_id = context_id
        self._asked = asked
        self._empty = LoadEvents(url=asked.url, browser="firefox", version=version)

    async def run(self) -> LoadEvents:
        """Carry out the load; failures of the page or the browser never raise."""
        heard = self._empty
        try:
            heard = await self._listen()
        except REMOTE_ERRORS as error:
            heard = self._build_failed(failures.classify_exception(error), str(error))
        finally:
            if heard.failure is not PageFailure.BROWSER_HANG:
                with suppress(*REMOTE_ERRORS):  # The load's own failure says why, or the next load's.
                    await self._agent.call("dispose", DISPOSE_TIMEOUT_S, contextId=self._context_id)
        return heard

    async def _listen(self) -> LoadEvents:
        asked, loop = self._asked, asyncio.get_running_loop()
        await self._agent.clear(EVERYTHING)
        page = await FirefoxPage.open(self._agent, self._context_id, asked.url, wait=True, screenshot_folder=None)
        script = files("resolab.browser.firefox.load_listener").joinpath("listener.js").read_text("utf-8")
        await self._agent.run(script, contextId=self._context_id)
        ends_s = loop.time() + asked.timeout_s
        load = await page.load(asked.url, asked.timeout_s, measured=True)
        if load.failure in {PageFailure.BROWSER_CRASH, PageFailure.BROWSER_HANG, PageFailure.DRIVER}:
            return self._build_failed(load.failure, load.failure_detail)
        goes_elsewhere = load.failure_detail == _ABORTED
        quiet_s = asked.quiet_after_s if load.failure in _WHOLE or goes_elsewhere else 0.0
        left_ms = max(0.0, ends_s - loop.time()) * 1000
        limit_s = left_ms / 1000 + CALL_TIMEOUT_S
        answer = await self._agent.call("heard", limit_s, quietMs=quiet_s * 1000, limitMs=left_ms, loads=goes_elsewhere)
        if goes_elsewhere and answer["loadedMs"] is not None:
            return self._report_other_page(answer["rows"], answer["loadedMs"])
        return self._collect_events(load, answer["rows"])

    def _report_other_page(self, rows: list[Json], loaded_unix_ms: float) -> LoadEvents:
        """Report a page gone elsewhere before its load event; the load event is the target page's."""
        status = next((row["status"] for row in reversed(rows) if row["policy"] == "document"), None)
        failure = failures.classify_status(status)
        return msgspec.structs.replace(
            self._empty,
            rows=rows,
            loaded_unix_ms=loaded_unix_ms,
            load_ms=loaded_unix_ms - rows[0]["openUs"] / 1000 if rows else None,
            status=status,
            failure=failure,
            failure_detail=failure and f"status {status}",
        )

    def _collect_events(self, load: PageLoad, rows: list[Json]) -> LoadEvents:
        timings = load.timings
        since = timings.navigation_start_unix_ms if timings else None
        loaded = timings.plt_ms if timings else None
        complete = timings.dom_content_loaded_ms if timings else None
        loaded_unix_ms = None if since is None or loaded is None else since + loaded
        began_unix_ms = rows[0]["openUs"] / 1000 if rows else None
        return msgspec.structs.replace(
            self._empty,
            rows=rows,
            loaded_unix_ms=loaded_unix_ms,
            complete_unix_ms=None if since is None or complete is None else since + complete,
            load_ms=None if loaded_unix_ms is None or began_unix_ms is None else loaded_unix_ms - began_unix_ms,
            status=load.status,
            failure=load.failure,
            failure_detail=load.failure_detail,
        )

    def _build_failed(self, failure: PageFailure, detail: str | None) -> LoadEvents:
        return msgspec.structs.replace(self._empty, failure=failure, failure_detail=detail)
