"""What only Firefox's driver has, against a real Firefox and a server on loopback (`test_drivers` has the rest)."""

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from resolab.basics.records import PageFailure
from resolab.browser import ClearedState, Firefox, LoadRequest

sys.path.insert(0, str(Path(__file__).parent))
from driver_scene import SETTINGS, Play, failing, page_processes_of, single, stage
from page_server import HEAD, PAGES, PageServer

pytestmark = [pytest.mark.browser, pytest.mark.slow]
LOUD = (
    b"<script>console.error('said', 7); console.warn('less'); setTimeout(() => { throw new Error('thrown') })</script>"
)
PAGES["/loud"] = (200, "text/html", HEAD + b"<h1>W</h1>" + LOUD)
PAGES["/many"] = (200, "text/html", HEAD + b"".join(b"<img src='/pixel.svg?%d'>" % n for n in range(300)))
PAGES |= {f"/pixel.svg?{n}": PAGES["/pixel.svg"] for n in range(300)}


@pytest.fixture
def server() -> Iterator[PageServer]:
    server = PageServer()
    yield server
    server.close()


@pytest.fixture(scope="module")
def play() -> Iterator[Play]:
    with stage(Firefox) as play:
        yield play


@pytest.mark.parametrize(
    ("cleared", "reused", "asked"),
    [
        (ClearedState(sockets=False), True, ["/", "/pixel.svg"]),
        (ClearedState(http_cache=False), None, []),
    ],
)
def test_only_what_is_named_is_cleared(
    play: Play, server: PageServer, cleared: ClearedState, reused: bool | None, asked: list[str]
) -> None:
    async def scene(firefox: Firefox) -> None:
        measured = (await firefox.load(LoadRequest(url=f"{server.url}/", timeout_s=20, cleared=cleared))).measured
        assert measured.failure is None
        assert server.asked[2:] == asked
        assert measured.network[0].from_cache is (not asked)
        if reused is not None:
            assert measured.network[0].connection_reused is reused

    play(scene)


def test_no_process_is_left_of_a_load(play: Play, server: PageServer) -> None:
    async def scene(firefox: Firefox) -> None:
        counts = []
        for _ in range(5):
            await firefox.load(LoadRequest(url=f"{server.url}/", timeout_s=20))
            counts.append(len(page_processes_of(firefox)))
        assert counts[0] > 0
        # A tab's process may take its time to go, and the next ones are made ready: one that is left is there for good.
        for _ in range(150):
            if len(page_processes_of(firefox)) < counts[0] + 4:
                return
            await asyncio.sleep(0.1)
        raise AssertionError((counts, page_processes_of(firefox)))

    play(scene)


def test_many_requests_and_timings_finer_than_a_tenth_of_a_millisecond(play: Play, server: PageServer) -> None:
    async def scene(firefox: Firefox) -> None:
        many = (await firefox.load(single(f"{server.url}/many"))).measured
        timings = many.timings
        assert timings is not None
        assert (timings.request_count, len(many.resources)) == (301, 301)
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


def test_a_name_that_is_not_the_labs_is_not_found(play: Play, server: PageServer) -> None:
    async def scene(firefox: Firefox) -> None:
        load = await failing(firefox, f"http://localhost:{server.url.rpartition(':')[2]}/")
        assert (load.failure, load.failure_detail) == (PageFailure.DNS, "NS_ERROR_UNKNOWN_HOST")
        assert server.asked == []

    play(scene)


def test_the_log_of_the_network_stands_where_it_was_asked_for(server: PageServer, tmp_path: Path) -> None:
    log = tmp_path / "network.log"

    async def play() -> None:
        firefox = Firefox()
        try:
            await firefox.start([], msgspec.structs.replace(SETTINGS, netlog_file=log))
            assert (await firefox.load(single(f"{server.url}/"))).failure is None
        finally:
            await firefox.close()

    asyncio.run(play())
    assert list(tmp_path.iterdir()) == [log]
    assert f"uri={server.url}/pixel.svg" in log.read_text("utf-8", "replace")
