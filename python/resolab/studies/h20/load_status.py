"""The mapping of resolab's failure classes to the five statuses of Hounsel et al. (WWW 2020), Table 1, plus a sixth.

For: the status of each failure. Not for: tables of them (`statuses`), or the failure of a load.

A load with a load event but an incomplete page is `Incomplete` here. The paper's method would not have detected such a
load, and so counted the load as successful. The paper's text defines no status. The published code
(noise-lab/dns-measurement) shows the following rules. A load with a written HAR is successful for every HTTP status of
the document, because the status is not checked. All other loads end with a Selenium exception, stored as text. The text
distinguishes a time-out, `about:neterror?e=dnsNotFound` and other Selenium errors. The class of connection and TLS
errors is not published. They count as `Other Error` here, because the other three classes name other errors.
"""

import enum

from resolab.report.parts.failure_columns import FailureColumn
from resolab.store.outcomes import NO_MEASURED_LOAD


class H20Status(enum.StrEnum):
    """The status of a page load, in the paper's words and order, except `INCOMPLETE`."""

    SUCCESSFUL = "Successful"
    PAGE_LOAD_TIMEOUT = "Page-load Timeout"
    DNS_ERROR = "DNS Error"
    SELENIUM_ERROR = "Selenium Error"
    OTHER_ERROR = "Other Error"
    INCOMPLETE = "Incomplete"
    """Added by resolab: the paper's code wrote the HAR of such a load and counted the load as successful."""


_STATUSES = {
    "page_timeout": H20Status.PAGE_LOAD_TIMEOUT,
    "dns": H20Status.DNS_ERROR,
    "connect": H20Status.OTHER_ERROR,
    "tls": H20Status.OTHER_ERROR,
    # Its load event came: nothing of theirs would have noticed.
    "http_status": H20Status.SUCCESSFUL,
    "incomplete": H20Status.INCOMPLETE,
    "browser_crash": H20Status.SELENIUM_ERROR,
    "browser_hang": H20Status.SELENIUM_ERROR,
    "driver": H20Status.SELENIUM_ERROR,
    # They had no lab that could end.
    "lab_ended": H20Status.OTHER_ERROR,
    # The trial ended without a load: its driver could not begin.
    NO_MEASURED_LOAD: H20Status.SELENIUM_ERROR,
    # Of live runs alone: our manners contacted nothing, which is nobody's success.
    "left_alone": H20Status.OTHER_ERROR,
    "other": H20Status.OTHER_ERROR,
}


def h20_status(failure: str | None) -> H20Status:
    """Return the status of a load with this failure; `None` means a load without failure."""
    return H20Status.SUCCESSFUL if failure is None else _STATUSES.get(failure, H20Status.OTHER_ERROR)


FAILURE_COLUMN = FailureColumn("Hounsel et al. say", h20_status)
