"""The request for a page load and its result: data only.

For: the shapes handed out by the browser package. Names and meaning of the timings are those of `PageLoadRecord`.
Not for: reading timings from a browser (`timings`, `network_log`) or writing timings to a dataset.
"""

from collections.abc import Awaitable, Callable
from pathlib import Path

import msgspec

from resolab.basics.records import PageFailure, ResourceRecord


class ClearedState(msgspec.Struct, frozen=True, kw_only=True):
    """The state cleared between the warm-up and the measured load; other state stays as after the warm-up."""

    dns_cache: bool = True
    http_cache: bool = True
    sockets: bool = True
    """Every open connection, the browser's own to a DoH server included."""
    doh_connection: bool = True
    """With `sockets`: close the connection to the DoH server too. When false, only pages' connections are closed."""
    tickets: bool = False


class LoadRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One load in a fresh context, with a warm-up before the load."""

    url: str
    timeout_s: float
    """The limit of each of the two navigations, from its start to its load event."""
    warmup: bool = True
    """Without a warm-up all state is as cold as in a fresh context, tickets included."""
    cleared: ClearedState = ClearedState()
    settle: Callable[[], Awaitable[bool]] | None = None
    """Called after the closing of the warm-up's page and connections. The call closes connections at the servers, and
    returns True when the servers have no open work of the warm-up. On False, the browser closes and clears again and
    repeats the call: the call must return True in the end."""
    between: Callable[[], Awaitable[None]] | None = None
    """Called once after `settle`, right before the measured load."""


class PageTimings(msgspec.Struct, frozen=True, kw_only=True):
    """Instants in ms since navigationStart, as the browser gives them; `None` for absent or withheld instants."""

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
    """One request in the network stack's account, failed requests included.

    Instants are ms since the document's request.
    """

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
    """The TLS version of the connection, as are the two fields below; Chromium reports the three only in its log."""
    session_resumed: bool | None = None
    in_early_data: bool | None = None
    """True when this request went in early data accepted by the server."""
    dns_start_ms: float | None = None
    dns_end_ms: float | None = None
    connect_start_ms: float | None = None
    connect_end_ms: float | None = None
    send_start_ms: float | None = None
    headers_end_ms: float | None = None
    retry_after: str | None = None
    """The response's Retry-After field (RFC 9110 section 10.2.3)."""


class PageLoad(msgspec.Struct, frozen=True, kw_only=True):
    """One navigation, successful or failed."""

    url: str
    measured: bool
    limit_ms: float
    """A `page_timeout` is a censored value: the load event came later than this, if at all."""
    timings: PageTimings | None = None
    resources: list[ResourceRecord] = []
    """The document first, then the Resource Timing entries in the order of their starts."""
    network: list[NetworkRequest] = []
    status: int | None = None
    console_errors: list[str] = []
    """The errors on the console, from the page's scripts and from the browser."""
    screenshot_file: Path | None = None
    """The screenshot of a failed load, when requested by the browser's settings."""
    failure: PageFailure | None = None
    failure_detail: str | None = None


class Overhead(msgspec.Struct, frozen=True, kw_only=True):
    """The time of a load beside its navigations and `between`."""

    prepare_ms: float = 0.0
    warmup_ms: float = 0.0
    """The warm-up's time beyond its page load time: reading its timings, and preparing the measured load meanwhile."""
    clear_ms: float = 0.0
    collect_ms: float = 0.0
    dispose_ms: float = 0.0

    @property
    def total_ms(self) -> float:
        """Sum of the parts."""
        return self.prepare_ms + self.warmup_ms + self.clear_ms + self.collect_ms + self.dispose_ms


class LoadResult(msgspec.Struct, frozen=True, kw_only=True):
    """The warm-up and the measured load of one request."""

    warmup: PageLoad | None
    measured: PageLoad
    overhead: Overhead

    @property
    def failure(self) -> PageFailure | None:
        """Return the measured load's failure."""
        return self.measured.failure
