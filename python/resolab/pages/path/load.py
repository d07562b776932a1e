"""One load of a page as instants of its requests, by their places in the page's model.

For: what `critical` takes. Not for: where instants come from (`records`).

Names and meanings are those of Navigation and Resource Timing (W3C); every instant counts from navigationStart and is
none where it did not happen or nobody told it.
"""

import enum
from collections.abc import Mapping

import msgspec


class Teller(enum.StrEnum):
    """Whose instants they are."""

    BROWSER = "browser"
    SERVER = "server"
    """The browser told nothing: when the request left and what came before is not known."""


class RequestInstants(msgspec.Struct, frozen=True, kw_only=True):
    """When one request did what."""

    start_ms: float
    dns_start_ms: float | None = None
    dns_end_ms: float | None = None
    connect_start_ms: float | None = None
    secure_start_ms: float | None = None
    """When TLS began; of HTTP/3 it is not used, whose handshake is all of its connecting."""
    connect_end_ms: float | None = None
    request_start_ms: float | None = None
    response_start_ms: float | None = None
    response_end_ms: float | None = None
    protocol: str | None = None
    """`h1`, `h2` or `h3`; ALPN's words are taken, too."""
    teller: Teller = Teller.BROWSER

    @property
    def is_multiplexed(self) -> bool:
        """Whether it shares its host's connection with others, so that it may have waited for one they opened."""
        return self.protocol in {"h2", "h3"}


class LoadInstants(msgspec.Struct, frozen=True, kw_only=True):
    """One load."""

    load_ms: float
    """Load event."""
    requests: Mapping[int, RequestInstants]
    """By place in the model; requests nobody told of are not there."""
