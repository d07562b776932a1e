"""Which failure of the closed list a failed load is.

For: pure mapping of the browser's network errors and the driver's exceptions.
Not for: deciding whether to go on. The browser does not tell a name that does not exist from a resolver that does not
answer; the servers' records do.
"""

from resolab.browser.chromium.cdp import CdpClosedError, CdpError, CdpTimeoutError
from resolab.records import PageFailure

_PREFIXES: tuple[tuple[str, PageFailure], ...] = (
    ("ERR_NAME_", PageFailure.DNS),
    ("ERR_DNS_", PageFailure.DNS),
    ("ERR_ICANN_", PageFailure.DNS),
    ("ERR_HTTP_RESPONSE_CODE_FAILURE", PageFailure.HTTP_STATUS),
    ("ERR_INVALID_HTTP_RESPONSE", PageFailure.HTTP_STATUS),
    ("ERR_TOO_MANY_REDIRECTS", PageFailure.HTTP_STATUS),
    ("ERR_CERT", PageFailure.TLS),
    ("ERR_SSL_", PageFailure.TLS),
    ("ERR_BAD_SSL", PageFailure.TLS),
    ("ERR_ECH_", PageFailure.TLS),
    ("ERR_EARLY_DATA_", PageFailure.TLS),
    ("ERR_TLS", PageFailure.TLS),
    ("ERR_QUIC_", PageFailure.CONNECT),
    ("ERR_CONNECTION_", PageFailure.CONNECT),
    ("ERR_ADDRESS_", PageFailure.CONNECT),
    ("ERR_SOCKET_", PageFailure.CONNECT),
    ("ERR_INTERNET_DISCONNECTED", PageFailure.CONNECT),
    ("ERR_NETWORK_", PageFailure.CONNECT),
    ("ERR_TIMED_OUT", PageFailure.CONNECT),
    ("ERR_EMPTY_RESPONSE", PageFailure.CONNECT),
    ("ERR_CONTENT_LENGTH_MISMATCH", PageFailure.CONNECT),
    ("ERR_INCOMPLETE_CHUNKED_ENCODING", PageFailure.CONNECT),
    ("ERR_HTTP2_", PageFailure.CONNECT),
    ("ERR_ALPN_", PageFailure.CONNECT),
)


def of_error_text(error_text: str) -> PageFailure:
    """Class of a network error such as `net::ERR_NAME_NOT_RESOLVED`."""
    name = error_text.removeprefix("net::")
    return next((failure for prefix, failure in _PREFIXES if name.startswith(prefix)), PageFailure.OTHER)


def of_status(status: int | None) -> PageFailure | None:
    """`http_status` for a document that was answered with anything but 2xx."""
    if status is None or 200 <= status < 300:
        return None
    return PageFailure.HTTP_STATUS


def of_exception(error: CdpError | CdpTimeoutError | CdpClosedError) -> PageFailure:
    """Class of a driver's call that went wrong outside the page's own time limit."""
    if isinstance(error, CdpClosedError):
        return PageFailure.BROWSER_CRASH
    if isinstance(error, CdpTimeoutError):
        return PageFailure.BROWSER_HANG
    return PageFailure.DRIVER
