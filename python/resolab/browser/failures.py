"""The failures of a load common to every browser: an answer's status, a failed driver call.

For: pure mapping to the closed list. Not for: the browsers' own names of network errors (`failures` of each).
"""

from resolab.basics.records import PageFailure
from resolab.browser.remote import BrowserGoneError, CallTimeoutError, RemoteError


def classify_status(status: int | None) -> PageFailure | None:
    """Return `http_status` for a document with any status but 2xx."""
    if status is None or 200 <= status < 300:
        return None
    return PageFailure.HTTP_STATUS


def classify_exception(error: RemoteError) -> PageFailure:
    """Return the failure class of a driver call failed outside the page's own time limit."""
    if isinstance(error, BrowserGoneError):
        return PageFailure.BROWSER_CRASH
    if isinstance(error, CallTimeoutError):
        return PageFailure.BROWSER_HANG
    return PageFailure.DRIVER
