"""One trial's loads in the browser: fresh context, warm-up, clear, servers close, measure, dispose.

For: the order of the steps, equal in every arm, and the result after a failed step. Not for: the implementation of each
step (`context`, `page`) or the browser's life (`driver`).

The warm-up runs in a tab without a window, available at once. The window for the measurement opens beside this tab and
stays blank. The window shares the context's tickets but no renderer, no memory cache and no history with the warm-up.
Its start-up is over before the measurement.
"""

import asyncio
import time
from contextlib import suppress
from pathlib import Path

from resolab.basics.errors import UnsupportedError
from resolab.basics.records import HttpVersion, PageFailure
from resolab.browser import failures
from resolab.browser.chromium import alt_svc
from resolab.browser.chromium.cdp import CdpConnection
from resolab.browser.chromium.context import Context
from resolab.browser.chromium.flags import DIRECT
from resolab.browser.chromium.page import ChromiumPage, Navigation
from resolab.browser.chromium.renderers import end_renderers, list_renderers, wait_until_ended
from resolab.browser.remote import REMOTE_ERRORS
from resolab.browser.result import ClearedState, LoadRequest, LoadResult, Overhead, PageLoad
from resolab.browser.settings import BrowserSettings, H3Discovery
from resolab.browser.trial import (
    Stopwatch,
    WarmUpFailedError,
    build_unmeasured,
    check_warmup,
    compute_time_beyond_load_ms,
    not_measured,
)

DOH_REPROBED_S = 1.1
"""The wait before clearing a new context, in s. A new context probes the DoH server, and on a busy machine again 0.9 s
later (seen in Chromium 156's network log), over a connection open for the load. After the wait, the probe is under
way, or was seen and closed."""


def check_supported(request: LoadRequest, settings: BrowserSettings) -> None:
    """Raise `UnsupportedError` for clearing or keeping state impossible in Chromium."""
    cleared = request.cleared
    if not request.warmup:
        return
    if cleared.sockets and not cleared.doh_connection:
        raise UnsupportedError(
            "chromium closes all its connections or none: keep the sockets and let the servers close those of pages"
        )
    if not cleared.tickets:
        return
    if not (cleared.dns_cache and cleared.http_cache and cleared.sockets):
        raise UnsupportedError(
            "chromium drops tickets only with their whole context: clear DNS cache, HTTP cache and sockets too"
        )
    if _learns_alt_svc(settings):
        raise UnsupportedError("chromium forgets Alt-Svc with the tickets: the load would go over h2; keep the tickets")


def _learns_alt_svc(settings: BrowserSettings) -> bool:
    return settings.http_version is HttpVersion.H3 and settings.h3_discovery is H3Discovery.ALT_SVC


