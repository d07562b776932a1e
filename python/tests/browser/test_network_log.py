"""Request rows from Network events as Chromium sends them."""

from typing import Any

from resolab.browser.chromium.network_log import NetworkLog


def sent(request_id: str, url: str, at_s: float, **more: Any) -> tuple[str, dict[str, Any]]:
    params = {"requestId": request_id, "request": {"url": url, "method": "GET"}, "timestamp": at_s, "type": "Document"}
    return "Network.requestWillBeSent", params | more


def received(request_id: str, **response: Any) -> tuple[str, dict[str, Any]]:
    return "Network.responseReceived", {"requestId": request_id, "response": response}


def log_of(*events: tuple[str, dict[str, Any]]) -> NetworkLog:
    log = NetworkLog()
    for event, params in events:
        log.take(event, params)
    return log


TIMING = {
    "requestTime": 100.001,
    "dnsStart": 1.5,
    "dnsEnd": 11.5,
    "connectStart": 11.5,
    "connectEnd": 45.0,
    "sendStart": 14.0,
    "receiveHeadersEnd": 48.0,
}


def test_phases_count_from_the_documents_request() -> None:
    log = log_of(
        sent("L", "https://a.test/", 100.0),
        received("L", status=200, protocol="h3", remoteIPAddress="10.77.1.1", remotePort=443, timing=TIMING),
        ("Network.loadingFinished", {"requestId": "L", "timestamp": 100.05, "encodedDataLength": 234.0}),
    )
    (row,) = log.requests()
    assert (row.start_ms, row.dns_start_ms, row.dns_end_ms, row.headers_end_ms, row.end_ms) == (
        0.0,
        2.5,
        12.5,
        49.0,
        50.0,
    )
    assert (row.status, row.protocol, row.remote_address, row.encoded_bytes) == (200, "h3", "10.77.1.1:443", 234)
    assert log.document_status("L") == 200


def test_a_field_is_found_however_it_is_spelled() -> None:
    log = log_of(
        sent("L", "https://a.test/", 100.0),
        received("L", status=503, headers={"content-length": "0", "Retry-After": "120"}),
        sent("I", "https://a.test/i", 100.1),
        received("I", status=200, headers={"retry": "1"}),
    )
    assert [row.retry_after for row in log.requests()] == ["120", None]


def test_a_phase_that_did_not_happen_is_null() -> None:
    timing = TIMING | {"dnsStart": -1, "dnsEnd": -1, "connectStart": -1, "connectEnd": -1}
    (row,) = log_of(sent("L", "u", 100.0), received("L", status=200, timing=timing)).requests()
    assert row.dns_start_ms is row.dns_end_ms is row.connect_start_ms is row.connect_end_ms is None
    assert row.send_start_ms == 15.0


def test_a_redirect_makes_two_rows_of_one_id_and_the_last_decides() -> None:
    log = log_of(
        sent("L", "https://a.test/old", 100.0),
        sent("L", "https://a.test/new", 100.02, redirectResponse={"status": 301, "protocol": "h2"}),
        received("L", status=404, protocol="h2"),
    )
    old, new = log.requests()
    assert (old.status, old.end_ms, new.status, new.start_ms) == (301, 20.0, 404, 20.0)
    assert log.document_status("L") == 404


def test_failed_and_unfinished_requests_are_kept() -> None:
    failed = {"requestId": "2", "timestamp": 101.0, "errorText": "net::ERR_CONNECTION_REFUSED", "canceled": False}
    log = log_of(sent("1", "a", 100.0), sent("2", "b", 100.5), ("Network.loadingFailed", failed))
    unfinished, refused = log.requests()
    assert (unfinished.end_ms, unfinished.status, unfinished.error_text) == (None, None, None)
    assert (refused.error_text, refused.end_ms) == ("net::ERR_CONNECTION_REFUSED", 1000.0)


def test_pictures_of_the_browsers_own_error_page_are_no_requests_of_the_page() -> None:
    log = NetworkLog()
    log.take(*sent("D", "http://page.test/", 10.0, documentURL="http://page.test/"))
    log.take("Network.loadingFailed", {"requestId": "D", "timestamp": 10.1, "errorText": "net::ERR_CONNECTION_REFUSED"})
    log.take(*sent("1", "data:image/png;base64,iVBO", 10.2, documentURL="chrome-error://chromewebdata/"))
    assert [one.url for one in log.requests()] == ["http://page.test/"]


def test_beginning_anew_forgets_and_strays_are_ignored() -> None:
    log = log_of(sent("1", "a", 1.0))
    log.begin()
    log.take("Network.loadingFinished", {"requestId": "1", "timestamp": 2.0, "encodedDataLength": 1})
    log.take("Page.frameNavigated", {})
    assert log.requests() == []
    assert log.document_status("1") is None
