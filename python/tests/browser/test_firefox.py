"""The driver against a real Firefox and a server on loopback. One browser serves every scene that it survives."""

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

from resolab.browser import BrowserSettings, Cleared, Firefox, LoadRequest, PageLoad, find_firefox
from resolab.errors import MachineError, ResolabError
from resolab.records import PageFailure

sys.path.insert(0, str(Path(__file__).parent))
from page_server import HEAD, PAGES, PageServer

pytestmark = [pytest.mark.browser, pytest.mark.slow]
LOUD = (
    b"<script>console.error('said', 7); console.warn('less'); setTimeout(() => { throw new Error('thrown') })</script>"
)
PAGES["/loud"] = (200, "text/html", HEAD + b"<h1>W</h1>" + LOUD)
PAGES["/many"] = (200, "text/html", HEAD + b"".join(b"<img src='/pixel.svg?%d'>" % n for n in range(300)))
PAGES |= {f"/pixel.svg?{n}": PAGES["/pixel.svg"] for n in range(300)}
Scene = Callable[[Firefox], Awaitable[None]]
Play = Callable[[Scene], None]
SCENE_TIMEOUT_S = 90


@pytest.fixture
def server() -> Iterator[PageServer]:
    server = PageServer()
    yield server
    server.close()


@pytest.fixture(scope="module")
def play(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Play]:
    """Plays scenes with one browser; looks at what is left of it at the end."""
    try:
        find_firefox()
    except MachineError as error:
        pytest.skip(f"REAL BROWSER NOT TESTED: {error}")
    settings = BrowserSettings(
        resolvable_names=("127.0.0.1", "unknown.invalid"), screenshot_folder=tmp_path_factory.mktemp("failed")
    )
    firefox = Firefox()
    folders = set()

    async def scene_in_time(scene: Scene) -> None:
        async with asyncio.timeout(SCENE_TIMEOUT_S):
            if not firefox.usable:
                await firefox.start([], settings)
            assert firefox._home is not None
            folders.add(firefox._home.folder)
            await scene(firefox)

    with asyncio.Runner() as runner:
        try:
            yield lambda scene: runner.run(scene_in_time(scene))
        finally:
            runner.run(firefox.close())
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


def page_processes_of(firefox: Firefox) -> list[int]:
    """Processes of tabs in the browser's session, those kept ready for the next ones among them."""
    assert firefox.pid is not None
    of_browser = [pid for pid in processes_of("-contentproc") if os.getsid(pid) == firefox.pid]
    return [pid for pid in of_browser if kind_of(pid) == b"tab"]


