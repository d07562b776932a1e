"""Logs of the DevTools protocol with more than one navigation: the first page that was answered is the page."""

import json
from pathlib import Path
from typing import Any

import pytest
from test_cdp_log import ROOT, answered, finished, response, sent

from resolab.basics.errors import ConfigurationError
from resolab.browser import LoadEvents
from resolab.extras.recordings import import_page
from resolab.extras.recordings.browser_load import read_browser_load
from resolab.extras.recordings.model_builder import build
from resolab.pages.model import PageModel

Event = dict[str, Any]
OTHERS, BEFORE = "requests of further pages of the file", "requests from before the page's own"


def page(event: str, **params: Any) -> Event:
    return {"method": f"Page.{event}", "params": params}


def committed(loader: str, url: str = ROOT, frame: str = "F1", **more: Any) -> Event:
    return page("frameNavigated", frame={"id": frame, "loaderId": loader, "url": url} | more)


def request(identity: str, url: str, at_s: float, kind: str = "Image", **more: Any) -> list[Event]:
    return [
        sent(identity, url, at_s, kind, **more),
        answered(identity, at_s=at_s),
        finished(identity, at_s + 0.1, 1_100),
    ]


def load(number: int, at_s: float, url: str = ROOT, **more: Any) -> list[Event]:
    """Load a page of two requests; as Chromium tells it, its document's request has the loader's id."""
    loader = f"L{number}"
    return [
        *request(loader, url, at_s, "Document", loaderId=loader, **more),
        committed(loader, url, more.get("frameId", "F1")),
        *request(f"{number}.2", f"{url}{number}.js", at_s + 0.2, "Script", loaderId=loader),
        page("domContentEventFired", timestamp=at_s + 0.4),
        page("loadEventFired", timestamp=at_s + 0.5),
    ]


def model(folder: Path, *events: Event) -> PageModel:
    (folder / "log.json").write_text(json.dumps(events))
    return import_page(folder / "log.json", "log", keep_names=True)


def told(made: PageModel) -> tuple[int, float | None, float | None]:
    return len(made.resources), made.load_ms, made.dom_content_loaded_ms


def lost(made: PageModel) -> dict[str, int]:
    return {loss.what: loss.count for loss in made.losses}


def test_of_two_loads_the_first_is_the_page_and_the_other_is_told(tmp_path: Path) -> None:
    made = model(tmp_path, *load(1, 10), *load(2, 20), *load(3, 30))
    assert told(made) == (2, 500, 400)
    assert lost(made)[OTHERS] == 4


@pytest.mark.parametrize("loader", [None, "L"], ids=["no loader", "one loader for all"])
def test_two_loads_are_told_apart_by_order_where_loaders_say_nothing(tmp_path: Path, loader: str | None) -> None:
    events = [event for event in (*load(1, 10), *load(2, 20)) if event["method"] != "Page.frameNavigated"]
    for event in events:
        if "loaderId" in event["params"]:
            event["params"]["loaderId"] = loader
    made = model(tmp_path, *events)
    assert (told(made), lost(made)[OTHERS]) == ((2, 500, 400), 2)


def test_a_cross_site_navigation_may_have_another_frame(tmp_path: Path) -> None:
    """Chromium before 2019 made a new frame of it."""
    made = model(tmp_path, *load(1, 10), *load(2, 20, "https://other.example/", frameId="F2"))
    assert (told(made), lost(made)[OTHERS]) == ((2, 500, 400), 2)


def test_documents_of_frames_inside_are_of_the_page(tmp_path: Path) -> None:
    inside = {"frameId": "F9", "loaderId": "L9"}
    made = model(
        tmp_path,
        *load(1, 10)[:-1],
        page("frameAttached", frameId="F9", parentFrameId="F1"),
        *request("L9", "https://ads.example/", 10.3, "Document", **inside),
        committed("L9", "https://ads.example/", "F9", parentId="F1"),
        *request("9.2", "https://ads.example/a.png", 10.4, **inside),
        page("loadEventFired", timestamp=10.9),
    )
    assert (told(made), OTHERS in lost(made)) == ((4, 900, 400), False)


