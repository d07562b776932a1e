"""What Chromium's sessions tell of one load, as one list in which an id is one request's."""

from typing import Any

from resolab.browser import LoadEvents
from resolab.browser.chromium.load_listener.session_merger import SessionMerger
from resolab.extras.recordings.browser_load import read_browser_load
from resolab.extras.recordings.model_builder import build
from resolab.pages.model import Discovery, Evidence

ROOT, FRAME = "https://www.shop.example/", "https://ads.example/frame"
MAIN, INNER = "S-main", "S-frame"
TIMING = {"requestTime": 1.0, "sendEnd": 1, "receiveHeadersEnd": 20}


def merged(*events: tuple[str, str, dict[str, Any]]) -> SessionMerger:
    merging = SessionMerger(MAIN)
    for session, event, params in events:
        merging.take(session, event, params)
    return merging


def sent(session: str, identity: str, url: str, kind: str = "Image", **more: Any) -> tuple[str, str, dict[str, Any]]:
    request = {"url": url, "method": "GET", "headers": {}}
    params = {"requestId": identity, "request": request, "timestamp": 1.0, "type": kind, "frameId": session}
    return session, "Network.requestWillBeSent", params | {"initiator": {"type": "other"}} | more


def answered(session: str, identity: str, mime: str = "text/html") -> tuple[str, str, dict[str, Any]]:
    response = {"status": 200, "mimeType": mime, "timing": TIMING, "headers": {}}
    return session, "Network.responseReceived", {"requestId": identity, "response": response}


def ended(session: str, identity: str, at_s: float = 1.1) -> tuple[str, str, dict[str, Any]]:
    params = {"requestId": identity, "timestamp": at_s, "encodedDataLength": 100}
    return session, "Network.loadingFinished", params


def page_event(session: str, name: str, at_s: float) -> tuple[str, str, dict[str, Any]]:
    return session, f"Page.{name}", {"timestamp": at_s}


def ids(merging: SessionMerger) -> list[str]:
    return [one["params"]["requestId"] for one in merging.messages]


def test_a_frames_document_begins_in_one_session_and_ends_in_another() -> None:
    merging = merged(
        sent(MAIN, "D", ROOT, "Document"), sent(MAIN, "F", FRAME, "Document"), answered(MAIN, "F"), ended(INNER, "F")
    )
    assert ids(merging) == ["D", "F", "F", "F"]


def test_the_same_id_of_two_sessions_is_two_requests() -> None:
    own, others = f"{ROOT}a.png", "https://ads.example/b.png"
    merging = merged(
        sent(MAIN, "7.1", own),
        sent(INNER, "7.1", others),
        ended(INNER, "7.1"),
        answered(MAIN, "7.1"),
        ended(MAIN, "7.1"),
    )
    first, second = ids(merging)[:2]
    assert first != second
    assert ids(merging) == [first, second, second, first, first]


def test_a_request_told_by_two_sessions_is_one_and_may_go_on_in_the_other() -> None:
    moved = {"redirectResponse": {"status": 302, "headers": {}}}
    merging = merged(
        sent(MAIN, "W", f"{ROOT}w.js", "Script"),
        sent(INNER, "W", f"{ROOT}w.js", "Script"),
        sent(INNER, "W", f"{ROOT}w2.js", "Script", **moved),
        ended(INNER, "W"),
    )
    assert [one["method"].partition(".")[2] for one in merging.messages] == [
        "requestWillBeSent", "requestWillBeSent", "loadingFinished",
    ]  # fmt: skip
    assert set(ids(merging)) == {"W"}


def test_a_request_that_begins_or_ends_is_activity_and_nothing_else_is() -> None:
    merging = SessionMerger(MAIN)
    told = [sent(MAIN, "1", ROOT), answered(MAIN, "1"), ended(MAIN, "1"), page_event(MAIN, "loadEventFired", 2.0)]
    assert [merging.take(*one) for one in told] == [True, False, True, False]
    assert not merging.take(MAIN, "Debugger.scriptParsed", {"url": ROOT})
    assert len(merging.messages) == 4


def test_the_load_event_is_the_pages_own_after_its_first_request() -> None:
    merging = merged(
        page_event(MAIN, "loadEventFired", 0.5),
        sent(MAIN, "D", ROOT, "Document"),
        answered(MAIN, "D"),
        page_event(INNER, "loadEventFired", 1.5),
        page_event(MAIN, "loadEventFired", 2.0),
    )
    made = build(
        read_browser_load(LoadEvents(url=ROOT, browser="chromium", version="156", messages=merging.messages)), "x"
    )
    assert made.load_ms == 1000
    assert made.source.async_stacks, "also of a page without any stack"
    assert (made.source.form, made.source.browser) == ("record", "Chromium 156")
    assert made.resources[0].discovery is Discovery.NAVIGATION


def test_the_parser_is_believed_however_late_since_scripts_are_named_themselves() -> None:
    by_parser = {"initiator": {"type": "parser", "url": ROOT, "lineNumber": 0}, "timestamp": 4.0}
    events = merged(
        sent(MAIN, "D", ROOT, "Document"),
        answered(MAIN, "D"),
        ended(MAIN, "D"),
        page_event(MAIN, "domContentEventFired", 3.0),
        sent(MAIN, "1", f"{ROOT}a.png", **by_parser),
        sent(MAIN, "2", f"{ROOT}a.js", "Script", **by_parser),
    )
    made = build(
        read_browser_load(LoadEvents(url=ROOT, browser="chromium", version="156", messages=events.messages)), "x"
    )
    assert [(one.discovery, one.evidence) for one in made.resources[1:]] == [
        (Discovery.DOCUMENT, Evidence.INITIATOR)
    ] * 2
