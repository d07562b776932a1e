"""The validity of a load: a common rule for both tools, by the browser's own data.

For: Navigation and Resource Timing, available to both tools. The edge's account, known only to resolab, has no part in
the rule: loads would then be excluded for one tool but not for the other. Not for: reading a tool's output.
"""

from dataclasses import dataclass

HTTP_VERSION = "h2"


@dataclass(frozen=True)
class BrowserTimings:
    """The browser's data of a load; None or 0 for missing events."""

    plt_ms: float | None
    response_start_ms: float | None
    domain_lookup_ms: float | None
    http_version: str | None
    request_count: int | None


def failure_of(seen: BrowserTimings, request_count: int | None) -> str | None:
    """Return the reason for an invalid load, or None; `request_count` is the number of the page's requests."""
    if not seen.plt_ms:
        return "no load event"
    if not seen.response_start_ms:
        return "no first byte"
    if seen.http_version != HTTP_VERSION:
        return f"over {seen.http_version or 'an unknown version'}"
    if seen.domain_lookup_ms is None or seen.domain_lookup_ms <= 0:
        return "no look-up"
    if request_count is not None and (seen.request_count or 0) < request_count:
        return f"{seen.request_count or 0} of {request_count} requests"
    return None
