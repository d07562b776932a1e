"""Timings from an account as Chromium gives it."""

from typing import Any

from resolab.browser.timings import page_timings, resource_records

NAVIGATION: dict[str, Any] = {
    "name": "https://example.resolab.test/",
    "initiatorType": "navigation",
    "startTime": 0,
    "nextHopProtocol": "h3",
    "fetchStart": 0.9,
    "domainLookupStart": 2.5,
    "domainLookupEnd": 12.1,
    "connectStart": 12.1,
    "secureConnectionStart": 12.3,
    "connectEnd": 46.8,
    "requestStart": 14.7,
    "responseStart": 49.3,
    "responseEnd": 50.1,
    "domInteractive": 80.0,
    "domContentLoadedEventStart": 80.5,
    "loadEventStart": 139.0,
    "transferSize": 475,
    "encodedBodySize": 175,
    "responseStatus": 200,
}
WITHHELD: dict[str, Any] = {
    "name": "https://other.test/i.png",
    "initiatorType": "img",
    "startTime": 60.5,
    "nextHopProtocol": "",
    "domainLookupStart": 0,
    "domainLookupEnd": 0,
    "connectStart": 0,
    "connectEnd": 0,
    "requestStart": 0,
    "responseStart": 0,
    "responseEnd": 99.5,
    "transferSize": 0,
    "encodedBodySize": 0,
    "responseStatus": 0,
}
CACHED = NAVIGATION | {
    "name": "c.css",
    "initiatorType": "link",
    "startTime": 55,
    "transferSize": 0,
    "encodedBodySize": 13,
}


def account(**changes: Any) -> dict[str, Any]:
    return {
        "timeOrigin": 1795297030544,
        "navigation": NAVIGATION | changes,
        "resources": [WITHHELD, CACHED],
        "fcp": 140.0,
        "lcp": None,
    }


def test_the_page_load_time_is_the_load_events_start_with_the_lookup_inside() -> None:
    timings = page_timings(account())
    assert timings is not None
    assert timings.plt_ms == 139.0
    assert (timings.domain_lookup_start_ms, timings.domain_lookup_end_ms) == (2.5, 12.1)
    assert timings.request_start_ms == 14.7  # Before connect_end_ms: early data.
    assert timings.secure_connection_start_ms == 12.3
    assert timings.dom_content_loaded_ms == 80.5
    assert (timings.fcp_ms, timings.lcp_ms) == (140.0, None)
    assert timings.next_hop_protocol == "h3"
    assert isinstance(timings.navigation_start_unix_ms, float)
    assert (timings.request_count, timings.transfer_size_bytes) == (3, 475)


def test_what_did_not_happen_is_null_and_never_zero() -> None:
    timings = page_timings(account(loadEventStart=0, domInteractive=0, responseEnd=0, nextHopProtocol=""))
    assert timings is not None
    assert timings.plt_ms is timings.dom_interactive_ms is timings.response_end_ms is timings.next_hop_protocol is None
    assert timings.response_start_ms == 49.3


def test_a_page_that_never_arrived_has_no_timings() -> None:
    assert page_timings({}) is None
    assert page_timings({"timeOrigin": 1, "navigation": None, "resources": []}) is None
    assert resource_records({}) == []


def test_the_document_comes_first_and_withheld_phases_are_null() -> None:
    document, withheld, cached = resource_records(account())
    assert (document.initiator_type, document.status, document.start_ms) == ("navigation", 200, 0.0)
    assert (document.secure_connection_start_ms, document.content_type) == (12.3, None)
    assert resource_records(account(contentType="text/html"))[0].content_type == "text/html"
    assert withheld.start_ms == 60.5
    assert withheld.response_end_ms == 99.5
    assert withheld.request_start_ms is withheld.transfer_size_bytes is withheld.encoded_body_bytes is None
    assert withheld.status is withheld.next_hop_protocol is None
    assert (cached.transfer_size_bytes, cached.encoded_body_bytes) == (0, 13)
