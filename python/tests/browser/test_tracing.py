"""A browser's trace: what is told between begin and end, over a connection that is no browser's."""

import asyncio
from collections.abc import Callable
from typing import Any

from resolab.browser.chromium.tracing import ChromiumTracer


class Pipe:
    """Tells two pieces and that it is complete when the trace is ended."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, Any]] = []
        self.handler: Callable[[str, dict[str, Any]], None] | None = None

    def listen(self, session_id: str | None, handler: Callable[[str, dict[str, Any]], None] | None) -> None:
        assert session_id is None
        self.handler = handler

    async def call(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        self.calls.append((method, params))
        if method == "Tracing.end" and self.handler is not None:
            for number in (1, 2):
                self.handler("Tracing.dataCollected", {"value": [{"ts": number}]})
            asyncio.get_running_loop().call_soon(self.handler, "Tracing.tracingComplete", {})
        return {}


def test_a_trace_has_all_that_came_until_it_was_complete_and_each_begins_anew() -> None:
    async def scene() -> None:
        pipe = Pipe()
        tracing = ChromiumTracer(pipe)  # type: ignore[arg-type]
        assert (await tracing.end(), pipe.calls) == ([], [])
        for _ in range(2):
            await tracing.begin(["toplevel"])
            assert await tracing.end() == [{"ts": 1}, {"ts": 2}]
            assert pipe.handler is None
        assert pipe.calls[0][1]["traceConfig"]["includedCategories"] == ["toplevel"]

    asyncio.run(scene())
