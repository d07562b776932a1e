"""What Chromium makes of pages that load, from a server on loopback."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from resolab.browser import Chromium, LoadRequest

sys.path.insert(0, str(Path(__file__).parent))
from chromium_scene import check_whole, need_chromium, single, with_chromium
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
