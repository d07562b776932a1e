"""What a page asked its service worker for is one request, whoever tells it twice."""

import json
from typing import Any

import pytest
from made_har import SITE, document, entry, har

from resolab.browser import LoadEvents
from resolab.extras.recordings.browser_load import read_browser_load
from resolab.extras.recordings.har.reader import read_har
from resolab.extras.recordings.model_builder import build
from resolab.pages.model import Discovery, Kind, PageModel

ROOT = f"{SITE}/"
WORKER = entry("/sw.js", 130, "script", script=[ROOT])
TWICE = "requests of service workers for what the page asked them for"
TAKEN = "requests answered by a cache, taken for fetched"
KNOWN = "requests answered by what the same load had fetched"


def model(*entries: dict[str, Any]) -> PageModel:
    return build(read_har(json.dumps(har(document(), WORKER, *entries)).encode(), "made"), "made")


def losses(made: PageModel) -> dict[str, int]:
    told = {loss.what: loss.count for loss in made.losses}
    return {what: told[what] for what in (TWICE, TAKEN, KNOWN) if what in told}


def by_page(url: str, start: float, kind: str = "image", **more: Any) -> dict[str, Any]:
    return entry(url, start, kind, wait=40, receive=5, **({"_fetchedViaServiceWorker": True, "script": [ROOT]} | more))


def by_worker(url: str, start: float, **more: Any) -> dict[str, Any]:
    return entry(url, start, "fetch", script=[f"{SITE}/sw.js"], **more)


@pytest.mark.parametrize("field", ["_fetchedViaServiceWorker", "fromServiceWorker"])
def test_the_page_s_request_has_the_network_s_answer(field: str) -> None:
    asked = entry("/a.png", 200, "image", wait=40, receive=5, script=[ROOT], size=7, **{field: True})
    own = by_worker("/a.png", 203, connection="9", wait=30, receive=4, answered={"alt-svc": "h3"})
    made = model(asked, own)
    image = made.resources[2]
    assert (image.kind, image.parent, image.discovery) == (Kind.IMAGE, 0, Discovery.INLINE_SCRIPT)
    assert (image.start_ms, image.first_byte_ms, image.server_time_ms, image.wire_bytes) == (200, 233, 30, 1000)
    assert (made.hosts[0].alt_svc, made.hosts[0].connection_count) == (True, 1)
    assert len(made.resources) == 3
    assert losses(made) == {TWICE: 1}


def test_each_request_of_the_page_has_one_of_the_worker_s() -> None:
    asked = [by_page("/a.json", start, "fetch") for start in (200, 201, 300)]
    own = [by_worker("/a.json", start) for start in (202, 203, 301)]
    made = model(*asked, *own)
    assert [one.start_ms for one in made.resources[2:]] == [200, 201, 300]
    assert [one.parent for one in made.resources[2:]] == [0, 0, 0]
    assert losses(made) == {TWICE: 3}


def test_what_a_worker_asks_for_before_or_after_is_its_own() -> None:
    kept, later = by_worker("/kept.png", 150), by_worker("/old.png", 400)
    made = model(kept, by_page("/kept.png", 200), by_page("/old.png", 210), later)
    assert [(one.start_ms, one.parent) for one in made.resources[2:]] == [(150, 1), (210, 0), (400, 1)]
    assert losses(made) == {KNOWN: 1, TAKEN: 1}


def test_without_the_worker_s_the_page_s_are_taken_for_fetched_once() -> None:
    made = model(by_page("/a.png", 200), by_page("/a.png", 300), entry("/a.png", 400, fromDiskCache=True))
    assert len(made.resources) == 3
    assert losses(made) == {TAKEN: 1, KNOWN: 2}


FRAME = {"frameId": "F1", "initiator": {"type": "script", "stack": {"callFrames": [{"url": ROOT}]}}}
OF_WORKER = {"initiator": {"type": "script", "stack": {"callFrames": [{"url": f"{ROOT}sw.js"}]}}}


def sent(identity: str, url: str, at_s: float, kind: str = "Fetch", **more: Any) -> dict[str, Any]:
    request = {"url": url, "method": "GET", "headers": {}}
    params = {"requestId": identity, "request": request, "timestamp": at_s, "type": kind} | more
    return {"method": "Network.requestWillBeSent", "params": params}


def ended(identity: str, at_s: float, **more: Any) -> list[dict[str, Any]]:
    """Make an answer and its end; `fromServiceWorker` among `more` where one gave it."""
    response = {"status": 200, "headers": {}, "encodedDataLength": 100} | more
    end = {"requestId": identity, "timestamp": at_s, "encodedDataLength": 300}
    return [
        {"method": "Network.responseReceived", "params": {"requestId": identity, "response": response}},
        {"method": "Network.loadingFinished", "params": end},
    ]


def heard(*events: dict[str, Any]) -> PageModel:
    page = [sent("D", ROOT, 10.0, "Document", frameId="F1"), *ended("D", 10.1)]
    script = [sent("W", f"{ROOT}sw.js", 10.15, "Script"), *ended("W", 10.2)]
    messages = [*page, *script, *events]
    return build(read_browser_load(LoadEvents(url=ROOT, browser="chromium", version="156", messages=messages)), "x")


def test_a_worker_that_is_redirected_leads_where_the_page_s_request_goes() -> None:
    """As Chromium 156 tells it: the page's request knows of no redirect, the worker's has no frame."""
    moved, found = f"{ROOT}moved.png", f"{ROOT}found.png"
    redirect = {"redirectResponse": {"status": 302, "headers": {"Location": found}}, "initiator": {"type": "other"}}
    made = heard(
        sent("1", moved, 10.3, "Image", **FRAME),
        sent("2", moved, 10.304, **OF_WORKER),
        sent("2", found, 10.309, **redirect),
        *ended("2", 10.356, remoteIPAddress="192.0.2.1", connectionId=35),
        *ended("1", 10.357, fromServiceWorker=True, connectionId=0),
    )
    assert [(one.status, one.parent, one.kind) for one in made.resources[2:]] == [
        (302, 0, Kind.IMAGE), (200, 2, Kind.IMAGE),
    ]  # fmt: skip
    assert losses(made) == {TWICE: 1}


def test_a_page_s_own_request_past_its_worker_is_not_the_worker_s() -> None:
    url = f"{ROOT}a.json"
    asked = [sent("1", url, 10.3, **FRAME), sent("2", url, 10.31, **FRAME)]
    made = heard(*asked, *ended("2", 10.35), *ended("1", 10.36, fromServiceWorker=True))
    assert [one.parent for one in made.resources[2:]] == [0, 0]
    assert losses(made) == {TAKEN: 1}
