"""One trial's loads in the browser: everything forgotten, warm-up, servers close, clear, measure, dispose.

For: the order of the steps, equal in every arm, and the result after a failed step. Not for: the implementation of each
step (`agent.js`, `page`) or the browser's life (`driver`).

A load's context is a container (`userContextId`) with separate cookies, caches, session tickets and connections of
pages. State common to all containers, above all the connection to a DoH server and its tickets, is cleared before every
load. The tab for the measurement opens during the warm-up in another tab, and stays blank. Its own process is up before
the measurement.

Sockets are closed here before the servers close their side. After an origin has closed an HTTP/3 connection, Firefox
uses HTTP/2 for this origin from then on.
"""

import asyncio
from urllib.parse import urlsplit

import msgspec

from resolab.basics.records import PageFailure
from resolab.basics.urls import host_of_split
from resolab.browser import failures
from resolab.browser.firefox.agent import Agent
from resolab.browser.firefox.page import FirefoxPage
from resolab.browser.remote import REMOTE_ERRORS
from resolab.browser.result import ClearedState, LoadRequest, LoadResult, Overhead, PageLoad
from resolab.browser.settings import BrowserSettings
from resolab.browser.trial import (
    Stopwatch,
    WarmUpFailedError,
    build_unmeasured,
    check_warmup,
    compute_time_beyond_load_ms,
    not_measured,
)

EVERYTHING = ClearedState(dns_cache=True, http_cache=True, sockets=True, tickets=True)
DISPOSE_TIMEOUT_S = 5.0


class TrialLoad:
    """One request under way, in its own context."""

    def __init__(self, agent: Agent, context_id: int, request: LoadRequest, settings: BrowserSettings) -> None:
        self._agent = agent
        self._context_id = context_id
        self._request = request
        self._settings = settings
        self._warmup: PageLoad | None = None
        self._parts_ms: dict[str, float] = {}
        self._silent = False

    async def run(self) -> LoadResult:
        """Carry out the request; only `between` may raise."""
        watch = Stopwatch()
        try:
            await self._agent.clear(EVERYTHING)
            page = await self._open(wait=True)
            self._parts_ms["prepare_ms"] = watch.lap_ms()
            measured = await self._load_in_context(page)
            self._silent = measured.failure is PageFailure.BROWSER_HANG
        except WarmUpFailedError as failed:
            measured = build_unmeasured(self._request, failed.warmup)
            self._silent = measured.failure is PageFailure.BROWSER_HANG
        except REMOTE_ERRORS as error:
            measured = not_measured(self._request, failures.classify_exception(error), str(error))
            self._silent = measured.failure is PageFailure.BROWSER_HANG
        finally:
            watch = Stopwatch()
            await self._dispose()
            self._parts_ms["dispose_ms"] = watch.lap_ms()
        return LoadResult(warmup=self._warmup, measured=measured, overhead=Overhead(**self._parts_ms))

    async def _load_in_context(self, page: FirefoxPage) -> PageLoad:
        request = self._request
        if request.warmup:
            page = await self._warm_up(page)
        await self._forget()
        if request.between is not None:
            await request.between()
        if request.warmup:
            await self._clear(msgspec.structs.replace(request.cleared, sockets=False))
        return await self._measure(page)

    async def _warm_up(self, page: FirefoxPage) -> FirefoxPage:
        """Load once in `page`, close the page, and return the blank tab for the measurement."""
        request, watch = self._request, Stopwatch()
        opening = asyncio.create_task(self._open(wait=False))
        try:
            self._warmup = await page.load(request.url, request.timeout_s, measured=False)
            check_warmup(self._warmup)
            blank = await opening
        finally:
            opening.cancel()
            await asyncio.gather(opening, return_exceptions=True)
        await page.close()
        self._parts_ms["warmup_ms"] = compute_time_beyond_load_ms(watch.lap_ms(), self._warmup)
        return blank

    async def _forget(self) -> None:
        """Close connections until the servers see nothing of the warm-up any more."""
        while True:
            if self._request.warmup:
                await self._close_sockets()
            if self._request.settle is None or await self._request.settle():
                return

    async def _close_sockets(self) -> None:
        """Close the sockets as requested; a look-up opens a DoH connection to be kept again."""
        cleared = self._request.cleared
        keep_doh = cleared.sockets and not cleared.doh_connection and self._settings.doh is not None
        await self._clear(
            ClearedState(dns_cache=False, http_cache=False, sockets=cleared.sockets),
            doh_warmed_by=host_of_split(urlsplit(self._request.url)) if keep_doh else None,
        )

    async def _clear(self, cleared: ClearedState, doh_warmed_by: str | None = None) -> None:
        watch = Stopwatch()
        await self._agent.clear(cleared, doh_warmed_by=doh_warmed_by)
        self._parts_ms["clear_ms"] = self._parts_ms.get("clear_ms", 0.0) + watch.lap_ms()

    async def _measure(self, page: FirefoxPage) -> PageLoad:
        watch = Stopwatch()
        measured = await page.load(self._request.url, self._request.timeout_s, measured=True)
        self._parts_ms["collect_ms"] = compute_time_beyond_load_ms(watch.lap_ms(), measured)
        return measured

    async def _open(self, *, wait: bool) -> FirefoxPage:
        folder = self._settings.screenshot_folder
        return await FirefoxPage.open(
            self._agent, self._context_id, self._request.url, wait=wait, screenshot_folder=folder
        )

    async def _dispose(self) -> None:
        """Drop everything; harmless when the browser is already gone."""
        if self._silent:
            return
        try:
            await self._agent.call("dispose", DISPOSE_TIMEOUT_S, contextId=self._context_id)
        except REMOTE_ERRORS:
            return  # The load's own failure says why, or the next load's.
