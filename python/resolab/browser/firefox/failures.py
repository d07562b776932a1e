"""The failure class of a failed load, from the closed list.

For: pure mapping of Firefox's network errors, by their XPCOM names. Not for: failures common to every browser
(`browser.failures`), or deciding about the next load. The browser's errors do not separate a missing name from a silent
resolver; the servers' records do.
"""

from resolab.basics.records import PageFailure

_TLS_WORDS = ("NS_ERROR_MODULE_SECURITY", "SSL_ERROR", "SEC_ERROR", "MOZILLA_PKIX", "INADEQUATE_SECURITY")
_PREFIXES: tuple[tuple[str, PageFailure], ...] = (
    ("NS_ERROR_UNKNOWN_HOST", PageFailure.DNS),
    ("NS_ERROR_UNKNOWN_PROXY_HOST", PageFailure.DNS),
    ("NS_ERROR_DNS_", PageFailure.DNS),
    ("NS_ERROR_REDIRECT_LOOP", PageFailure.HTTP_STATUS),
    ("NS_ERROR_CONNECTION_REFUSED", PageFailure.CONNECT),
    ("NS_ERROR_HOST_IS_IP_QUERY", PageFailure.OTHER),
    ("NS_ERROR_NET_", PageFailure.CONNECT),
    ("NS_ERROR_OFFLINE", PageFailure.CONNECT),
    ("NS_ERROR_PROXY_", PageFailure.CONNECT),
)


def classify_error_name(name: str) -> PageFailure:
    """Return the failure class of a network error such as `NS_ERROR_UNKNOWN_HOST`."""
    if any(word in name for word in _TLS_WORDS):
        return PageFailure.TLS
    return next((failure for prefix, failure in _PREFIXES if name.startswith(prefix)), PageFailure.OTHER)
