"""How long a browser's look-up of the document's name took, by what each browser calls a look-up.

For: one rule for tables and for sums of a load with another look-up. Not for: look-ups as the resolver saw them.
"""

from resolab.records._generated import BrowserName


def look_up_ms(browser: str, fetch_start: float | None, start: float | None, end: float | None) -> float | None:
    """Take fetchStart, domainLookupStart and domainLookupEnd in ms since navigationStart.

    Firefox waits for the HTTPS record before what it calls the look-up, and finds the addresses there by then: its
    look-up lies between fetchStart and domainLookupEnd.
    """
    begins = fetch_start if browser == BrowserName.FIREFOX else start
    return None if begins is None or end is None else end - begins
