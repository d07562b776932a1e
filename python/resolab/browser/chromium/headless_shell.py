"""Chromium's headless shell: Chromium without the parts of a desktop browser.

For: the differences from Chromium's driver. Not for: the steps common to both (`driver`, `page_load`).

The shell has no internals page, so nothing of a context can be cleared. Warm-up and measured load therefore have a
context each. With the warm-up's context end its connections, tickets and caches. The shell resolves names by
getaddrinfo alone.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from resolab.basics.errors import MachineError, UnsupportedError
from resolab.basics.records import BrowserKind
from resolab.browser.chromium.context import Context
from resolab.browser.chromium.driver import Chromium
from resolab.browser.chromium.page import ChromiumPage, Navigation
from resolab.browser.chromium.page_load import TrialLoad
from resolab.browser.chromium.renderers import list_renderers, wait_until_ended
from resolab.browser.result import ClearedState, LoadRequest, LoadResult
from resolab.browser.settings import BrowserSettings, H3Discovery, NameResolution
from resolab.browser.trial import Stopwatch, check_warmup, compute_time_beyond_load_ms

EVERYTHING = ClearedState(tickets=True)
"""The state that a headless shell forgets between loads. It cannot forget a part, and keep the rest."""


class HeadlessShell(Chromium):
    """One headless shell; after a crash or a hang `usable` is false and `start` may be called again."""

    NAME = BrowserKind.CHROMIUM_HEADLESS_SHELL.value

    def _find(self) -> Path:
        raise MachineError("could not find a headless shell: no package has one; name its path in the plan")

    async def _begin(self, binary: Path, command_prefix: Sequence[str], settings: BrowserSettings) -> str:
        check_settings(settings)
        return await super()._begin(binary, command_prefix, settings)

    async def _carry_out(self, request: LoadRequest) -> LoadResult:
        if request.warmup and request.cleared != EVERYTHING:
            raise UnsupportedError("a headless shell clears nothing by itself: clear all state, tickets included")
        return await super()._carry_out(request)

    def _make_load(self, request: LoadRequest, number: int) -> TrialLoad:
        return _LoadInOwnContext(self._connected, self._outermost, request, self._settings, number)


def check_settings(settings: BrowserSettings) -> None:
    """Raise `UnsupportedError` for settings impossible in a headless shell."""
    if settings.doh is not None:
        raise UnsupportedError("a headless shell has no DoH of its own")
    if settings.name_resolution is not NameResolution.GETADDRINFO:
        raise UnsupportedError("a headless shell has no resolver of its own: take getaddrinfo")
    if settings.h3_discovery is not H3Discovery.FORCED:
        raise UnsupportedError("a headless shell forgets Alt-Svc and asks for no HTTPS record: force HTTP/3")


class _LoadInOwnContext(TrialLoad):
    """A trial's loads, each in a context of its own."""

    async def _warm_up(self, context: Context, watch: Stopwatch) -> ChromiumPage:
        warm = await self._new_context()
        page = await warm.open_window()
        self._parts_ms["prepare_ms"] = watch.lap_ms()
        self._warmup = await page.load(Navigation(self._request.url, self._request.timeout_s, measured=False))
        check_warmup(self._warmup)
        before = await asyncio.to_thread(list_renderers, self._browser_pid)
        await warm.dispose()
        self._contexts.remove(warm)
        await wait_until_ended(self._browser_pid, before)
        blank = await context.open_window()
        self._parts_ms["warmup_ms"] = compute_time_beyond_load_ms(watch.lap_ms(), self._warmup)
        return blank

    async def _forget(self, context: Context, page: ChromiumPage) -> None:  # noqa: ARG002
        """Wait until the servers see no traffic of the warm-up any more: its context has ended."""
        while self._request.settle is not None and not await self._request.settle():
            pass
