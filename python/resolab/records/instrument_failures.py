"""Which failures of a page load are the instrument's own.

For: one answer for the browsers, for the stopping rule and for reports. Not for: what a load without one contributes
(`store.outcomes`).
"""

from resolab.records._generated import PageFailure

INSTRUMENT_FAILURES = frozenset(
    {PageFailure.BROWSER_CRASH, PageFailure.BROWSER_HANG, PageFailure.DRIVER, PageFailure.LAB_ENDED}
)
"""Driver, browser or a part of the lab failed: such a load says nothing about the network."""
