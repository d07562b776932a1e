"""What only Chromium's driver has, against a real Chromium and servers on loopback (`test_drivers` has the rest)."""

import gc
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from resolab.basics.records import PageFailure
from resolab.browser import Chromium, LoadRequest
from resolab.browser.chromium import page_load
from resolab.browser.chromium.context import Context
from resolab.browser.chromium.page import ChromiumPage
from resolab.browser.chromium.renderers import list_renderers

sys.path.insert(0, str(Path(__file__).parent))
from authority import Authority
from driver_scene import SETTINGS, Play, check_whole, failing, single, stage
from page_server import PageServer

pytestmark = pytest.mark.browser


@pytest.fixture
def server() -> Iterator[PageServer]:
    server = PageServer()
    yield server
    server.close()


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("trusted") / "authority")


@pytest.fixture(scope="module")
def play(authority: Authority, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Play]:
    pictures = tmp_path_factory.mktemp("failed") / "screenshots"
    settings = msgspec.structs.replace(SETTINGS, ca_file=authority.file, screenshot_folder=pictures)
    with stage(Chromium, settings) as play:
        yield play


def test_a_document_that_never_ends_is_censored_and_the_next_load_is_good(play: Play, server: PageServer) -> None:
    async def scene(chromium: Chromium) -> None:
        load = await failing(chromium, f"{server.url}/trickle", timeout_s=1.5)
        assert load.failure is PageFailure.PAGE_TIMEOUT
        assert chromium.usable
        check_whole((await chromium.load(LoadRequest(url=f"{server.url}/", timeout_s=20))).measured)

    play(scene)


def test_the_warm_up_s_renderers_are_waited_for_before_connections_are_closed(
    play: Play, server: PageServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What they still want is else sent over new ones (seen with a page of hundreds of requests, and with no small one)."""
    order: list[str] = []
    wait, clear = page_load.wait_until_ended, Context.clear

    async def waiting(browser_pid: int, before: frozenset[int]) -> None:
        await wait(browser_pid, before)
        order.append("ended" if before - list_renderers(browser_pid) else "there")

    async def clearing(*arguments: Any, **more: Any) -> None:
        order.append("cleared")
        await clear(*arguments, **more)

    monkeypatch.setattr(page_load, "wait_until_ended", waiting)
    monkeypatch.setattr(Context, "clear", clearing)

    async def scene(chromium: Chromium) -> None:
        await chromium.load(LoadRequest(url=f"{server.url}/", timeout_s=20))

    play(scene)
    assert order == ["ended", "cleared"]


def test_a_renderer_that_freezes_after_its_load_event_is_no_hang_of_the_browser(
    play: Play, server: PageServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("resolab.browser.chromium.page.COLLECT_TIMEOUT_S", 1.0)

    async def scene(chromium: Chromium) -> None:
        load = await failing(chromium, f"{server.url}/later-loop")
        assert load.failure is PageFailure.OTHER
        assert "after its load event" in (load.failure_detail or "")
        monkeypatch.undo()
        check_whole((await chromium.load(single(f"{server.url}/"))).measured)

    play(scene)


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/hang-up", "net::ERR_EMPTY_RESPONSE"),
        ("/reset", "net::ERR_CONNECTION_RESET"),
        ("/torn", "net::ERR_CONTENT_LENGTH_MISMATCH"),
        ("/torn-chunk", "net::ERR_INCOMPLETE_CHUNKED_ENCODING"),
    ],
)
def test_a_connection_that_is_dropped_is_a_failed_connection(
    play: Play, server: PageServer, path: str, words: str
) -> None:
    async def scene(chromium: Chromium) -> None:
        load = await failing(chromium, f"{server.url}{path}")
        assert (load.failure, load.failure_detail) == (PageFailure.CONNECT, words)
        check_whole((await chromium.load(single(f"{server.url}/"))).measured)

    play(scene)


def test_certificates_are_refused_for_their_authority_and_for_their_name(
    play: Play, authority: Authority, tmp_path: Path
) -> None:
    stranger = Authority(tmp_path / "stranger")
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
        play(scene)
    finally:
        for server in (good, wrong_name, unknown):
            server.close()


def test_console_errors_are_kept_and_a_frozen_page_leaves_no_screenshot(play: Play, server: PageServer) -> None:
    async def scene(chromium: Chromium) -> None:
        gone = await failing(chromium, f"{server.url}/gone")
        assert gone.screenshot_file is not None
        assert gone.screenshot_file.parent.name == "screenshots"  # which was not there
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

    play(scene)


def test_the_network_log_is_whole_after_a_clean_end_and_the_next_does_not_overwrite_it(
    server: PageServer, tmp_path: Path
) -> None:
    async def scene(chromium: Chromium) -> None:
        check_whole((await chromium.load(single(f"{server.url}/"))).measured)

    settings = msgspec.structs.replace(SETTINGS, netlog_file=tmp_path / "netlog.json")
    for _ in range(2):
        with stage(Chromium, settings) as play:
            play(scene)
    for file in ("netlog.json", "netlog.1.json"):
        log = json.loads((tmp_path / file).read_text())
        assert f"{server.url}/pixel.svg" in {one.get("params", {}).get("url") for one in log["events"]}


def test_nothing_is_kept_of_loads_that_are_over(play: Play, server: PageServer) -> None:
    """A browser serves hundreds of loads: a page kept of each would fill the memory of the campaign's process."""

    async def scene(chromium: Chromium) -> None:
        for _ in range(3):
            check_whole((await chromium.load(LoadRequest(url=f"{server.url}/", timeout_s=20))).measured)
        assert (await failing(chromium, "https://127.0.0.1:9/")).failure is not None
        gc.collect()
        assert [one for one in gc.get_objects() if isinstance(one, ChromiumPage)] == []

    play(scene)
