"""A load as reported live by the browser: requests, their order, and their initiators.

For: data only, in each browser's own format. The messages hold URLs, so they stay in memory and out of files;
`recordings` makes page models from the messages. Not for: times of a measured load (`result`): close listening slows
the load.
"""

import msgspec

from resolab.basics.records import PageFailure
from resolab.browser.remote import Json

QUIET_AFTER_S = 4.0
"""A page is done after this time without a begin or end of a request, counted from its load event."""


class ListeningRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One load to listen to, with the limits of listening."""

    url: str
    timeout_s: float
    """The limit of the whole load, from the navigation on."""
    quiet_after_s: float = QUIET_AFTER_S
    """The time without a begin or end of a request before the end of listening, in s; 0: end at the load event."""


class LoadEvents(msgspec.Struct, frozen=True, kw_only=True):
    """Everything heard of one load, successful or failed."""

    url: str
    browser: str
    """`chromium` or `firefox`: the browser behind the messages."""
    version: str
    messages: list[Json] = []
    """Chromium's events of the domains Network and Page, `{"method": ..., "params": ...}`. A request keeps its id in
    all events."""
    rows: list[Json] = []
    """Firefox's requests, as described by `firefox/load_listener/listener.js`."""
    loaded_unix_ms: float | None = None
    """Load event on the clock of `rows`."""
    complete_unix_ms: float | None = None
    """DOMContentLoaded on the clock of `rows`."""
    load_ms: float | None = None
    """Load event, since the page's own request."""
    status: int | None = None
    """The HTTP status of the page's document, after its redirections."""
    failure: PageFailure | None = None
    failure_detail: str | None = None
