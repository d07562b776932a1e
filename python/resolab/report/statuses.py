"""Our failure classes as the five statuses of Hounsel et al. (WWW 2020), Table 1, and one that they lack.

For: which status each of our failures is, and how often each condition had which. Not for: tables of them (`tables`,
`h20.statuses`), or which failure a load had.

A load whose load event came without all of its page is `Incomplete` here; nothing of theirs would have noticed, so it
was among their successful ones. Their text defines no status. What their published code (noise-lab/dns-measurement)
shows: a load whose HAR was written is successful, whatever status the document had, which nothing looks at;
everything else is an exception of Selenium's, kept as text. From that text a time-out, `about:neterror?e=dnsNotFound`
and other errors of Selenium can be told apart; where connection and TLS errors went is not published: they stand
under `Other Error` here, because the other three name something else.
"""

import enum
from collections import Counter

from resolab.plan import Condition
from resolab.report.findings.findings import Findings

CITATION = "Hounsel et al., WWW 2020, Table 1"


class H20Status(enum.StrEnum):
    """Status of a page load, in their words and order but for `INCOMPLETE`."""

    SUCCESSFUL = "Successful"
    PAGE_LOAD_TIMEOUT = "Page-load Timeout"
    DNS_ERROR = "DNS Error"
    SELENIUM_ERROR = "Selenium Error"
    OTHER_ERROR = "Other Error"
    INCOMPLETE = "Incomplete"
    """Ours, not theirs: their code wrote the HAR of such a load and counted it as successful."""


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
    "no_measured_load": H20Status.SELENIUM_ERROR,
    # Of live runs alone: our manners contacted nothing, which is nobody's success.
    "left_alone": H20Status.OTHER_ERROR,
    "other": H20Status.OTHER_ERROR,
}


def h20_status(failure: str | None) -> H20Status:
    """Status of a load with this failure of ours, `None` for none."""
    return H20Status.SUCCESSFUL if failure is None else _STATUSES.get(failure, H20Status.OTHER_ERROR)


def status_counts(findings: Findings) -> dict[Condition, Counter[H20Status]]:
    """Count the statuses of every condition that has trials; those that the instrument lost count, too."""
    failures: dict[str, Counter[H20Status]] = {}
    for one in findings.failures:
        if one.kind == "page load":
            failures.setdefault(one.condition, Counter())[h20_status(one.failure)] += one.count
    found = {}
    for result in findings.conditions:
        if result.trials_count:
            counts = failures.get(result.condition.id, Counter())
            found[result.condition] = counts + Counter({H20Status.SUCCESSFUL: result.trials_count - counts.total()})
    return found
