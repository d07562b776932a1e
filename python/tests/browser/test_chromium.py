"""The driver against a real Chromium and a server on loopback."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from resolab.browser import BrowserSettings, Chromium, LoadRequest, LoadResult, PageLoad, find_chromium
from resolab.errors import MachineError, ResolabError
from resolab.records import PageFailure

sys.path.insert(0, str(Path(__file__).parent))
from page_server import PageServer

pytestmark = pytest.mark.browser
SETTINGS = BrowserSettings(resolvable_names=("127.0.0.1",))
Scene = Callable[[Chromium], Awaitable[None]]


@pytest.fixture(scope="module", autouse=True)
def _browser_present() -> None:
    try:
        find_chromium()
    except MachineError as error:
        pytest.skip(f"REAL BROWSER NOT TESTED: {error}")


@pytest.fixture
def server() -> Iterator[PageServer]:
    server = PageServer()
    yield server
    server.close()


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


def test_warm_up_between_and_measured_load_in_this_order_and_nothing_from_a_cache(server: PageServer) -> None:
    async def scene(chromium: Chromium) -> None:
        marks: list[int] = []

        async def between() -> None:
            marks.append(len(server.asked))

        request = LoadRequest(url=f"{server.url}/", timeout_s=10, between=between)
        result = await chromium.load(request)
        assert result.warmup is not None
        assert (result.warmup.measured, result.measured.measured) == (False, True)
        check_whole(result.warmup)
        check_whole(result.measured)
        assert marks == [2]
        assert server.asked == ["/", "/pixel.svg"] * 2
        assert not any(r.connection_reused for r in result.measured.network[:1])
        assert result.overhead.total_ms > 10

    with_chromium(scene)


def test_each_load_has_a_context_of_its_own(server: PageServer) -> None:
    async def scene(chromium: Chromium) -> None:
        for _ in range(2):
            check_whole((await chromium.load(LoadRequest(url=f"{server.url}/", timeout_s=10))).measured)
        of_documents = [cookie for path, cookie in zip(server.asked, server.cookies, strict=True) if path == "/"]
        assert of_documents == ["", "seen=1", "", "seen=1"]

    with_chromium(scene)


def test_redirects_are_followed_and_kept_in_the_table(server: PageServer) -> None:
    async def scene(chromium: Chromium) -> None:
        load = (await chromium.load(single(f"{server.url}/moved"))).measured
        assert load.failure is None
        assert [(r.url.removeprefix(server.url), r.status) for r in load.network[:2]] == [("/moved", 302), ("/", 200)]

    with_chromium(scene)


def test_a_page_without_paint_and_a_page_that_meddles_with_its_clock_are_measured(server: PageServer) -> None:
    async def scene(chromium: Chromium) -> None:
        blank = (await chromium.load(single(f"{server.url}/blank"))).measured
        assert blank.failure is None
        assert blank.timings is not None
        assert blank.timings.plt_ms is not None
        assert blank.timings.fcp_ms is blank.timings.lcp_ms is None
        meddler = (await chromium.load(single(f"{server.url}/meddler"))).measured
        assert meddler.timings is not None
        assert meddler.timings.plt_ms is not None

    with_chromium(scene)


def test_failures_are_told_apart_and_the_browser_lives_on(server: PageServer) -> None:
    async def scene(chromium: Chromium) -> None:
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            refused = await failing(chromium, f"http://127.0.0.1:{unused.getsockname()[1]}/")
        assert (refused.failure, refused.failure_detail) == (PageFailure.CONNECT, "net::ERR_CONNECTION_REFUSED")
        assert [r.error_text for r in refused.network] == ["net::ERR_CONNECTION_REFUSED"]
        unknown = await failing(chromium, "http://unknown.invalid/")
        assert (unknown.failure, unknown.timings) == (PageFailure.DNS, None)
        not_tls = await failing(chromium, server.url.replace("http", "https"))
        assert not_tls.failure is PageFailure.TLS
        gone = await failing(chromium, f"{server.url}/gone")
        assert (gone.failure, gone.status) == (PageFailure.HTTP_STATUS, 404)
        assert gone.timings is not None
        assert (await failing(chromium, f"{server.url}/empty")).failure is PageFailure.HTTP_STATUS
        assert (await failing(chromium, f"{server.url}/file")).failure is PageFailure.OTHER
        assert chromium.usable
        check_whole((await chromium.load(single(f"{server.url}/"))).measured)

    with_chromium(scene)


def test_a_page_that_does_not_end_is_censored_at_its_limit(server: PageServer) -> None:
    async def scene(chromium: Chromium) -> None:
        for path in ("/never", "/silence", "/loop"):
            began = time.monotonic()
            load = await failing(chromium, f"{server.url}{path}", timeout_s=1.5)
            assert load.failure is PageFailure.PAGE_TIMEOUT, path
            assert 1.5 <= time.monotonic() - began < 8
            assert load.timings is None or load.timings.plt_ms is None
        assert chromium.usable
        check_whole((await chromium.load(single(f"{server.url}/"))).measured)

    with_chromium(scene)


def test_partial_timings_of_a_censored_load_are_kept(server: PageServer) -> None:
    async def scene(chromium: Chromium) -> None:
        load = await failing(chromium, f"{server.url}/never", timeout_s=1.5)
        assert load.timings is not None
        assert load.timings.response_end_ms is not None
        assert [r.end_ms is None for r in load.network][:2] == [False, True] or load.network[1].error_text

    with_chromium(scene)


def test_nothing_is_measured_after_a_failed_warm_up(server: PageServer) -> None:
    async def scene(chromium: Chromium) -> None:
        result = await chromium.load(LoadRequest(url=f"{server.url}/gone", timeout_s=10))
        assert result.warmup is not None
        assert result.warmup.failure is PageFailure.HTTP_STATUS
        assert result.failure is PageFailure.DRIVER
        assert "http_status" in (result.measured.failure_detail or "")
        assert server.asked == ["/gone"]

    with_chromium(scene)


def test_an_error_of_the_caller_between_passes_through_and_leaves_the_browser_usable(server: PageServer) -> None:
    async def scene(chromium: Chromium) -> None:
        async def between() -> None:
            raise ResolabError("the edge is gone")

        with pytest.raises(ResolabError, match="the edge is gone"):
            await chromium.load(LoadRequest(url=f"{server.url}/", timeout_s=10, between=between))
        assert chromium.usable
        check_whole((await chromium.load(single(f"{server.url}/"))).measured)

    with_chromium(scene)


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
