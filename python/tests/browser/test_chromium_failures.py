"""Pages that do not load: each failure told, in time, and the next load good."""

import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from resolab.browser import Chromium, LoadRequest
from resolab.errors import ResolabError
from resolab.records import PageFailure

sys.path.insert(0, str(Path(__file__).parent))
from authority import Authority
from chromium_scene import SETTINGS, check_whole, failing, need_chromium, single, with_chromium
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


def test_a_warm_up_that_failed_for_the_page_is_no_reason_not_to_measure(server: PageServer) -> None:
    async def scene(chromium: Chromium) -> None:
        result = await chromium.load(LoadRequest(url=f"{server.url}/gone", timeout_s=10))
        assert result.warmup is not None
        assert (result.warmup.failure, result.failure) == (PageFailure.HTTP_STATUS, PageFailure.HTTP_STATUS)
        assert server.asked == ["/gone", "/gone"]

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


def test_a_document_that_never_ends_and_a_frozen_renderer_are_censored_and_the_next_load_is_good(
    server: PageServer,
) -> None:
    async def scene(chromium: Chromium) -> None:
        for path in ("/trickle", "/loop"):
            load = await failing(chromium, f"{server.url}{path}", timeout_s=1.5)
            assert load.failure is PageFailure.PAGE_TIMEOUT, path
            assert chromium.usable
            warmed = await chromium.load(LoadRequest(url=f"{server.url}/", timeout_s=10))
            check_whole(warmed.measured)

    with_chromium(scene)


def test_a_renderer_that_freezes_after_its_load_event_is_no_hang_of_the_browser(
    server: PageServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("resolab.browser.chromium.page.COLLECT_TIMEOUT_S", 1.0)

    async def scene(chromium: Chromium) -> None:
        load = await failing(chromium, f"{server.url}/later-loop")
        assert load.failure is PageFailure.OTHER
        assert "after its load event" in (load.failure_detail or "")
        check_whole((await chromium.load(single(f"{server.url}/"))).measured)

    with_chromium(scene)


@pytest.mark.parametrize("path", ["/never", "/loop"])
def test_after_a_warm_up_that_never_ends_the_load_is_measured_and_the_next_is_good(
    server: PageServer, path: str
) -> None:
    async def scene(chromium: Chromium) -> None:
        result = await chromium.load(LoadRequest(url=f"{server.url}{path}", timeout_s=1.5))
        assert result.warmup is not None
        assert (result.warmup.failure, result.failure) == (PageFailure.PAGE_TIMEOUT, PageFailure.PAGE_TIMEOUT)
        check_whole((await chromium.load(single(f"{server.url}/"))).measured)

    with_chromium(scene)


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/hang-up", "net::ERR_EMPTY_RESPONSE"),
        ("/reset", "net::ERR_CONNECTION_RESET"),
        ("/torn", "net::ERR_CONTENT_LENGTH_MISMATCH"),
        ("/torn-chunk", "net::ERR_INCOMPLETE_CHUNKED_ENCODING"),
    ],
)
def test_a_connection_that_is_dropped_is_a_failed_connection(server: PageServer, path: str, words: str) -> None:
    async def scene(chromium: Chromium) -> None:
        load = await failing(chromium, f"{server.url}{path}")
        assert (load.failure, load.failure_detail) == (PageFailure.CONNECT, words)
        check_whole((await chromium.load(single(f"{server.url}/"))).measured)

    with_chromium(scene)


def test_certificates_are_refused_for_their_authority_and_for_their_name(tmp_path: Path) -> None:
    authority, stranger = Authority(tmp_path / "authority"), Authority(tmp_path / "stranger")
    good = PageServer(authority.certificate("127.0.0.1"))
    wrong_name = PageServer(authority.certificate("127.0.0.2"))
    unknown = PageServer(stranger.certificate("127.0.0.1"))

    async def scene(chromium: Chromium) -> None:
        for server, words in ((wrong_name, "COMMON_NAME_INVALID"), (unknown, "AUTHORITY_INVALID")):
            load = await failing(chromium, f"{server.url}/")
            assert (load.failure, load.failure_detail) == (PageFailure.TLS, f"net::ERR_CERT_{words}")
            check_whole((await chromium.load(single(f"{good.url}/"))).measured)
        assert not wrong_name.asked + unknown.asked

    try:
        with_chromium(scene, msgspec.structs.replace(SETTINGS, ca_file=authority.file))
    finally:
        for server in (good, wrong_name, unknown):
            server.close()


def test_a_failed_load_leaves_a_screenshot_and_its_console_errors(server: PageServer, tmp_path: Path) -> None:
    async def scene(chromium: Chromium) -> None:
        gone = await failing(chromium, f"{server.url}/gone")
        assert gone.screenshot_file is not None
        assert gone.screenshot_file.parent == tmp_path / "screenshots"
        assert gone.screenshot_file.read_bytes().startswith(b"\x89PNG")
        frozen = await failing(chromium, f"{server.url}/loop", timeout_s=1.5)
        assert frozen.screenshot_file is None
        noisy = (await chromium.load(single(f"{server.url}/noisy"))).measured
        assert (noisy.failure, noisy.screenshot_file) == (None, None)
        said, thrown, failed = sorted(noisy.console_errors)
        assert said.startswith("Uncaught Error: thrown")
        assert thrown.startswith("console.error: said 1")
        assert failed.startswith("network: Failed to load resource")
        quiet = (await chromium.load(single(f"{server.url}/"))).measured
        assert quiet.console_errors == []

    with_chromium(scene, msgspec.structs.replace(SETTINGS, screenshot_folder=tmp_path / "screenshots"))
