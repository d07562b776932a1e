"""The failure class of a failed load, from the closed list.

For: pure mapping of Chromium's network errors. Not for: failures common to every browser (`browser.failures`), or
deciding about the next load. The browser's errors do not separate a missing name from a silent resolver; the servers'
records do.
"""

from resolab.basics.records import PageFailure

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


def classify_error_text(error_text: str) -> PageFailure:
    """Return the failure class of a network error such as `net::ERR_NAME_NOT_RESOLVED`."""
    name = error_text.removeprefix("net::")
    return next((failure for prefix, failure in _PREFIXES if name.startswith(prefix)), PageFailure.OTHER)
