"""Logs of the Chrome DevTools Protocol: the same load told as events gives the model its HAR gives."""

import json
from pathlib import Path
from typing import Any

import pytest

from resolab.basics.errors import ConfigurationError
from resolab.extras.recordings import import_page
from resolab.pages.model import Discovery, Evidence, Outcome, PageModel

ROOT = "https://www.shop.example/"
Event = dict[str, Any]


def sent(identity: str, url: str, at_s: float, kind: str = "Image", **more: Any) -> Event:
    request = {"url": url, "method": "GET", "headers": more.pop("headers", {}), "initialPriority": "Low"}
    params = {"requestId": identity, "request": request, "timestamp": at_s, "type": kind, "frameId": "F1"}
    return {"method": "Network.requestWillBeSent", "params": params | {"initiator": {"type": "other"}} | more}


def response(status: int = 200, at_s: float = 0.0, **more: Any) -> dict[str, Any]:
    timing = {
        "requestTime": at_s, "dnsStart": 1, "dnsEnd": 4, "connectStart": 4, "connectEnd": 34, "sslStart": 16, "sslEnd": 34,
        "sendStart": 34, "sendEnd": 35, "receiveHeadersEnd": 65,
    }  # fmt: skip
    security = {"sanList": ["www.shop.example", "*.img.example"]}
    return {
        "status": status, "protocol": "h2", "remoteIPAddress": "192.0.2.1", "connectionId": 7, "encodedDataLength": 100,
        "mimeType": "image/png", "headers": {}, "timing": timing, "securityDetails": security,
    } | more  # fmt: skip


def answered(identity: str, **more: Any) -> Event:
    return {"method": "Network.responseReceived", "params": {"requestId": identity, "response": response(**more)}}


def data(identity: str, raw: int) -> Event:
    return {
        "method": "Network.dataReceived",
        "params": {"requestId": identity, "dataLength": raw, "encodedDataLength": 0},
    }


def finished(identity: str, at_s: float, moved: int) -> Event:
    params = {"requestId": identity, "timestamp": at_s, "encodedDataLength": moved}
    return {"method": "Network.loadingFinished", "params": params}


LOAD: list[Event] = [
    sent("1", "http://shop.example/", 10.0, "Document"),
    sent("1", ROOT, 10.1, "Document", redirectResponse=response(301, 10.0, encodedDataLength=150)),
    answered("1", at_s=10.1, mimeType="text/html"),
    data("1", 9_000),
    finished("1", 10.3, 2_100),
    sent("2", f"{ROOT}a.js", 10.2, "Script", initiator={"type": "parser", "url": ROOT, "lineNumber": 4}),
    answered("2", at_s=10.2, mimeType="text/javascript", headers={"Content-Length": "500"}),
    finished("2", 10.4, 600),
    sent(
        "3", "https://img.example/p", 10.6,
        initiator={"type": "script", "stack": {"callFrames": [], "parent": {"callFrames": [{"url": f"{ROOT}a.js"}]}}},
    ),
    {"method": "Network.loadingFailed", "params": {"requestId": "3", "timestamp": 10.9, "errorText": "net::ERR_FAILED"}},
    {"method": "Page.domContentEventFired", "params": {"timestamp": 10.5}},
    {"method": "Page.loadEventFired", "params": {"timestamp": 10.95}},
]  # fmt: skip


@pytest.mark.parametrize("lines", [False, True], ids=["array", "lines"])
def test_events_become_a_page(tmp_path: Path, *, lines: bool) -> None:
    text = "\n".join(map(json.dumps, LOAD)) if lines else json.dumps(LOAD)
    (tmp_path / "log.json").write_text(text)
    made = import_page(tmp_path / "log.json", "log")
    assert [one.discovery for one in made.resources] == [
        Discovery.NAVIGATION, Discovery.REDIRECT, Discovery.DOCUMENT, Discovery.SCRIPT,
    ]  # fmt: skip
    assert [one.parent for one in made.resources] == [None, 0, 1, 2]
    assert [one.outcome for one in made.resources][-1] is Outcome.FAILED
    document, script = made.resources[1:3]
    assert (document.wire_bytes, document.raw_bytes) == (2_000, 9_000)
    assert (script.wire_bytes, script.raw_bytes) == (500, 500)
    assert (script.server_time_ms, document.receive_ms) == (18, 135)
    assert (made.load_ms, made.dom_content_loaded_ms) == (950, 500)
    assert made.source.async_stacks
    assert made.hosts[1].round_trip_ms == 12
    assert [host.certificate for host in made.hosts] == [0, 0, None], "the same names"


def heads(identity: str, event: str, **fields: Any) -> Event:
    return {"method": f"Network.{event}ExtraInfo", "params": {"requestId": identity, "headers": fields}}


def imported(folder: Path, *events: Event) -> PageModel:
    (folder / "log.json").write_text(json.dumps([*LOAD, *events]))
    return import_page(folder / "log.json", "log")


