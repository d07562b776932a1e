"""Failures of a load that are the same in every browser: an answer's status, a driver's call that went wrong.

For: pure mapping to the closed list. Not for: the browsers' own names of network errors (`failures` of each).
"""

from resolab.browser.remote import BrowserGoneError, CallTimeoutError, RemoteError
from resolab.records import PageFailure


def of_status(status: int | None) -> PageFailure | None:
    """`http_status` for a document that was answered with anything but 2xx."""
    if status is None or 200 <= status < 300:
        return None
    return PageFailure.HTTP_STATUS


def of_exception(error: RemoteError) -> PageFailure:
    """Class of a driver's call that went wrong outside the page's own time limit."""
    if isinstance(error, BrowserGoneError):
        return PageFailure.BROWSER_CRASH
    if isinstance(error, CallTimeoutError):
        return PageFailure.BROWSER_HANG
    return PageFailure.DRIVER
