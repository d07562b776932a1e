"""The failures of a page load caused by the instrument.

For: one definition for the browsers, for the stopping rule and for reports. Not for: the contribution of a load without
such a failure (`store.outcomes`).
"""

from resolab.basics.records._generated import PageFailure

INSTRUMENT_FAILURES = frozenset(
    {PageFailure.BROWSER_CRASH, PageFailure.BROWSER_HANG, PageFailure.DRIVER, PageFailure.LAB_ENDED}
)
"""Driver, browser or a part of the lab failed: the load has no information about the network."""
