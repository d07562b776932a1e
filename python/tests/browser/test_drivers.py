"""Both drivers against their real browsers and a server on loopback: what every browser of the lab must do."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from resolab.basics.errors import MachineError, ResolabError
from resolab.basics.records import PageFailure
from resolab.browser import BrowserSettings, Chromium, Firefox, LoadRequest

sys.path.insert(0, str(Path(__file__).parent))
from driver_scene import SETTINGS, Driver, Play, check_whole, failing, page_processes_of, processes_of, single, stage
from page_server import PageServer

pytestmark = [pytest.mark.browser, pytest.mark.slow]
REFUSED = {"chromium": "net::ERR_CONNECTION_REFUSED", "firefox": "NS_ERROR_CONNECTION_REFUSED"}
LIMIT_S = 1.0
"""What never ends is waited for so long."""


@pytest.fixture
def server() -> Iterator[PageServer]:
    server = PageServer()
    yield server
    server.close()


@pytest.fixture(scope="module", params=[Chromium, Firefox], ids=["chromium", "firefox"])
def play(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Play]:
    pictures = tmp_path_factory.mktemp("failed")
    with stage(request.param, msgspec.structs.replace(SETTINGS, screenshot_folder=pictures)) as play:
        yield play


def test_warm_up_between_and_measured_load_in_this_order_and_nothing_from_a_cache(
    play: Play, server: PageServer
) -> None:
    async def scene(driver: Driver) -> None:
        marks: list[int] = []

        async def between() -> None:
            marks.append(len(server.asked))

        result = await driver.load(LoadRequest(url=f"{server.url}/", timeout_s=20, between=between))
        assert result.warmup is not None
        assert (result.warmup.measured, result.measured.measured) == (False, True)
        check_whole(result.warmup, drawn=driver.name == "firefox")
        check_whole(result.measured)
        assert marks == [2]
        assert server.asked == ["/", "/pixel.svg"] * 2
        assert not any(r.connection_reused for r in result.measured.network[:1])
        assert result.overhead.total_ms > 10
        assert driver.version[0].isdigit()

    play(scene)


def test_a_browser_clears_until_nothing_of_the_warm_up_is_under_way(play: Play, server: PageServer) -> None:
    async def scene(driver: Driver) -> None:
        order: list[str] = []

        async def settle() -> bool:
            order.append("settle")
            return order.count("settle") == 3

        async def between() -> None:
            order.append("between")

        request = LoadRequest(url=f"{server.url}/", timeout_s=20, settle=settle, between=between)
        check_whole((await driver.load(request)).measured)
        assert order == ["settle", "settle", "settle", "between"]

    play(scene)


def test_each_load_has_a_context_of_its_own(play: Play, server: PageServer) -> None:
    async def scene(driver: Driver) -> None:
        for _ in range(2):
            check_whole((await driver.load(LoadRequest(url=f"{server.url}/", timeout_s=20))).measured)
        of_documents = [cookie for path, cookie in zip(server.asked, server.cookies, strict=True) if path == "/"]
        assert of_documents == ["", "seen=1", "", "seen=1"]

    play(scene)


def test_redirects_are_followed_and_kept_in_the_table(play: Play, server: PageServer) -> None:
    async def scene(driver: Driver) -> None:
        load = (await driver.load(single(f"{server.url}/moved"))).measured
        assert (load.failure, load.status) == (None, 200)
        assert [(r.url.removeprefix(server.url), r.status) for r in load.network[:2]] == [("/moved", 302), ("/", 200)]

    play(scene)


def test_a_page_without_paint_and_a_page_that_meddles_with_its_clock_are_measured(
    play: Play, server: PageServer
) -> None:
    async def scene(driver: Driver) -> None:
        blank = (await driver.load(single(f"{server.url}/blank"))).measured
        assert blank.failure is None
        assert blank.timings is not None
        assert blank.timings.plt_ms is not None
        assert blank.timings.fcp_ms is blank.timings.lcp_ms is None
        meddler = (await driver.load(single(f"{server.url}/meddler"))).measured
        assert meddler.timings is not None
        assert meddler.timings.plt_ms is not None

    play(scene)


def test_failures_are_told_apart_and_the_browser_lives_on(play: Play, server: PageServer) -> None:
    async def scene(driver: Driver) -> None:
        pid = driver.pid
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            refused = await failing(driver, f"http://127.0.0.1:{unused.getsockname()[1]}/")
        assert (refused.failure, refused.failure_detail) == (PageFailure.CONNECT, REFUSED[driver.name])
        assert [r.error_text for r in refused.network] == [REFUSED[driver.name]]
        unknown = await failing(driver, "http://unknown.invalid/")
        assert (unknown.failure, unknown.timings) == (PageFailure.DNS, None)
        not_tls = await failing(driver, server.url.replace("http", "https"))
        assert not_tls.failure is PageFailure.TLS
        gone = await failing(driver, f"{server.url}/gone")
        assert (gone.failure, gone.status) == (PageFailure.HTTP_STATUS, 404)
        assert gone.timings is not None
        assert gone.screenshot_file is not None
        assert gone.screenshot_file.parent == driver._settings.screenshot_folder
        assert gone.screenshot_file.read_bytes().startswith(b"\x89PNG")
        empty = await failing(driver, f"{server.url}/empty")
        assert empty.failure is PageFailure.HTTP_STATUS
        assert (empty.network[0].status, empty.network[0].retry_after) == (503, "120")
        assert gone.network[0].retry_after is None
        assert (await failing(driver, f"{server.url}/file")).failure is PageFailure.OTHER
        assert driver.usable
        assert driver.pid == pid
        check_whole((await driver.load(single(f"{server.url}/"))).measured)

    play(scene)


@pytest.mark.parametrize(
    ("path", "failure"),
    [("/gone", PageFailure.HTTP_STATUS), ("/never", PageFailure.PAGE_TIMEOUT), ("/loop", PageFailure.PAGE_TIMEOUT)],
)
def test_a_warm_up_that_failed_for_the_page_is_no_reason_not_to_measure_and_the_next_load_is_good(
    play: Play, server: PageServer, path: str, failure: PageFailure
) -> None:
    """What does not end is censored at its limit, twice; how far it got is kept unless the page itself is mute."""

    async def scene(driver: Driver) -> None:
        pid, began = driver.pid, time.monotonic()
        result = await driver.load(LoadRequest(url=f"{server.url}{path}", timeout_s=LIMIT_S))
        took_s = time.monotonic() - began
        assert result.warmup is not None
        assert (result.warmup.failure, result.failure) == (failure, failure)
        assert [asked for asked in server.asked if asked == path] == [path, path]
        measured = result.measured
        assert measured.failure_detail
        if failure is PageFailure.PAGE_TIMEOUT:
            assert 2 * LIMIT_S <= took_s < 2 * LIMIT_S + 26
            assert (measured.limit_ms, measured.network[0].status) == (LIMIT_S * 1000, 200)
            assert measured.timings is None or measured.timings.plt_ms is None
        if path == "/never":
            assert measured.timings is not None
            assert measured.timings.response_end_ms is not None
            gave_up = driver.name == "chromium" and measured.network[1].error_text
            assert [r.end_ms is None for r in measured.network] == [False, True] or gave_up
        assert driver.usable
        assert driver.pid == pid
        check_whole((await driver.load(single(f"{server.url}/"))).measured)

    play(scene)


def test_a_server_that_says_nothing_is_waited_for_until_the_limit(play: Play, server: PageServer) -> None:
    async def scene(driver: Driver) -> None:
        began = time.monotonic()
        load = await failing(driver, f"{server.url}/silence", timeout_s=1.5)
        assert load.failure is PageFailure.PAGE_TIMEOUT
        assert 1.5 <= time.monotonic() - began < 15
        assert load.timings is None or load.timings.plt_ms is None
        assert [r.status for r in load.network][:1] == [None]
        assert driver.usable

    play(scene)


def test_an_error_of_the_caller_between_passes_through_and_leaves_the_browser_usable(
    play: Play, server: PageServer
) -> None:
    async def scene(driver: Driver) -> None:
        async def between() -> None:
            raise ResolabError("the edge is gone")

        with pytest.raises(ResolabError, match="the edge is gone"):
            await driver.load(LoadRequest(url=f"{server.url}/", timeout_s=20, between=between))
        assert driver.usable
        check_whole((await driver.load(single(f"{server.url}/"))).measured)

    play(scene)


def test_a_dead_page_process_is_a_crash_and_the_browser_lives_on(play: Play, server: PageServer) -> None:
    async def scene(driver: Driver) -> None:
        loading = asyncio.create_task(failing(driver, f"{server.url}/never"))
        while "/silence" not in server.asked:
            await asyncio.sleep(0.05)
        for process in page_processes_of(driver):
            os.kill(process, signal.SIGKILL)
        assert (await loading).failure is PageFailure.BROWSER_CRASH
        assert driver.usable
        check_whole((await driver.load(single(f"{server.url}/"))).measured)

    play(scene)


@pytest.mark.parametrize(
    ("blow", "failure"), [(signal.SIGKILL, PageFailure.BROWSER_CRASH), (signal.SIGSTOP, PageFailure.BROWSER_HANG)]
)
def test_a_dead_or_silent_browser_is_said_and_can_be_started_again(
    play: Play, server: PageServer, monkeypatch: pytest.MonkeyPatch, blow: signal.Signals, failure: PageFailure
) -> None:
    pids = []
    for asker in ("chromium.page", "firefox.agent"):  # What is stopped does not answer however long it is waited for.
        monkeypatch.setattr(f"resolab.browser.{asker}.ALIVE_TIMEOUT_S", 1.0)

    async def broken(driver: Driver) -> None:
        loading = asyncio.create_task(driver.load(single(f"{server.url}/never", timeout_s=1.5)))
        while "/silence" not in server.asked:
            await asyncio.sleep(0.05)
        assert driver.pid is not None
        pids.append(driver.pid)
        began = time.monotonic()
        os.kill(driver.pid, blow)
        assert (await loading).failure is failure
        assert time.monotonic() - began < 30
        assert not driver.usable
        with pytest.raises(ResolabError, match="start it first"):
            await driver.load(single(f"{server.url}/"))

    async def well_again(driver: Driver) -> None:
        assert driver.pid not in pids
        check_whole((await driver.load(single(f"{server.url}/"))).measured)

    play(broken)
    play(well_again)


@pytest.mark.parametrize("make", [Chromium, Firefox])
def test_a_browser_that_cannot_start_is_a_lack_of_the_machine(make: type[Driver]) -> None:
    async def start() -> None:
        await make().start([], BrowserSettings(resolvable_names=(), binary=Path("/bin/false")))

    with pytest.raises(MachineError, match="could not start the browser /bin/false"):
        asyncio.run(start())


ORPHAN = """
import asyncio, os, signal, sys
from resolab.browser import BrowserSettings, Chromium, Firefox
async def main():
    driver = {"Chromium": Chromium, "Firefox": Firefox}[sys.argv[1]]()
    await driver.start([], BrowserSettings(resolvable_names=()))
    print(driver._home.folder, flush=True)
    if sys.argv[2] == "hung":
        os.kill(driver.pid, signal.SIGSTOP)
    os.kill(os.getpid(), signal.SIGKILL)
