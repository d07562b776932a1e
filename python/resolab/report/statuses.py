"""Our failure classes as the five statuses of Hounsel et al. (WWW 2020), Table 1.

For: pure mapping. Not for: which failure a load had, or counting (`status_table`).

Their text defines no status. What their published code (noise-lab/dns-measurement) shows: a load whose HAR was written
is successful, whatever status the document had, which nothing looks at; everything else is an exception of Selenium's,
kept as text. From that text a time-out, `about:neterror?e=dnsNotFound` and other errors of Selenium can be told apart;
where connection and TLS errors went is not published: they stand under `Other Error` here, because the other three
name something else.
"""

import enum

CITATION = "Hounsel et al., WWW 2020, Table 1"


class HounselStatus(enum.StrEnum):
    """Status of a page load, in their words and order."""

    SUCCESSFUL = "Successful"
    PAGE_LOAD_TIMEOUT = "Page-load Timeout"
    DNS_ERROR = "DNS Error"
    SELENIUM_ERROR = "Selenium Error"
    OTHER_ERROR = "Other Error"


_STATUSES = {
    "page_timeout": HounselStatus.PAGE_LOAD_TIMEOUT,
    "dns": HounselStatus.DNS_ERROR,
    "connect": HounselStatus.OTHER_ERROR,
    "tls": HounselStatus.OTHER_ERROR,
    # Its load event came: nothing of theirs would have noticed.
    "http_status": HounselStatus.SUCCESSFUL,
    "browser_crash": HounselStatus.SELENIUM_ERROR,
    "browser_hang": HounselStatus.SELENIUM_ERROR,
    "driver": HounselStatus.SELENIUM_ERROR,
    # The trial ended without a load: its driver could not begin.
    "no_measured_load": HounselStatus.SELENIUM_ERROR,
    "other": HounselStatus.OTHER_ERROR,
}


def hounsel_status(failure: str | None) -> HounselStatus:
    """Status of a load with this failure of ours, `None` for none."""
    return HounselStatus.SUCCESSFUL if failure is None else _STATUSES.get(failure, HounselStatus.OTHER_ERROR)
