"""A scene with a real Chromium: played, and nothing of it left afterwards."""

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

import pytest

from resolab.browser import BrowserSettings, Chromium, LoadRequest, PageLoad, find_chromium
from resolab.errors import MachineError

SETTINGS = BrowserSettings(resolvable_names=("127.0.0.1",))
Scene = Callable[[Chromium], Awaitable[None]]


def need_chromium() -> None:
    try:
        find_chromium()
    except MachineError as error:
        pytest.skip(f"REAL BROWSER NOT TESTED: {error}")


def with_chromium(scene: Scene, settings: BrowserSettings = SETTINGS) -> None:
    async def play() -> None:
        chromium = Chromium()
        try:
            async with asyncio.timeout(60):
                await chromium.start([], settings)
                assert chromium._home is not None
                folder = chromium._home.folder
                await scene(chromium)
        finally:
            await chromium.close()
        assert processes_of(str(folder)) == []
        assert not folder.exists()

    asyncio.run(play())


def processes_of(word: str) -> list[int]:
    """Processes with this word in their command line."""
    found = []
    for folder in Path("/proc").iterdir():
        with suppress(OSError):
            if folder.name.isdigit() and word.encode() in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
    return found


def renderers_of(chromium: Chromium) -> list[int]:
    """Renderers in the browser's session."""
    assert chromium.pid is not None
    return [pid for pid in processes_of("--type=renderer") if os.getsid(pid) == chromium.pid]


def single(url: str, timeout_s: float = 10) -> LoadRequest:
    return LoadRequest(url=url, timeout_s=timeout_s, warmup=False)


async def failing(chromium: Chromium, url: str, timeout_s: float = 10) -> PageLoad:
    result = await chromium.load(single(url, timeout_s))
    assert result.measured.failure is not None
    assert result.measured.failure_detail
    assert result.measured.limit_ms == timeout_s * 1000
    return result.measured


def check_whole(load: PageLoad) -> None:
    timings = load.timings
    assert (load.failure, load.failure_detail, load.status) == (None, None, 200)
    assert timings is not None
    assert timings.plt_ms is not None
    assert timings.response_end_ms is not None
    assert 0 < timings.response_end_ms < timings.plt_ms < 10_000
    if load.measured:
        assert timings.fcp_ms is not None
        assert timings.lcp_ms is not None
        assert timings.lcp_ms >= timings.fcp_ms > timings.response_end_ms
    else:  # The warm-up's tab has no window.
        assert timings.fcp_ms is timings.lcp_ms is None
    assert timings.navigation_start_unix_ms == pytest.approx(time.time() * 1000, abs=60_000)
    assert [r.initiator_type for r in load.resources] == ["navigation", "img"]
    assert timings.request_count == 2
    assert timings.next_hop_protocol == "http/1.1"
    rows = load.network if load.measured else load.network[:1]
    assert [(r.status, r.from_cache, r.error_text) for r in rows] == [(200, False, None)] * (2 if load.measured else 1)