def test_what_a_page_asks_for_while_it_is_left_is_its_own(tmp_path: Path) -> None:
    second = load(2, 20)
    made = model(
        tmp_path,
        *load(1, 10),
        second[0],
        *request("1.8", "https://beacon.example/", 20.01, "Ping", loaderId="L1"),
        *request("1.9", "https://frame.example/", 20.02, "Ping", loaderId="of a frame inside"),
        *second[1:],
    )
    assert [host.name for host in made.hosts] == ["www.shop.example", "beacon.example", "frame.example"]


def test_load_events_of_blank_and_error_pages_are_none_of_the_page(tmp_path: Path) -> None:
    failed = {"method": "Network.loadingFailed", "params": {"requestId": "L0", "timestamp": 9.0, "errorText": "net::X"}}
    made = model(
        tmp_path,
        committed("L-1", "data:,"),
        page("domContentEventFired", timestamp=8.1),
        page("loadEventFired", timestamp=8.2),
        sent("L0", ROOT, 8.5, "Document", loaderId="L0"),
        failed,
        committed("L0", "chrome-error://chromewebdata/"),
        page("loadEventFired", timestamp=9.5),
        *load(1, 10),
        committed("L-2", "about:blank"),
        page("loadEventFired", timestamp=12.0),
    )
    assert told(made) == (2, 500, 400)
    assert lost(made)[BEFORE] == 1


def test_without_a_load_event_of_the_page_it_is_a_loss(tmp_path: Path) -> None:
    blank = [committed("L-1", "data:,"), page("loadEventFired", timestamp=9.9)]
    made = model(tmp_path, *blank, *load(1, 10)[:-1])
    assert (made.load_ms, lost(made)["the time of the load event"]) == (None, 0)


def test_a_page_that_goes_elsewhere_by_script_before_it_has_loaded_is_one_load_with_where_it_goes(
    tmp_path: Path,
) -> None:
    by_script = {"initiator": {"type": "script", "stack": {"callFrames": [{"url": ROOT}]}}}
    elsewhere = load(2, 10.3, "https://elsewhere.example/", **by_script)
    made = model(tmp_path, *load(1, 10)[:-2], *elsewhere)
    assert (told(made), OTHERS in lost(made)) == ((4, 800, 700), False)
    after = load(2, 10.6, "https://elsewhere.example/", **by_script)
    made = model(tmp_path, *load(1, 10), *after)
    assert (told(made), lost(made)[OTHERS]) == ((2, 500, 400), 2)


def test_a_navigation_that_is_redirected_is_one(tmp_path: Path) -> None:
    moved = sent("L1", "http://shop.example/", 9.9, "Document", loaderId="L1")
    first, *rest = load(1, 10)
    first["params"]["redirectResponse"] = response(301, 9.9)
    made = model(tmp_path, moved, first, *rest)
    assert [one.status for one in made.resources] == [301, 200, 200]
    assert made.load_ms == 600


def test_a_load_of_our_own_is_followed_however_its_page_goes_on_until_it_has_loaded() -> None:
    """Nobody else navigates; by `meta refresh`, no script is named."""
    events = [
        one for one in (*load(1, 10)[:-2], *load(2, 10.3), *load(3, 20)) if one["method"] != "Page.frameNavigated"
    ]
    heard = LoadEvents(url=ROOT, browser="chromium", version="1", messages=events)
    made = build(read_browser_load(heard), "heard")
    assert (told(made), lost(made)[OTHERS]) == ((4, 800, 700), 2)


def test_a_log_without_an_answered_page_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"was not answered with a document \(answers: none\)"):
        model(tmp_path, sent("L1", ROOT, 10, "Document", loaderId="L1"), *request("1.2", f"{ROOT}a.js", 10.2, "Script"))
