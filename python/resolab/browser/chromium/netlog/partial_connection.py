"""The shared parts of reading a netlog: a growing connection and request, and names from parameters.

For: mutable shapes filled by events. Not for: the meaning of events (`sockets`, `quic`, `http`, `look_ups`).
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from resolab.browser.browser_log import RequestHead
from resolab.browser.chromium.netlog.events import NetlogEvent

Handlers = dict[str, Callable[[NetlogEvent], None]]
"""The handler of each event, by the event's name."""


@dataclass(slots=True, eq=False)
class PartialRequest:
    """A request being put together."""

    at_ms: float
    host: str
    path: str | None = None
    asker: int | None = None
    """Source of the request: of a page's, of a DoH query's."""
    job: int | None = None
    """The log source of the job behind the request's connection."""
    sent_early: bool | None = None
    """True when the head went in a packet of early data."""
    early: bool | None = None
    """True when the server accepted the early data."""
    made: RequestHead | None = None

    def request(self) -> RequestHead:
        """Return the request with the facts known now; every call returns the same object."""
        if self.made is None:
            self.made = RequestHead(self.at_ms, self.host, self.path, self.early)
        return self.made


@dataclass(slots=True, eq=False)
class PartialConnection:
    """A connection being put together: a socket, or a QUIC session."""

    opened_ms: float = 0.0
    is_quic: bool = False
    host: str | None = None
    address: str | None = None
    alpn: str | None = None
    tls_version: str | None = None
    connected_ms: float | None = None
    handshake_start_ms: float | None = None
    handshake_end_ms: float | None = None
    closed_ms: float | None = None
    resumed: bool | None = None
    early_data: bool | None = None
    certificate_job: int | None = None
    connect_job: int | None = None
    requests: list[PartialRequest] = field(default_factory=list)


def read_request(event: NetlogEvent) -> PartialRequest | None:
    """Read the request a session sends; heads are lists of `name: value`."""
    heads = event.params().get("headers")
    told = dict(_head(one) for one in heads if isinstance(one, str)) if isinstance(heads, list) else {}
    host = read_host(told.get(":authority"))
    return None if host is None else PartialRequest(event.time_ms, host, told.get(":path"))


def _head(line: str) -> tuple[str, str]:
    name, _, value = line.removeprefix(":").partition(":")
    return (":" if line.startswith(":") else "") + name, value.strip()


def read_host(authority: object) -> str | None:
    """Take name or address from `name:port` or `[address]:port`."""
    return host_of_url(f"//{authority}") if isinstance(authority, str) else None


def host_of_url(url: object) -> str | None:
    """Take a URL's host name."""
    if not isinstance(url, str):
        return None
    try:
        host = urlsplit(url).hostname
    except ValueError:
        return None
    return host.rstrip(".") if host else None


def path_of_url(url: object) -> str | None:
    """Return a URL's path with the query, as in a request line."""
    if not isinstance(url, str):
        return None
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def read_text(params: dict[str, Any], name: str) -> str | None:
    """Return a non-empty text parameter, stripped, or `None`."""
    value = params.get(name)
    return value.strip() or None if isinstance(value, str) else None


def read_number(params: dict[str, Any], name: str) -> int | None:
    """Take a whole number."""
    value = params.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else None
