"""Firefox's rows of a load: who asked, as far as it tells, and when."""

from typing import Any

import pytest

from resolab.basics.errors import ConfigurationError
from resolab.browser import LoadEvents
from resolab.extras.recordings.browser_load import read_browser_load
from resolab.extras.recordings.model_builder import build
from resolab.pages.model import Discovery, Evidence, Kind, PageModel

ROOT = "https://www.shop.example/"
BEGAN_US = 1_700_000_000_000_000


def row(url: str, at_ms: float, policy: str = "image", **more: Any) -> dict[str, Any]:
    opened = BEGAN_US + at_ms * 1000
    return {
        "url": url, "method": "GET", "policy": policy, "internalPolicy": f"internal_{policy}", "initiatorType": None,
        "referrer": ROOT, "contextId": 11, "frameContextId": None, "isParserMade": False, "corsMode": 1, "priority": 0,
        "sendsCookies": False, "sendsOrigin": False, "isPreflight": False, "requestBytes": 0, "status": 200,
        "location": None, "mime": None, "contentLength": "100", "isCoded": False, "advertisesH3": False,
        "protocol": "h2", "address": "192.0.2.1", "certificate": "AA:BB", "encodedBytes": 100, "decodedBytes": None,
        "error": None, "openUs": opened, "dnsStartUs": 0, "dnsEndUs": 0, "connectStartUs": 0, "secureStartUs": 0,
        "connectEndUs": 0, "requestUs": opened + 1_000, "responseUs": opened + 21_000, "endUs": opened + 31_000,
        "fromCache": False, "openedMs": opened // 1000, "endedMs": opened // 1000 + 31,
    } | more  # fmt: skip


DOCUMENT = row(
    ROOT, 0, "document", internalPolicy="document", referrer=None, dnsStartUs=BEGAN_US + 500, dnsEndUs=BEGAN_US + 2_500,
    connectStartUs=BEGAN_US + 2_500, secureStartUs=BEGAN_US + 14_500, connectEndUs=BEGAN_US + 34_500,
    requestUs=BEGAN_US + 35_000, responseUs=BEGAN_US + 60_000, endUs=BEGAN_US + 90_000,
)  # fmt: skip


def model(*rows: dict[str, Any]) -> PageModel:
    heard = LoadEvents(
        url=ROOT, browser="firefox", version="153", rows=[DOCUMENT, *rows],
        loaded_unix_ms=BEGAN_US / 1000 + 400, complete_unix_ms=BEGAN_US / 1000 + 200,
    )  # fmt: skip
    return build(read_browser_load(heard), "x")


def test_times_are_the_channels_since_the_pages_own_request() -> None:
    made = model(row(f"{ROOT}late.png", 450))
    document, late = made.resources
    assert (made.load_ms, made.dom_content_loaded_ms) == (400, 200)
    assert (document.first_byte_ms, document.receive_ms) == (60, 30)
    assert made.hosts[0].round_trip_ms == 12
    assert (late.start_ms, late.after_load) == (450, True)
    assert (document.wire_bytes, late.priority) == (100, "Medium")


def test_the_parser_is_believed_where_it_made_the_element_or_read_ahead() -> None:
    ahead = row(f"{ROOT}a.png", 95, internalPolicy="internal_image_preload", initiatorType="img")
    made_by_it = row(f"{ROOT}b.js", 700, "script", isParserMade=True)
    unknown = row(f"{ROOT}c.png", 800)
    found = [(one.discovery, one.parent, one.evidence) for one in model(ahead, made_by_it, unknown).resources[1:]]
    assert found[0] == (Discovery.DOCUMENT, 0, Evidence.INITIATOR)
    assert found[1] == (Discovery.DOCUMENT, 0, Evidence.INITIATOR)
    assert found[2][2] is Evidence.INFERRED


def test_a_preload_is_told_from_reading_ahead() -> None:
    linked = row(f"{ROOT}a.js", 95, "script", internalPolicy="internal_script_preload", initiatorType="link")
    sheet = row(f"{ROOT}a.css", 96, "stylesheet", internalPolicy="internal_stylesheet_preload", initiatorType="link")
    assert [one.preload for one in model(linked, sheet).resources] == [False, True, False]


def test_style_sheets_and_workers_are_their_requests_referrers() -> None:
    sheet = row(f"{ROOT}a.css", 95, "stylesheet", isParserMade=True)
    font = row(f"{ROOT}a.woff2", 150, "font", internalPolicy="font", referrer=f"{ROOT}a.css")
    asking = row(f"{ROOT}a.js", 96, "script", isParserMade=True)
    worker = row(f"{ROOT}w.js", 200, "script", internalPolicy="internal_worker")
    of_worker = row(f"{ROOT}w.json", 300, "fetch", internalPolicy="fetch", referrer=f"{ROOT}w.js", contextId=None)
    found = model(sheet, asking, font, worker, of_worker).resources
    assert [(one.discovery, one.parent, one.evidence) for one in found[3:]] == [
        (Discovery.STYLESHEET, 1, Evidence.REFERER),
        (Discovery.SCRIPT, 2, Evidence.INFERRED),
        (Discovery.SCRIPT, 4, Evidence.INITIATOR),
    ]


def test_a_frame_is_known_by_its_context_whatever_the_referrer() -> None:
    frame = row("https://ads.example/f", 95, "subdocument", frameContextId=77, internalPolicy="internal_iframe")
    inside = row("https://ads.example/i.png", 150, referrer=None, contextId=77)
    found = model(frame, inside).resources
    assert (found[1].kind, found[1].frame) == (Kind.DOCUMENT, 0)
    assert (found[2].frame, found[2].parent) == (1, 1)


def test_a_redirection_leads_where_its_location_says() -> None:
    moved = row(f"{ROOT}m", 95, status=302, location="https://cdn.example/t.png", encodedBytes=0, contentLength="0")
    target = row("https://cdn.example/t.png", 130)
    found = model(moved, target).resources
    assert (found[2].discovery, found[2].parent) == (Discovery.REDIRECT, 1)
    assert (found[1].status, found[1].wire_bytes) == (302, 0)


def test_what_is_no_request_of_a_clone_or_not_told_is_lost_by_name() -> None:
    made = model(
        row(f"{ROOT}a.png", 95, encodedBytes=50, isCoded=True),
        row(f"{ROOT}a.png", 120, fromCache=True),
        row(f"{ROOT}socket", 130, "websocket"),
        row(f"{ROOT}events", 140, "xmlhttprequest", internalPolicy="internal_eventsource"),
        row(f"{ROOT}hang", 150, status=None, requestUs=0, responseUs=0, endUs=0, endedMs=None),
    )
    losses = {loss.what: loss.count for loss in made.losses}
    assert losses["requests answered by what the same load had fetched"] == 1
    assert losses["requests of type websocket"] == losses["requests of type eventsource"] == 1
    assert losses["requests that had not ended when the recording did"] == 1
    assert losses["sizes without content coding"] == 1
    assert losses["which script asked (Firefox names none)"] == 0
    assert len(made.resources) == 3


def test_a_load_without_requests_is_one_line() -> None:
    with pytest.raises(ConfigurationError, match="what firefox was heard to ask for: it has no request"):
        read_browser_load(LoadEvents(url=ROOT, browser="firefox", version="153"))