class TrialLoad:
    """One request under way, from its context to its result."""

    def __init__(
        self, connection: CdpConnection, browser_pid: int, request: LoadRequest, settings: BrowserSettings, number: int
    ) -> None:
        self._connection = connection
        self._browser_pid = browser_pid
        self._request = request
        self._settings = settings
        self._number = number
        self._contexts: list[Context] = []
        self._warmup: PageLoad | None = None
        self._parts_ms: dict[str, float] = {}
        self._created_s = 0.0
        """The creation of the measured load's context, in s of the monotonic clock."""
        self._cache_is_cleared = False
        self._renderers_before: frozenset[int] | None = None
        """The renderers existing before the measured load; `None` before the load's begin."""

    async def run(self) -> LoadResult:
        """Carry out the request; only `between` may raise."""
        try:
            measured = await self._load_in_context()
        except WarmUpFailedError as failed:
            measured = build_unmeasured(self._request, failed.warmup)
        except REMOTE_ERRORS as error:
            measured = not_measured(self._request, failures.classify_exception(error), str(error))
        except BaseException:
            await self._dispose()
            raise
        if measured.failure is not PageFailure.BROWSER_HANG:  # It would answer to nothing here either, and is ended.
            await self._dispose()
        return LoadResult(warmup=self._warmup, measured=measured, overhead=Overhead(**self._parts_ms))

    async def _dispose(self) -> None:
        watch = Stopwatch()
        if self._renderers_before is not None:
            await asyncio.to_thread(end_renderers, self._browser_pid, self._renderers_before)
        for context in self._contexts:
            await context.dispose()
        self._parts_ms["dispose_ms"] = watch.lap_ms()

    async def _load_in_context(self) -> PageLoad:
        request, watch = self._request, Stopwatch()
        context = await self._new_context()
        self._created_s = time.monotonic()
        if request.warmup:
            page = await self._warm_up(context, watch)
        else:
            page = await context.open_window()
            self._parts_ms["prepare_ms"] = watch.lap_ms()
        await self._forget(context, page)
        self._renderers_before = await asyncio.to_thread(list_renderers, self._browser_pid)
        if request.between is not None:
            await request.between()
        return await self._measure(page)

    async def _new_context(self) -> Context:
        context = await Context.create(self._connection, proxy=DIRECT if self._settings.any_name else None)
        self._contexts.append(context)
        return context

    async def _warm_up(self, context: Context, watch: Stopwatch) -> ChromiumPage:
        """Load once in a tab without a window, close the tab, and return the blank window's tab for the measurement."""
        settings = self._settings
        # Tickets are the context's: to measure without those of the warm-up is to measure in another.
        warm = await self._new_context() if self._request.cleared.tickets else context
        page = await warm.open_hidden(settings.window_width_px, settings.window_height_px)
        self._parts_ms["prepare_ms"] = watch.lap_ms()
        opening = asyncio.create_task(self._open_beside(context, page))
        try:
            self._warmup = await page.load(Navigation(self._request.url, self._request.timeout_s, measured=False))
            check_warmup(self._warmup)
            learned = self._warmup.failure is None and _learns_alt_svc(settings)
            if learned and self._request.cleared.http_cache:
                await alt_svc.clear_http_cache(page.session, self._warmup)
                self._cache_is_cleared = True
            blank = await opening
        finally:
            opening.cancel()
            with suppress(asyncio.CancelledError, *REMOTE_ERRORS):
                await opening
        before = await asyncio.to_thread(list_renderers, self._browser_pid)
        await warm.close_hidden(page)
        await wait_until_ended(self._browser_pid, before)
        self._parts_ms["warmup_ms"] = compute_time_beyond_load_ms(watch.lap_ms(), self._warmup)
        return blank

    @staticmethod
    async def _open_beside(context: Context, warm: ChromiumPage) -> ChromiumPage:
        # A window keeps the browser's main thread busy: asked for first, it would hold the navigation up.
        await warm.navigating.wait()
        context.prepare_clearing()
        page = await context.open_window()
        await context.ready()
        return page

    async def _forget(self, context: Context, page: ChromiumPage) -> None:
        """Clear until the servers see no traffic of the warm-up any more.

        Chromium closes its existing connections. Connections being opened for a closed page are opened all the same,
        and queries ended with their connection are sent again over a new connection.
        """
        if self._settings.doh is not None:
            await asyncio.sleep(max(0.0, self._created_s + DOH_REPROBED_S - time.monotonic()))
        while True:
            # Before the servers close: they wait for the browser's end of a connection, which it keeps when it is idle.
            await self._clear(context, page)
            if self._request.settle is None:
                return
            if await self._request.settle():
                break
        if self._request.warmup and self._request.cleared.dns_cache:
            # A look-up that had one of its answers ends with it when its connection is closed, and is remembered then.
            await context.clear(page, ClearedState(dns_cache=True, http_cache=False, sockets=False), http_cache=False)

    async def _clear(self, context: Context, page: ChromiumPage) -> None:
        watch, cleared = Stopwatch(), self._request.cleared
        if self._request.warmup:
            await context.clear(page, cleared, http_cache=cleared.http_cache and not self._cache_is_cleared)
        elif self._settings.doh is not None:
            # What a fresh context has is the connection of its probe of the DoH server.
            await context.clear(page, ClearedState(), http_cache=False)
        self._parts_ms["clear_ms"] = self._parts_ms.get("clear_ms", 0.0) + watch.lap_ms()

    async def _measure(self, page: ChromiumPage) -> PageLoad:
        request, watch = self._request, Stopwatch()
        asked = Navigation(request.url, request.timeout_s, measured=True, screenshot_file=self._screenshot_file())
        measured = await page.load(asked)
        self._parts_ms["collect_ms"] = compute_time_beyond_load_ms(watch.lap_ms(), measured)
        return measured

    def _screenshot_file(self) -> Path | None:
        folder = self._settings.screenshot_folder
        # Browsers of several paths write into one folder and count for themselves.
        return folder / f"load-{time.time_ns()}-{self._number:04}.png" if folder else None
