"""A load as a browser told it while it happened: what it asked for, in which order, and who made it ask.

For: data only, in each browser's own words. They hold URLs, so they are for memory and not for files; page models are
made of them by `recordings`. Not for: times of a measured load (`result`): whoever listens so closely slows it down.
"""

import msgspec

from resolab.browser.remote import Json
from resolab.records import PageFailure

QUIET_AFTER_S = 4.0
"""Without a request beginning or ending for so long after its load event, a page is taken for done."""


class HearingRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One load to listen to."""

    url: str
    timeout_s: float
    """Limit of all of it, from the navigation on."""
    quiet_after_s: float = QUIET_AFTER_S
    """How long no request begins or ends before the listening is over; 0: at the load event."""


class Heard(msgspec.Struct, frozen=True, kw_only=True):
    """What was heard of one load, whatever became of it."""

    url: str
    browser: str
    """`chromium` or `firefox`: whose words these are."""
    version: str
    messages: list[Json] = []
    """Chromium's events of the domains Network and Page, `{"method": ..., "params": ...}`, with ids that are one
    request's in all of them."""
    rows: list[Json] = []
    """Firefox's requests, as `firefox/hearing/ear.js` describes them."""
    loaded_unix_ms: float | None = None
    """Load event on the clock of `rows`."""
    complete_unix_ms: float | None = None
    """DOMContentLoaded on that clock."""
    load_ms: float | None = None
    """Load event, since the page's own request."""
    status: int | None = None
    """Of the page's document, behind its redirections."""
    failure: PageFailure | None = None
    failure_detail: str | None = None