def test_heads_of_the_wire_belong_to_the_request_of_their_turn_however_early_or_late(tmp_path: Path) -> None:
    """They come from another process: those of a redirection after its target began, others before their request."""
    url = "https://a.example/moved"
    made = imported(
        tmp_path,
        heads("9", "requestWillBeSent", Cookie="a=1"),
        sent("9", url, 11.0),
        sent("9", f"{url}2", 11.1, redirectResponse=response(302, 11.0), redirectHasExtraInfo=True),
        heads("9", "responseReceived", **{"Content-Length": "0", "Location": f"{url}2"}),
        heads("9", "requestWillBeSent", **{"Content-Length": "33"}),
        heads("9", "responseReceived", **{"Content-Length": "4321"}),
        answered("9", at_s=11.1),
        finished("9", 11.2, 4_500),
    )
    moved, target = made.resources[-2:]
    assert (moved.wire_bytes, target.wire_bytes) == (0, 4321)
    assert (moved.request_bytes, target.request_bytes) == (0, 33)
    assert (target.discovery, target.parent) == (Discovery.REDIRECT, len(made.resources) - 2)


def test_a_hop_the_network_did_not_see_has_no_heads_of_the_wire(tmp_path: Path) -> None:
    inner = {"redirectResponse": response(307, 11.0), "redirectHasExtraInfo": False}
    made = imported(
        tmp_path,
        sent("9", "http://a.example/up", 11.0),
        sent("9", "https://a.example/up", 11.01, **inner),
        heads("9", "responseReceived", **{"Content-Length": "77"}),
        answered("9", at_s=11.1),
        finished("9", 11.2, 200),
    )
    assert [one.wire_bytes for one in made.resources[-2:]] == [0, 77]


def test_a_redirect_the_browser_made_itself_is_none_of_the_network(tmp_path: Path) -> None:
    """As Chromium 156 tells it: no address, no connection, no bytes."""
    heads = {"Location": "https://a.example/up", "Non-Authoritative-Reason": "HSTS"}
    timing = {"requestTime": 11.0, "sendStart": 0.05, "sendEnd": 0.05, "receiveHeadersEnd": 0.05}
    inner = {"status": 307, "statusText": "Internal Redirect", "headers": heads, "connectionId": 0, "timing": timing}
    by_markup = {"initiator": {"type": "parser", "url": ROOT, "lineNumber": 5}}
    made = imported(
        tmp_path,
        sent("9", "http://a.example/up", 10.15, **by_markup),
        sent("9", "https://a.example/up", 10.16, redirectResponse=inner, redirectHasExtraInfo=False, **by_markup),
        answered("9", at_s=10.16),
        finished("9", 10.3, 200),
    )
    assert [one.status for one in made.resources] == [301, 200, 200, 200, 0]
    upgraded = made.resources[2]
    assert (upgraded.parent, upgraded.discovery, upgraded.start_ms) == (1, Discovery.DOCUMENT, 150)
    assert {loss.what: loss.count for loss in made.losses}["redirects the browser made itself (HSTS)"] == 1


def test_a_second_request_that_a_cache_answers_is_none_of_a_first_visit(tmp_path: Path) -> None:
    url = "https://a.example/twice"
    of_cache = answered("8", at_s=11.3, fromDiskCache=True)
    made = imported(
        tmp_path, sent("7", url, 11.0), answered("7"), finished("7", 11.1, 200), sent("8", url, 11.3), of_cache
    )
    losses = {loss.what: loss.count for loss in made.losses}
    assert losses["requests answered by what the same load had fetched"] == 1
    assert losses["requests that had not ended when the recording did"] == 1
    assert len(made.resources) == 5


def test_a_workers_script_is_no_markup_of_the_document_that_is_named(tmp_path: Path) -> None:
    named = {"initiator": {"type": "other", "url": ROOT}, "headers": {"Sec-Fetch-Dest": "worker"}}
    made = imported(
        tmp_path, sent("9", f"{ROOT}w.js", 11.0, "Script", **named), answered("9", at_s=11.0), finished("9", 11.1, 200)
    )
    worker = made.resources[-1]
    assert (worker.discovery, worker.evidence, worker.parent) == (Discovery.SCRIPT, Evidence.INFERRED, 2)


def test_a_line_that_is_no_event_is_lost_by_name(tmp_path: Path) -> None:
    (tmp_path / "log.json").write_text(json.dumps([*LOAD, 7, {"id": 3, "result": {}}]))
    made = import_page(tmp_path / "log.json", "log")
    assert next(loss.count for loss in made.losses if loss.what == "messages that are no events") == 2


@pytest.mark.parametrize("text", ["[1, 2", '[{"method": "Page.loadEventFired", "params": {"timestamp": 1}}]'])
def test_a_log_without_a_page_is_one_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "log.json").write_text(text)
    with pytest.raises(ConfigurationError, match=r"no CDP log|no request of a page"):
        import_page(tmp_path / "log.json", "log")