asyncio.run(main())
"""


@pytest.mark.parametrize(("name", "state"), [("Chromium", "well"), ("Chromium", "hung"), ("Firefox", "hung")])
def test_the_browser_does_not_outlive_its_driver(name: str, state: str) -> None:
    package = str(Path(__file__).parents[2])
    done = subprocess.run(
        [sys.executable, "-c", ORPHAN, name, state],
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


@pytest.mark.parametrize("make", [Chromium, Firefox], ids=["chromium", "firefox"])
def test_a_browser_that_was_killed_leaves_no_temporary_file(
    make: type[Driver], server: PageServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with tempfile.TemporaryDirectory(prefix="t-", dir="/tmp") as name:
        monkeypatch.setenv("TMPDIR", name)
        monkeypatch.setattr(tempfile, "tempdir", name)
        scratch = Path(name, "scratch")
        scratch.mkdir()

        async def live_and_die() -> None:
            driver = make()
            await driver.start([], msgspec.structs.replace(SETTINGS, scratch_folder=scratch))
            assert (await driver.load(LoadRequest(url=f"{server.url}/", timeout_s=20))).failure is None
            assert driver.pid is not None
            os.killpg(driver.pid, signal.SIGKILL)
            await driver.close()

        asyncio.run(live_and_die())
        assert [str(one) for one in Path(name).rglob("*")] == [str(scratch)]
