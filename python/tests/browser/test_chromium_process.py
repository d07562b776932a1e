"""Chromium's processes: renderer or browser killed or stopped, a start that fails, a driver that dies."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from resolab.browser import BrowserSettings, Chromium, LoadResult
from resolab.errors import MachineError, ResolabError
from resolab.records import PageFailure

sys.path.insert(0, str(Path(__file__).parent))
from chromium_scene import (
    SETTINGS,
    check_whole,
    failing,
    need_chromium,
    processes_of,
    renderers_of,
    single,
    with_chromium,
)
from page_server import PageServer

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module", autouse=True)
def _browser_present() -> None:
    need_chromium()


@pytest.fixture
def server() -> Iterator[PageServer]:
    server = PageServer()
    yield server
    server.close()


def test_a_dead_renderer_is_a_crash_and_the_browser_lives_on(server: PageServer) -> None:
    async def scene(chromium: Chromium) -> None:
        loading = asyncio.create_task(failing(chromium, f"{server.url}/never"))
        while "/silence" not in server.asked:
            await asyncio.sleep(0.05)
        for renderer in renderers_of(chromium):
            os.kill(renderer, signal.SIGKILL)
        assert (await loading).failure is PageFailure.BROWSER_CRASH
        assert chromium.usable
        check_whole((await chromium.load(single(f"{server.url}/"))).measured)

    with_chromium(scene)


@pytest.mark.parametrize(
    ("blow", "failure"), [(signal.SIGKILL, PageFailure.BROWSER_CRASH), (signal.SIGSTOP, PageFailure.BROWSER_HANG)]
)
def test_a_dead_or_silent_browser_is_said_and_can_be_started_again(
    server: PageServer, blow: signal.Signals, failure: PageFailure
) -> None:
    async def scene(chromium: Chromium) -> None:
        loading = asyncio.create_task(chromium.load(single(f"{server.url}/never", timeout_s=2)))
        while "/silence" not in server.asked:
            await asyncio.sleep(0.05)
        old_pid = chromium.pid
        assert old_pid is not None
        os.kill(old_pid, blow)
        result: LoadResult = await loading
        assert result.failure is failure
        assert not chromium.usable
        with pytest.raises(ResolabError, match="start it first"):
            await chromium.load(single(f"{server.url}/"))
        await chromium.start([], SETTINGS)
        assert chromium.pid != old_pid
        check_whole((await chromium.load(single(f"{server.url}/"))).measured)

    with_chromium(scene)


def test_the_network_log_is_whole_after_a_clean_end_and_the_next_does_not_overwrite_it(
    server: PageServer, tmp_path: Path
) -> None:
    async def scene(chromium: Chromium) -> None:
        check_whole((await chromium.load(single(f"{server.url}/"))).measured)

    settings = msgspec.structs.replace(SETTINGS, netlog_file=tmp_path / "netlog.json")
    for _ in range(2):
        with_chromium(scene, settings)
    for file in ("netlog.json", "netlog.1.json"):
        log = json.loads((tmp_path / file).read_text())
        assert f"{server.url}/pixel.svg" in {one.get("params", {}).get("url") for one in log["events"]}


def test_a_browser_that_cannot_start_is_a_lack_of_the_machine() -> None:
    with pytest.raises(MachineError, match="could not start the browser /bin/false"):
        with_chromium(lambda _c: asyncio.sleep(0), BrowserSettings(resolvable_names=(), binary=Path("/bin/false")))


ORPHAN = """
import asyncio, os, signal, sys
from resolab.browser import BrowserSettings, Chromium
async def main():
    chromium = Chromium()
    await chromium.start([], BrowserSettings(resolvable_names=()))
    print(chromium._home.folder, flush=True)
    if sys.argv[1] == "hung":
        os.kill(chromium.pid, signal.SIGSTOP)
    os.kill(os.getpid(), signal.SIGKILL)
asyncio.run(main())
"""


@pytest.mark.parametrize("state", ["well", "hung"])
def test_the_browser_does_not_outlive_its_driver(state: str) -> None:
    package = str(Path(__file__).parents[2])
    done = subprocess.run(
        [sys.executable, "-c", ORPHAN, state],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
        env=os.environ | {"PYTHONPATH": package},
    )
    folder = done.stdout.strip()
    assert folder, done.stderr
    deadline = time.monotonic() + 10
    while (left := processes_of(folder)) and time.monotonic() < deadline:
        time.sleep(0.1)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    subprocess.run(["rm", "-rf", folder], check=True)
    assert left == []
