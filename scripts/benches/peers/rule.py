"""Whether a load was what was asked for: one rule for both tools, by what the browser itself says of it.

For: Navigation and Resource Timing, which either tool has. What only resolab knows, the edge's own account, judges
nothing here: it would take loads from one side that stay on the other. Not for: reading what a tool wrote.
"""

from dataclasses import dataclass

HTTP_VERSION = "h2"


@dataclass(frozen=True)
class Seen:
    """What the browser says of one load; nothing, or 0, is what did not happen."""

    plt_ms: float | None
    response_start_ms: float | None
    domain_lookup_ms: float | None
    http_version: str | None
    request_count: int | None


def failure_of(seen: Seen, request_count: int | None) -> str | None:
    """Say why a load does not count, if it does not; `request_count` is what its page has."""
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
