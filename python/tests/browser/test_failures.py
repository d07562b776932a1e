"""Network errors as Chromium words them, and which failure each is; failures that are the same in every browser."""

import pytest

from resolab.basics.records import PageFailure
from resolab.browser import failures
from resolab.browser.chromium.failures import classify_error_text
from resolab.browser.remote import BrowserGoneError, CallError, CallTimeoutError


@pytest.mark.parametrize(
    ("text", "failure"),
    [
        ("net::ERR_NAME_NOT_RESOLVED", PageFailure.DNS),
        ("net::ERR_NAME_RESOLUTION_FAILED", PageFailure.DNS),
        ("net::ERR_DNS_TIMED_OUT", PageFailure.DNS),
        ("net::ERR_CONNECTION_REFUSED", PageFailure.CONNECT),
        ("net::ERR_CONNECTION_TIMED_OUT", PageFailure.CONNECT),
        ("net::ERR_ADDRESS_UNREACHABLE", PageFailure.CONNECT),
        ("net::ERR_QUIC_HANDSHAKE_FAILED", PageFailure.CONNECT),
        ("net::ERR_QUIC_PROTOCOL_ERROR", PageFailure.CONNECT),
        ("net::ERR_EMPTY_RESPONSE", PageFailure.CONNECT),
        ("net::ERR_CERT_AUTHORITY_INVALID", PageFailure.TLS),
        ("net::ERR_SSL_PROTOCOL_ERROR", PageFailure.TLS),
        ("net::ERR_HTTP_RESPONSE_CODE_FAILURE", PageFailure.HTTP_STATUS),
        ("net::ERR_ABORTED", PageFailure.OTHER),
        ("net::ERR_SOMETHING_NEW", PageFailure.OTHER),
    ],
)
def test_error_text(text: str, failure: PageFailure) -> None:
    assert classify_error_text(text) is failure


@pytest.mark.parametrize(
    ("status", "failed"), [(200, False), (204, False), (None, False), (304, True), (404, True), (503, True)]
)
def test_status(status: int | None, failed: bool) -> None:
    assert failures.classify_status(status) is (PageFailure.HTTP_STATUS if failed else None)


def test_exceptions_of_the_driver() -> None:
    assert failures.classify_exception(BrowserGoneError("gone")) is PageFailure.BROWSER_CRASH
    assert failures.classify_exception(CallTimeoutError("A", 1)) is PageFailure.BROWSER_HANG
    assert failures.classify_exception(CallError("A", "no")) is PageFailure.DRIVER
