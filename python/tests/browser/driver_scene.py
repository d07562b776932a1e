"""What the tests of both drivers share: one browser that plays their scenes, requests for it, and a look at what is left.

A browser serves every scene of a module that it survives: starting one takes longer than most scenes.
"""

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from resolab.basics.errors import MachineError
from resolab.browser import BrowserSettings, Chromium, Firefox, LoadRequest, PageLoad, find_chromium, find_firefox

Driver = Chromium | Firefox
Scene = Callable[[Driver], Awaitable[None]]
Play = Callable[[Scene], None]
SETTINGS = BrowserSettings(resolvable_names=("127.0.0.1", "unknown.invalid"))
SCENE_TIMEOUT_S = 90
FIND = {Chromium: find_chromium, Firefox: find_firefox}
PAGE_PROCESS = {"chromium": "--type=renderer", "firefox": "-contentproc"}
"""Word in the command line of processes of pages, and with Firefox of others too."""


@contextmanager
def stage(make: type[Driver], settings: BrowserSettings = SETTINGS) -> Iterator[Play]:
    """Play scenes with one browser, started again when a scene has broken it; nothing of it may be left at the end."""
    try:
        FIND[make]()
    except MachineError as error:
        pytest.skip(f"REAL BROWSER NOT TESTED: {error}")
    driver = make()
    folders: set[Path] = set()

    async def in_time(scene: Scene) -> None:
        async with asyncio.timeout(SCENE_TIMEOUT_S):
            if not driver.usable:
                await driver.start([], settings)
            assert driver._home is not None
            folders.add(driver._home.folder)
            await scene(driver)

    with asyncio.Runner() as runner:
        try:
            yield lambda scene: runner.run(in_time(scene))
        finally:
            runner.run(driver.close())
    assert [pid for folder in folders for pid in processes_of(str(folder))] == []
    assert not any(folder.exists() for folder in folders)


def processes_of(word: str) -> list[int]:
    """Processes with this word in their command line."""
    found = []
    for folder in Path("/proc").iterdir():
        with suppress(OSError):
            if folder.name.isdigit() and word.encode() in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
    return found


def page_processes_of(driver: Driver) -> list[int]:
    """Processes of pages in the browser's session, those kept ready for the next ones among them."""
    assert driver.pid is not None
    found = [pid for pid in processes_of(PAGE_PROCESS[driver.name]) if _session_of(pid) == driver.pid]
    return found if driver.name == "chromium" else [pid for pid in found if _last_word(pid) == b"tab"]


def _session_of(pid: int) -> int | None:
    try:
        return os.getsid(pid)
    except ProcessLookupError:
        return None


def _last_word(pid: int) -> bytes:
    with suppress(OSError, IndexError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").split()[-1]
    return b"gone"


def single(url: str, timeout_s: float = 20) -> LoadRequest:
    return LoadRequest(url=url, timeout_s=timeout_s, warmup=False)


async def failing(driver: Driver, url: str, timeout_s: float = 20) -> PageLoad:
    result = await driver.load(single(url, timeout_s))
    assert result.measured.failure is not None
    assert result.measured.failure_detail
    assert result.measured.limit_ms == timeout_s * 1000
    return result.measured


def check_whole(load: PageLoad, *, drawn: bool = True) -> None:
    """Check a load of the server's first page; one that is not drawn had a tab without a window."""
    timings = load.timings
    assert (load.failure, load.failure_detail, load.status) == (None, None, 200)
    assert timings is not None
    assert timings.plt_ms is not None
    assert timings.fetch_start_ms is not None
    assert timings.response_end_ms is not None
    # The request is not sent before the page's own clock begins.
    assert 0 <= timings.fetch_start_ms < timings.response_end_ms < timings.plt_ms < 20_000
    if drawn:
        assert timings.fcp_ms is not None
        assert timings.lcp_ms is not None
        assert timings.lcp_ms >= timings.fcp_ms > timings.response_end_ms
    else:
        assert timings.fcp_ms is timings.lcp_ms is None
    assert timings.navigation_start_unix_ms == pytest.approx(time.time() * 1000, abs=60_000)
    assert [r.initiator_type for r in load.resources] == ["navigation", "img"]
    assert timings.request_count == 2
    assert timings.next_hop_protocol == "http/1.1"
    rows = load.network if drawn else load.network[:1]
    assert [(r.status, r.from_cache, r.error_text) for r in rows] == [(200, False, None)] * (2 if drawn else 1)
    assert [r.resource_type.lower() for r in rows] == ["document", "image"][: len(rows)]
