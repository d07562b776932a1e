"""One trial's loads in the browser: fresh context, warm-up, servers close, clear, measure, dispose.

For: the order of things, which is the same in every arm, and what is returned when a step fails.
Not for: how each step is done (`context`, `page`) or the browser's life (`chromium`).

The tab to be measured is opened while the warm-up runs in another, and stays blank: it shares the context's tickets but
no renderer, no memory cache and no history with the warm-up, and its start-up is over when it is needed.
"""

import asyncio
import time

from resolab.browser.chromium import failures
from resolab.browser.chromium.cdp import CdpClosedError, CdpError, CdpTimeoutError, Connection
from resolab.browser.chromium.context import Context
from resolab.browser.chromium.page import Page
from resolab.browser.result import LoadRequest, LoadResult, Overhead, PageLoad
from resolab.records import PageFailure


class _WarmUpFailedError(Exception):
    def __init__(self, warmup: PageLoad) -> None:
        super().__init__()
        self.warmup = warmup


class _Stopwatch:
    def __init__(self) -> None:
        self._since_s = time.monotonic()

    def lap_ms(self) -> float:
        """Time since the last lap."""
        now_s = time.monotonic()
        passed_ms, self._since_s = (now_s - self._since_s) * 1000, now_s
        return passed_ms


class TrialLoad:
    """One request being carried out."""

    def __init__(self, connection: Connection, request: LoadRequest) -> None:
        self._connection = connection
        self._request = request
        self._warmup: PageLoad | None = None
        self._parts_ms: dict[str, float] = {}

    async def run(self) -> LoadResult:
        """Carry it out; only `between` may raise."""
        context: Context | None = None
        watch = _Stopwatch()
        try:
            context = await Context.create(self._connection)
            page = await context.open_page()
            self._parts_ms["prepare_ms"] = watch.lap_ms()
            measured = await self._in_context(context, page)
        except _WarmUpFailedError as failed:
            measured = self._not_measured_after(failed.warmup)
        except (CdpError, CdpTimeoutError, CdpClosedError) as error:
            measured = self._not_measured(failures.of_exception(error), str(error))
        finally:
            watch = _Stopwatch()
            if context is not None:
                await context.dispose()
            self._parts_ms["dispose_ms"] = watch.lap_ms()
        return LoadResult(warmup=self._warmup, measured=measured, overhead=Overhead(**self._parts_ms))

    async def _in_context(self, context: Context, page: Page) -> PageLoad:
        request = self._request
        context.prepare_clearing()
        if request.warmup:
            page = await self._warm_up(context, page)
        if request.between is not None:
            await request.between()
        return await self._measure(context, page)

    async def _warm_up(self, context: Context, page: Page) -> Page:
        """Load once in `page`, close it, and return the blank tab to be measured."""
        request = self._request
        opening = asyncio.create_task(context.open_page(background=True))
        try:
            self._warmup = await page.load(request.url, request.timeout_s, measured=False)
            if self._warmup.failure is not None:
                raise _WarmUpFailedError(self._warmup)
            blank = await opening
        finally:
            opening.cancel()
            await asyncio.gather(opening, return_exceptions=True)
        await page.close()
        return blank

    async def _measure(self, context: Context, page: Page) -> PageLoad:
        watch = _Stopwatch()
        await context.clear(page)
        self._parts_ms["clear_ms"] = watch.lap_ms()
        measured = await page.load(self._request.url, self._request.timeout_s, measured=True)
        passed_ms = watch.lap_ms()
        if measured.timings is not None and measured.timings.plt_ms is not None:
            self._parts_ms["collect_ms"] = max(0.0, passed_ms - measured.timings.plt_ms)
        return measured

    def _not_measured_after(self, warmup: PageLoad) -> PageLoad:
        if warmup.failure in {PageFailure.BROWSER_CRASH, PageFailure.BROWSER_HANG}:
            return self._not_measured(warmup.failure, f"in the warm-up load: {warmup.failure_detail}")
        detail = f"not measured: the warm-up load failed ({warmup.failure}: {warmup.failure_detail})"
        return self._not_measured(PageFailure.DRIVER, detail)

    def _not_measured(self, failure: PageFailure, detail: str) -> PageLoad:
        return PageLoad(
            url=self._request.url,
            measured=True,
            limit_ms=self._request.timeout_s * 1000,
            failure=failure,
            failure_detail=detail,
        )
