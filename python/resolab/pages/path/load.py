"""One load of a page as instants of its requests, by their indices in the page's model.

For: the input of `critical`. Not for: the origin of instants (`records`).

Names and meanings are those of Navigation and Resource Timing (W3C). Every instant counts from navigationStart; an
absent or unknown instant is `None`.
"""

import enum
from collections.abc import Mapping

import msgspec


class InstantSource(enum.StrEnum):
    """The source of the instants: browser or server."""

    BROWSER = "browser"
    SERVER = "server"
    """The browser's account lacks the request: its sending time and earlier instants are not known."""


class RequestInstants(msgspec.Struct, frozen=True, kw_only=True):
    """The instants of one request, in ms since navigationStart."""

    start_ms: float
    dns_start_ms: float | None = None
    dns_end_ms: float | None = None
    connect_start_ms: float | None = None
    secure_start_ms: float | None = None
    """The begin of TLS; unused for HTTP/3, as the whole of connecting is the handshake."""
    connect_end_ms: float | None = None
    request_start_ms: float | None = None
    response_start_ms: float | None = None
    response_end_ms: float | None = None
    protocol: str | None = None
    """`h1`, `h2` or `h3`; ALPN's words are taken, too."""
    teller: InstantSource = InstantSource.BROWSER

    @property
    def is_multiplexed(self) -> bool:
        """Return True when the request shares its host's connection, and may have waited for another's opening."""
        return self.protocol in {"h2", "h3"}


class LoadTimeline(msgspec.Struct, frozen=True, kw_only=True):
    """One load of a page, as instants of its requests."""

    load_ms: float
    """The load event, in ms since navigationStart."""
    requests: Mapping[int, RequestInstants]
    """Instants by index in the model, without unknown requests."""
