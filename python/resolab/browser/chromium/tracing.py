"""Chromium's own trace of the activity in its processes between two calls.

For: finding the parts of a load's time. Not for: measured loads, since tracing itself costs time.
"""

import asyncio
from collections.abc import Sequence

from resolab.browser.chromium.cdp import CdpConnection
from resolab.browser.remote import Json

END_TIMEOUT_S = 30.0


class ChromiumTracer:
    """The tracer of one browser, begun and ended any number of times."""

    def __init__(self, connection: CdpConnection) -> None:
        self._connection = connection
        self._events: list[Json] = []
        self._complete = asyncio.Event()
        self._under_way = False

    async def begin(self, categories: Sequence[str]) -> None:
        """Trace these categories from now on."""
        self._events, self._complete = [], asyncio.Event()
        self._connection.listen(None, self._take)
        config = {"includedCategories": list(categories), "recordMode": "recordUntilFull"}
        await self._connection.call("Tracing.start", {"transferMode": "ReportEvents", "traceConfig": config})
        self._under_way = True

    async def end(self) -> list[Json]:
        """Return all events since the begin; empty without a begin."""
        if not self._under_way:
            return []
        self._under_way = False
        try:
            await self._connection.call("Tracing.end")
            async with asyncio.timeout(END_TIMEOUT_S):
                await self._complete.wait()
        finally:
            self._connection.listen(None, None)
        return self._events

    def _take(self, method: str, parameters: Json) -> None:
        if method == "Tracing.dataCollected":
            self._events += parameters["value"]
        elif method == "Tracing.tracingComplete":
            self._complete.set()
