"""A load that is listened to, and `page record`: who asked for what, and that nothing of the page stands in the file."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from resolab.basics.records import PageFailure
from resolab.browser import BrowserSettings, Chromium, Firefox, ListeningRequest, LoadEvents
from resolab.cli.main import main
from resolab.extras.recordings.browser_load import read_browser_load
from resolab.extras.recordings.inference.discoverers import LATE_AFTER_MS
from resolab.extras.recordings.model_builder import build
from resolab.pages.model import Discovery, Evidence, PageModel, Resource

sys.path.insert(0, str(Path(__file__).parent))
from authority import Authority
from driver_scene import Driver, Play, stage
from heard_site import SECRET, TIMER_MS, HeardSite

pytestmark = [pytest.mark.browser, pytest.mark.slow]
LIMIT_S = 60
"""Of loads that end well; the machine may be busy."""
BY_PARSER = {".css": "/", "-async.js": "/", "-1.svg": "/", "-2.svg": "/", "-moved": "/", "-frame.js": "-frame"}
"""What markup names, and the document it stands in."""


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("heard") / "authority")


@pytest.fixture(scope="module", params=[Chromium, Firefox], ids=["chromium", "firefox"])
def play(request: pytest.FixtureRequest, authority: Authority) -> Iterator[Play]:
    with stage(request.param, BrowserSettings(resolvable_names=("*",), ca_file=authority.file)) as play:
        yield play


@pytest.fixture
def site(authority: Authority) -> Iterator[HeardSite]:
    site = HeardSite(authority)
    yield site
    site.close()


def model_of(heard: LoadEvents) -> tuple[PageModel, dict[str, int], float]:
    """The model, the place of each path in it, the secret word left out, and how long after its document a frame was asked for."""
    recording = read_browser_load(heard)
    model = build(recording, "heard")
    assert len(recording.exchanges) == len(model.resources)
    paths = [f"/{one.url.partition('?')[0].split('/', 3)[3]}" for one in recording.exchanges]
    places = {path.replace(f"/{SECRET}", ""): place for place, path in enumerate(paths)}
    frame, document = (recording.exchanges[places[path]] for path in ("-frame", "/"))
    return model, places, frame.start_ms - document.end_ms


def check_what_both_tell(model: PageModel, places: dict[str, int], site: HeardSite, frame_ms: float) -> None:
    assert len(model.resources) == len(site.asked), "each request once, the worker's and the frame's among them"

    def found(path: str) -> Resource:
        return model.resources[places[path]]

    for path, document in BY_PARSER.items():
        assert found(path).discovery is Discovery.DOCUMENT, path
        assert (found(path).parent, found(path).evidence) == (places[document], Evidence.INITIATOR), path
    frame = found("-frame")
    # Firefox names nobody who asked for a frame: what comes much later than its document is taken for a script's.
    if frame.evidence is Evidence.INITIATOR or frame_ms <= LATE_AFTER_MS:
        assert (frame.discovery, frame.parent) == (Discovery.DOCUMENT, 0)
    assert (found("-target.svg").discovery, found("-target.svg").parent) == (Discovery.REDIRECT, places["-moved"])
    for path in ("-background.svg", ".woff2"):
        assert (found(path).discovery, found(path).parent) == (Discovery.STYLESHEET, places[".css"]), path
    assert found("-of-worker.json").parent == places["-worker.js"]
    assert (found("-by-frame.svg").parent, found("-by-frame.svg").frame) == (places["-frame.js"], places["-frame"])
    assert [host.site for host in model.hosts] == [0, 1]
    assert found("-timer.svg").after_load
    assert model.load_ms is not None
    # The timer runs from the load event's handler; the recorded instant of the event is up to some ms later.
    assert found("-timer.svg").start_ms >= model.load_ms + TIMER_MS - 10


def test_each_request_has_its_discoverer_and_a_second_load_nothing_of_the_first(play: Play, site: HeardSite) -> None:
    async def scene(driver: Driver) -> None:
        request = ListeningRequest(url=f"{site.url()}/", timeout_s=LIMIT_S)
        for _ in range(2):
            site.asked.clear()
            heard = await driver.listen(request)
            assert (heard.failure, heard.failure_detail, heard.status) == (None, None, 200)
            model, places, frame_ms = model_of(heard)
            check_what_both_tell(model, places, site, frame_ms)
            assert heard.load_ms == pytest.approx(model.load_ms, abs=0.01)
        if driver.name == "chromium":
            _check_scripts(model, places)
        else:
            assert any("Firefox names none" in loss.what for loss in model.losses)

    play(scene)


def _check_scripts(model: PageModel, places: dict[str, int]) -> None:
    """Chromium names scripts, through promises and timers, too."""
    wanted = {
        "-data.json": (Discovery.SCRIPT, "-async.js"),
        "-by-frame.svg": (Discovery.SCRIPT, "-frame.js"),
        "-of-worker.json": (Discovery.SCRIPT, "-worker.js"),
        "-timer.svg": (Discovery.INLINE_SCRIPT, "/"),
    }
    for path, (discovery, parent) in wanted.items():
        one = model.resources[places[path]]
        assert (one.discovery, one.parent, one.evidence) == (discovery, places[parent], Evidence.INITIATOR), path
    timed = model.resources[places["-timer.svg"]]
    assert timed.due_ms is not None
    assert timed.due_ms >= TIMER_MS


def test_workers_of_every_kind_are_heard_and_what_no_clone_repeats_is_named(play: Play, site: HeardSite) -> None:
    unkept = {f"/{SECRET}-socket", f"/{SECRET}-events"}

    async def scene(driver: Driver) -> None:
        heard = await driver.listen(ListeningRequest(url=f"{site.url()}/{SECRET}-workers", timeout_s=LIMIT_S))
        recording = read_browser_load(heard)
        asked = sorted(one.url.removeprefix(site.url()) for one in recording.exchanges)
        assert asked == sorted(path for path in site.asked if path not in unkept)
        assert {f"/{SECRET}-of-service.json", f"/{SECRET}-of-shared.json"} <= set(asked)
        assert recording.losses["requests of type websocket"] == recording.losses["requests of type eventsource"] == 1

    play(scene)


def test_a_page_with_a_dialog_that_goes_elsewhere_is_where_it_went(play: Play, site: HeardSite) -> None:
    async def scene(driver: Driver) -> None:
        request = ListeningRequest(url=f"{site.url()}/{SECRET}-elsewhere", timeout_s=LIMIT_S, quiet_after_s=2)
        heard = await driver.listen(request)
        assert (heard.failure, heard.failure_detail, heard.status) == (None, None, 200)
        assert heard.load_ms is not None
        asked = {one.url.removeprefix(site.url()) for one in read_browser_load(heard).exchanges}
        assert {f"/{SECRET}-elsewhere", "/", f"/{SECRET}-timer.svg"} <= asked

    play(scene)


def test_a_load_without_an_end_fails_in_its_time_and_tells_what_it_had(play: Play, authority: Authority) -> None:
    silent = HeardSite(authority, silent=frozenset({f"/{SECRET}-1.svg"}))

    async def scene(driver: Driver) -> None:
        heard = await driver.listen(ListeningRequest(url=f"{silent.url()}/", timeout_s=8))
        assert (heard.failure, heard.load_ms) == (PageFailure.PAGE_TIMEOUT, None)
        assert len(read_browser_load(heard).exchanges) > 5
        assert driver.usable

    try:
        play(scene)
    finally:
        silent.close()


@pytest.mark.parametrize("browser", ["chromium", "firefox"])
def test_a_recorded_page_is_a_file_without_a_word_of_it(
    browser: str, site: HeardSite, authority: Authority, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "shop.page.json"
    command = ["page", "record", f"{site.url()}/", "-o", str(file), "--browser", browser, "--ca", str(authority.file)]
    assert main([*command, "--timeout", str(LIMIT_S), "--json"]) == 0
    written, told = file.read_text(), json.loads(capsys.readouterr().out)
    assert (told["page"], told["facts"]["requests_count"]) == ("shop", len(site.asked))
    for word in (SECRET, "127.0.0", "http", ".svg", ".js", "?q"):
        assert word not in written, word
    assert main(command) == 3, "it is not written over"
    assert "--force" in capsys.readouterr().err


@pytest.mark.parametrize("browser", ["chromium", "firefox"])
def test_certificates_are_checked(
    browser: str, site: HeardSite, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["page", "record", f"{site.url()}/", "-o", str(tmp_path), "--browser", browser]) == 3
    assert "its certificate was refused; a private authority is trusted with --ca" in capsys.readouterr().err
    assert site.asked == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("url", "code", "words"),
    [
        ("https://unknown.invalid/", 3, "its name was not resolved"),
        ("SITE/gone", 3, "status 404|answered with no page"),
        ("http://127.0.0.1:1/", 3, "load failed|no connection"),
    ],
    ids=["name", "status", "connection"],
)
def test_what_cannot_be_recorded_is_one_line(
    url: str,
    code: int,
    words: str,
    authority: Authority,
    site: HeardSite,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    url = url.replace("SITE", site.url())
    assert main(["page", "record", url, "-o", str(tmp_path), "--ca", str(authority.file)]) == code
    last = capsys.readouterr().err.strip().rpartition("\n")[2]
    assert any(word in last for word in words.split("|")), last
    assert list(tmp_path.iterdir()) == []


def test_a_load_event_that_does_not_come_is_a_deadline(
    authority: Authority, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    silent = HeardSite(authority, silent=frozenset({f"/{SECRET}-1.svg"}))
    try:
        command = ["page", "record", f"{silent.url()}/", "-o", str(tmp_path), "--ca", str(authority.file)]
        assert main([*command, "--timeout", "2"]) == 5
    finally:
        silent.close()
    assert "no load event within 2 s; give more with --timeout" in capsys.readouterr().err


@pytest.mark.parametrize("said", ["ftp://a.example/", "https://", "http://a.example:port/"])
def test_what_is_no_page_of_the_web_is_a_usage_error(said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["page", "record", said]) == 2
    assert "give https://HOST/" in capsys.readouterr().err
