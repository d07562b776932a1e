"""What is asked of a page load and what comes back: data only.

For: the shapes the browser room hands out. Names and meaning of the timings are those of `PageLoadRecord`.
Not for: reading them out of a browser (`timings`, `network_log`) or writing them to a dataset.
"""

from collections.abc import Awaitable, Callable
from pathlib import Path

import msgspec

from resolab.records import PageFailure, ResourceRecord


class Cleared(msgspec.Struct, frozen=True, kw_only=True):
    """What is forgotten between the warm-up and the measured load; the rest is as the warm-up left it."""

    dns_cache: bool = True
    http_cache: bool = True
    sockets: bool = True
    """Every open connection, the browser's own to a DoH server included."""
    doh_connection: bool = True
    """With `sockets`: the connection to the DoH server too. Kept warm where false, while those of pages are closed."""
    tickets: bool = False


class LoadRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One load in a fresh context, with a warm-up before it."""

    url: str
    timeout_s: float
    """Limit of each of the two navigations, from its start to its load event."""
    warmup: bool = True
    """Without one everything is as cold as a fresh context is, tickets included."""
    cleared: Cleared = Cleared()
    settle: Callable[[], Awaitable[bool]] | None = None
    """Called when the page of the warm-up is closed and its connections are: closes connections from the servers' side
    and says whether nothing of the warm-up is under way there. Where something is, the browser closes and clears again
    and calls it again: it must say yes in the end."""
    between: Callable[[], Awaitable[None]] | None = None
    """Called once, after that: what is done right before the measured load."""


class PageTimings(msgspec.Struct, frozen=True, kw_only=True):
    """Instants in ms since navigationStart as the browser gives them; `None` is what did not happen or is withheld."""

    navigation_start_unix_ms: float | None = None
    next_hop_protocol: str | None = None
    fetch_start_ms: float | None = None
    domain_lookup_start_ms: float | None = None
    domain_lookup_end_ms: float | None = None
    connect_start_ms: float | None = None
    secure_connection_start_ms: float | None = None
    connect_end_ms: float | None = None
    request_start_ms: float | None = None
    response_start_ms: float | None = None
    response_end_ms: float | None = None
    dom_interactive_ms: float | None = None
    dom_content_loaded_ms: float | None = None
    plt_ms: float | None = None
    fcp_ms: float | None = None
    lcp_ms: float | None = None
    transfer_size_bytes: int | None = None
    request_count: int | None = None


class NetworkRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One request as the network stack told it, failed ones included. Instants are ms since the document's request."""

    url: str
    resource_type: str
    method: str
    start_ms: float
    end_ms: float | None = None
    status: int | None = None
    protocol: str | None = None
    remote_address: str | None = None
    connection_reused: bool | None = None
    from_cache: bool = False
    encoded_bytes: int | None = None
    error_text: str | None = None
    tls_version: str | None = None
    """This and the two below are of its connection; Chromium tells them in its log alone."""
    session_resumed: bool | None = None
    in_early_data: bool | None = None
    """Whether this request went in early data that the server accepted."""
    dns_start_ms: float | None = None
    dns_end_ms: float | None = None
    connect_start_ms: float | None = None
    connect_end_ms: float | None = None
    send_start_ms: float | None = None
    headers_end_ms: float | None = None
    retry_after: str | None = None
    """Its response's field (RFC 9110 section 10.2.3)."""


class PageLoad(msgspec.Struct, frozen=True, kw_only=True):
    """One navigation, whatever became of it."""

    url: str
    measured: bool
    limit_ms: float
    """A `page_timeout` is a censored value: the load event came later than this, if at all."""
    timings: PageTimings | None = None
    resources: list[ResourceRecord] = []
    """The document first, then Resource Timing in the order of its starts."""
    network: list[NetworkRequest] = []
    status: int | None = None
    console_errors: list[str] = []
    """What the page's scripts and the browser wrote to the console as errors."""
    screenshot_file: Path | None = None
    """Of a failed load, when the browser's settings asked for it."""
    failure: PageFailure | None = None
    failure_detail: str | None = None


class Overhead(msgspec.Struct, frozen=True, kw_only=True):
    """What a load costs beside its navigations and `between`."""

    prepare_ms: float = 0.0
    warmup_ms: float = 0.0
    """Of the warm-up beyond its page load time: its account, and whatever else had to be ready by its end."""
    clear_ms: float = 0.0
    collect_ms: float = 0.0
    dispose_ms: float = 0.0

    @property
    def total_ms(self) -> float:
        """Sum of the parts."""
        return self.prepare_ms + self.warmup_ms + self.clear_ms + self.collect_ms + self.dispose_ms


class LoadResult(msgspec.Struct, frozen=True, kw_only=True):
    """Warm-up and measured load of one request."""

    warmup: PageLoad | None
    measured: PageLoad
    overhead: Overhead

    @property
    def failure(self) -> PageFailure | None:
        """The measured load's."""
        return self.measured.failure
