"""The duration of a browser's look-up of the document's name, by each browser's definition of a look-up.

For: one rule for tables and for sums of a load with another look-up. Not for: look-ups as the resolver saw them.
"""

from resolab.basics.records._generated import BrowserKind


def look_up_ms(browser: str, fetch_start: float | None, start: float | None, end: float | None) -> float | None:
    """Return the look-up time from fetchStart, domainLookupStart and domainLookupEnd in ms since navigationStart.

    Firefox waits for the HTTPS record before its domainLookupStart; by then the addresses have arrived. Therefore its
    look-up lasts from fetchStart to domainLookupEnd.
    """
    begins = fetch_start if browser == BrowserKind.FIREFOX else start
    return None if begins is None or end is None else end - begins