def kind_of(pid: int) -> bytes:
    with suppress(OSError, IndexError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").split()[-1]
    return b"gone"


def single(url: str, timeout_s: float = 20) -> LoadRequest:
    return LoadRequest(url=url, timeout_s=timeout_s, warmup=False)


async def failing(firefox: Firefox, url: str, timeout_s: float = 20) -> PageLoad:
    result = await firefox.load(single(url, timeout_s))
    assert result.measured.failure is not None
    assert result.measured.failure_detail
    assert result.measured.limit_ms == timeout_s * 1000
    return result.measured


def check_whole(load: PageLoad) -> None:
    timings = load.timings
    assert (load.failure, load.failure_detail, load.status) == (None, None, 200)
    assert timings is not None
    assert timings.plt_ms is not None
    assert timings.fetch_start_ms is not None
    assert timings.response_end_ms is not None
    assert timings.fcp_ms is not None
    assert timings.lcp_ms is not None
    # The request is not sent before the page's own clock begins.
    assert 0 <= timings.fetch_start_ms < timings.response_end_ms < timings.plt_ms < 20_000
    assert timings.lcp_ms >= timings.fcp_ms > timings.response_end_ms
    assert timings.navigation_start_unix_ms == pytest.approx(time.time() * 1000, abs=60_000)
    assert [r.initiator_type for r in load.resources] == ["navigation", "img"]
    assert timings.request_count == 2
    assert timings.next_hop_protocol == "http/1.1"
    assert [(r.status, r.from_cache, r.error_text) for r in load.network] == [(200, False, None)] * 2
    assert [r.resource_type for r in load.network] == ["document", "image"]


def test_warm_up_between_and_measured_load_in_this_order_and_nothing_from_a_cache(
    play: Play, server: PageServer
) -> None:
    async def scene(firefox: Firefox) -> None:
        marks: list[int] = []

        async def between() -> None:
            marks.append(len(server.asked))

        result = await firefox.load(LoadRequest(url=f"{server.url}/", timeout_s=20, between=between))
        assert result.warmup is not None
        assert (result.warmup.measured, result.measured.measured) == (False, True)
        check_whole(result.warmup)
        check_whole(result.measured)
        assert marks == [2]
        assert server.asked == ["/", "/pixel.svg"] * 2
        assert not any(r.connection_reused for r in result.measured.network[:1])
        assert result.overhead.total_ms > 20
        assert firefox.version[0].isdigit()

    play(scene)


@pytest.mark.parametrize(
    ("cleared", "reused", "asked"),
    [
        (Cleared(sockets=False), True, ["/", "/pixel.svg"]),
        (Cleared(http_cache=False), None, []),
    ],
)
def test_only_what_is_named_is_cleared(
    play: Play, server: PageServer, cleared: Cleared, reused: bool | None, asked: list[str]
) -> None:
    async def scene(firefox: Firefox) -> None:
        measured = (await firefox.load(LoadRequest(url=f"{server.url}/", timeout_s=20, cleared=cleared))).measured
        assert measured.failure is None
        assert server.asked[2:] == asked
        assert measured.network[0].from_cache is (not asked)
        if reused is not None:
            assert measured.network[0].connection_reused is reused

    play(scene)


def test_each_load_has_a_context_of_its_own(play: Play, server: PageServer) -> None:
    async def scene(firefox: Firefox) -> None:
        for _ in range(2):
            check_whole((await firefox.load(LoadRequest(url=f"{server.url}/", timeout_s=20))).measured)
        of_documents = [cookie for path, cookie in zip(server.asked, server.cookies, strict=True) if path == "/"]
        assert of_documents == ["", "seen=1", "", "seen=1"]

    play(scene)


def test_no_process_is_left_of_a_load(play: Play, server: PageServer) -> None:
    async def scene(firefox: Firefox) -> None:
        counts = []
        for _ in range(5):
            await firefox.load(LoadRequest(url=f"{server.url}/", timeout_s=20))
            counts.append(len(page_processes_of(firefox)))
        assert counts[0] > 0
        # A tab's process may take a moment to go, and the next ones are made ready.
        assert counts[-1] < counts[0] + 4, counts

    play(scene)


def test_redirects_are_followed_and_kept_in_the_table(play: Play, server: PageServer) -> None:
    async def scene(firefox: Firefox) -> None:
        load = (await firefox.load(single(f"{server.url}/moved"))).measured
        assert (load.failure, load.status) == (None, 200)
        assert [(r.url.removeprefix(server.url), r.status) for r in load.network[:2]] == [("/moved", 302), ("/", 200)]

    play(scene)


def test_pages_without_paint_or_with_a_meddled_clock_or_with_many_requests(play: Play, server: PageServer) -> None:
    async def scene(firefox: Firefox) -> None:
        blank = (await firefox.load(single(f"{server.url}/blank"))).measured
        assert blank.failure is None
        assert blank.timings is not None
        assert blank.timings.plt_ms is not None
        assert blank.timings.fcp_ms is blank.timings.lcp_ms is None
        meddler = (await firefox.load(single(f"{server.url}/meddler"))).measured
        assert meddler.timings is not None
        assert meddler.timings.plt_ms is not None
        many = (await firefox.load(single(f"{server.url}/many"))).measured
        assert many.timings is not None
        assert (many.timings.request_count, len(many.resources)) == (301, 301)

    play(scene)


def test_timings_are_finer_than_a_tenth_of_a_millisecond(play: Play, server: PageServer) -> None:
    async def scene(firefox: Firefox) -> None:
        timings = (await firefox.load(single(f"{server.url}/"))).measured.timings
        assert timings is not None
        instants = [timings.connect_end_ms, timings.response_start_ms, timings.dom_interactive_ms, timings.plt_ms]
        assert any(round(instant or 0, 2) != round(instant or 0, 5) for instant in instants)

    play(scene)


def test_what_a_page_says_on_its_console_as_an_error_is_kept(play: Play, server: PageServer) -> None:
    async def scene(firefox: Firefox) -> None:
        load = (await firefox.load(single(f"{server.url}/loud"))).measured
        assert load.failure is None
        assert load.console_errors == ["said 7", "Error: thrown"]
        assert (await firefox.load(single(f"{server.url}/"))).measured.console_errors == []

    play(scene)


def test_failures_are_told_apart_and_the_browser_lives_on(play: Play, server: PageServer) -> None:
    async def scene(firefox: Firefox) -> None:
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            refused = await failing(firefox, f"http://127.0.0.1:{unused.getsockname()[1]}/")
        assert (refused.failure, refused.failure_detail) == (PageFailure.CONNECT, "NS_ERROR_CONNECTION_REFUSED")
        assert [r.error_text for r in refused.network] == ["NS_ERROR_CONNECTION_REFUSED"]
        assert refused.screenshot_file is not None
        assert refused.screenshot_file.read_bytes().startswith(b"\x89PNG")
        unknown = await failing(firefox, "http://unknown.invalid/")
        assert (unknown.failure, unknown.timings) == (PageFailure.DNS, None)
        not_ours = await failing(firefox, f"http://localhost:{server.url.rpartition(':')[2]}/")
        assert (not_ours.failure, not_ours.failure_detail) == (PageFailure.DNS, "NS_ERROR_UNKNOWN_HOST")
        not_tls = await failing(firefox, server.url.replace("http", "https"))
        assert not_tls.failure is PageFailure.TLS
        gone = await failing(firefox, f"{server.url}/gone")
        assert (gone.failure, gone.status) == (PageFailure.HTTP_STATUS, 404)
        assert gone.timings is not None
        assert (await failing(firefox, f"{server.url}/empty")).failure is PageFailure.HTTP_STATUS
        assert (await failing(firefox, f"{server.url}/file")).failure is PageFailure.OTHER
        assert firefox.usable
        check_whole((await firefox.load(single(f"{server.url}/"))).measured)

    play(scene)


def test_a_page_that_does_not_end_is_censored_at_its_limit(play: Play, server: PageServer) -> None:
    async def scene(firefox: Firefox) -> None:
        pid = firefox.pid
        for path in ("/never", "/silence", "/loop"):
            began = time.monotonic()
            load = await failing(firefox, f"{server.url}{path}", timeout_s=1.5)
            assert load.failure is PageFailure.PAGE_TIMEOUT, path
            assert 1.5 <= time.monotonic() - began < 15
            assert load.timings is None or load.timings.plt_ms is None
            assert [r.status for r in load.network][:1] == [None if path == "/silence" else 200]
        assert firefox.usable
        assert firefox.pid == pid
        check_whole((await firefox.load(single(f"{server.url}/"))).measured)

    play(scene)


def test_partial_timings_of_a_censored_load_are_kept(play: Play, server: PageServer) -> None:
    async def scene(firefox: Firefox) -> None:
        load = await failing(firefox, f"{server.url}/never", timeout_s=3)
        assert load.timings is not None
        assert load.timings.response_end_ms is not None
        assert [r.end_ms is None for r in load.network] == [False, True]

    play(scene)


@pytest.mark.parametrize(
    ("path", "failure"),
    [("/gone", PageFailure.HTTP_STATUS), ("/never", PageFailure.PAGE_TIMEOUT), ("/loop", PageFailure.PAGE_TIMEOUT)],
)
def test_a_warm_up_that_failed_for_the_page_is_no_reason_not_to_measure(
    play: Play, server: PageServer, path: str, failure: PageFailure
) -> None:
    async def scene(firefox: Firefox) -> None:
        result = await firefox.load(LoadRequest(url=f"{server.url}{path}", timeout_s=3))
        assert result.warmup is not None
        assert (result.warmup.failure, result.failure) == (failure, failure)
        assert [asked for asked in server.asked if asked == path] == [path, path]
        check_whole((await firefox.load(single(f"{server.url}/"))).measured)

    play(scene)


def test_an_error_of_the_caller_between_passes_through_and_leaves_the_browser_usable(
    play: Play, server: PageServer
) -> None:
    async def scene(firefox: Firefox) -> None:
        async def between() -> None:
            raise ResolabError("the edge is gone")

        with pytest.raises(ResolabError, match="the edge is gone"):
            await firefox.load(LoadRequest(url=f"{server.url}/", timeout_s=20, between=between))
        assert firefox.usable
        check_whole((await firefox.load(single(f"{server.url}/"))).measured)

    play(scene)


def test_a_dead_page_process_is_a_crash_and_the_browser_lives_on(play: Play, server: PageServer) -> None:
    async def scene(firefox: Firefox) -> None:
        loading = asyncio.create_task(failing(firefox, f"{server.url}/never"))
        while "/silence" not in server.asked:
            await asyncio.sleep(0.05)
        for process in page_processes_of(firefox):
            os.kill(process, signal.SIGKILL)
        assert (await loading).failure is PageFailure.BROWSER_CRASH
        assert firefox.usable
        check_whole((await firefox.load(single(f"{server.url}/"))).measured)

    play(scene)


async def broken_by(firefox: Firefox, server: PageServer, blow: signal.Signals) -> PageFailure | None:
    """Class of a load in the middle of which the browser is struck."""
    loading = asyncio.create_task(firefox.load(single(f"{server.url}/never", timeout_s=3)))
    while "/silence" not in server.asked:
        await asyncio.sleep(0.05)
    assert firefox.pid is not None
    os.kill(firefox.pid, blow)
    result = await loading
    assert not firefox.usable
    with pytest.raises(ResolabError, match="start it first"):
        await firefox.load(single(f"{server.url}/"))
    return result.failure


def test_a_dead_browser_is_said_and_can_be_started_again(play: Play, server: PageServer) -> None:
    async def broken(firefox: Firefox) -> None:
        assert await broken_by(firefox, server, signal.SIGKILL) is PageFailure.BROWSER_CRASH

    async def well_again(firefox: Firefox) -> None:
        check_whole((await firefox.load(single(f"{server.url}/"))).measured)

    play(broken)
    play(well_again)


def test_a_silent_browser_is_said(play: Play, server: PageServer) -> None:
    """The last scene: it is not started again, but must be gone when the module ends."""

    async def broken(firefox: Firefox) -> None:
        began = time.monotonic()
        assert await broken_by(firefox, server, signal.SIGSTOP) is PageFailure.BROWSER_HANG
        assert time.monotonic() - began < 30

    play(broken)


def test_a_browser_that_cannot_start_is_a_lack_of_the_machine() -> None:
    async def play() -> None:
        await Firefox().start([], BrowserSettings(resolvable_names=(), binary=Path("/bin/false")))

    with pytest.raises(MachineError, match="could not start the browser /bin/false: it ended before it listened"):
        asyncio.run(play())


def test_the_log_of_the_network_stands_where_it_was_asked_for(server: PageServer, tmp_path: Path) -> None:
    log = tmp_path / "network.log"

    async def play() -> None:
        firefox = Firefox()
        try:
            settings = BrowserSettings(resolvable_names=("127.0.0.1",), netlog_file=log)
            await firefox.start([], settings)
            assert (await firefox.load(single(f"{server.url}/"))).failure is None
        finally:
            await firefox.close()

    asyncio.run(play())
    assert list(tmp_path.iterdir()) == [log]
    assert f"uri={server.url}/pixel.svg" in log.read_text("utf-8", "replace")


ORPHAN = """
import asyncio, os, signal
from resolab.browser import BrowserSettings, Firefox
async def main():
    firefox = Firefox()
    await firefox.start([], BrowserSettings(resolvable_names=()))
    print(firefox._home.folder, flush=True)
    os.kill(firefox.pid, signal.SIGSTOP)
    os.kill(os.getpid(), signal.SIGKILL)
asyncio.run(main())
"""


def test_the_browser_does_not_outlive_its_driver() -> None:
    package = str(Path(__file__).parents[2])
    done = subprocess.run(
        [sys.executable, "-c", ORPHAN],
        capture_output=True,
        text=True,
        timeout=90,
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
