"""Rows returned by the named queries.

For: typed results. Not for: the statements themselves (`queries`).
"""

import msgspec


class LoadRow(msgspec.Struct, kw_only=True, frozen=True):
    """One finished trial with its measured page load; without a load, the load's columns are null."""

    trial_id: str
    block: int
    round: int = 0
    """The trial's own block, where a page's loads all count for the first of its blocks (`Dataset.measured_loads`)."""
    condition: str
    page: str
    profile: str
    dns_transport: str
    http_version: str
    requested_handshake_mode: str
    resolver_path: str
    loaded: bool
    handshake_mode: str | None
    limit_ms: float | None
    failure: str | None
    exchange_failed: bool = False
    """True when the trial's cold DNS exchange failed."""
    flags: list[str] = []
    """The flags of the trial."""
    times_ms: dict[str, float | None]
    """Values by the outcome's name (`outcomes`)."""
    requested_dns_connection_state: str = "cold"
    requested_dns_handshake_mode: str = "full"
    dns_connection_state: str | None = None
    """The state of the page's look-up; null without a look-up, or when not seen."""
    dns_handshake_mode: str | None = None
    monotonic_ns: int | None = None
    """The beginning of the trial, by the machine's monotonic clock."""


class ExchangeRow(msgspec.Struct, kw_only=True, frozen=True):
    """One cold DNS exchange beside a load."""

    trial_id: str
    block: int
    profile: str
    resolver_extra_rtt_ms: float
    resolver_cache: str
    resolver: str
    resolver_software: str
    dns_transport: str
    requested_handshake_mode: str
    handshake_mode: str | None
    query_response_time_ns: int | None
    failure: str | None


class FailureRow(msgspec.Struct, kw_only=True, frozen=True):
    """The number of failures of one kind and class under one condition."""

    kind: str
    failure: str
    condition: str
    count: int
    detail: str | None


class FlagRow(msgspec.Struct, kw_only=True, frozen=True):
    """The number of flagged trials of a condition, by flag."""

    flag: str
    condition: str
    count: int


class HandshakeRow(msgspec.Struct, kw_only=True, frozen=True):
    """The number of exchanges, look-ups or loads with a requested handshake, by actual mode.

    For a look-up's connection the modes are the connection's, cold or warm.
    """

    kind: str
    dns_transport: str
    resolver_path: str | None
    browser: str | None = None
    http_version: str | None = None
    h3_discovery: str | None = None
    requested_handshake_mode: str
    handshake_mode: str | None
    count: int


class LatenessRow(msgspec.Struct, kw_only=True, frozen=True):
    """The path's own error on one profile beside one browser, over the windows of its trials, both directions."""

    profile: str
    browser: str = "chromium"
    windows_count: int
    packets_count: int
    lateness_p50_median_ns: float | None
    lateness_p99_median_ns: float | None
    lateness_p99_worst_ns: int | None
    lateness_max_ns: int | None
    dropped_device_count: int
    dropped_queue_count: int
    dropped_loss_count: int
    dropped_codel_count: int
    dropped_policer_count: int = 0
    dropped_outage_count: int


class BrowserRow(msgspec.Struct, kw_only=True, frozen=True):
    """A browser of the trials, with version and loads."""

    browser: str
    browser_version: str
    loads_count: int
