"""What HARs of different makers say of the connection of a request.

For: numbers that tell connections apart. Chromium's makers write its own, 0 where there was none; Firefox and Firebug
the server's port (HAR 1.2 permits it), which tells nothing apart. Not for: which host one was opened to (`hosts`).
"""

from collections.abc import Iterable
from dataclasses import replace
from urllib.parse import urlsplit

from resolab.recordings.recording import Exchange
from resolab.recordings.values import text

_NONE = "0"
_PORTS = {"http": 80, "https": 443}


def connection_of(said: object) -> str | None:
    """Read it as it stands in an entry."""
    told = text(said)
    return None if told == _NONE else told


def without_ports(exchanges: Iterable[Exchange]) -> list[Exchange]:
    """Take connections away where each is the port of its URL."""
    known = list(exchanges)
    told = [one for one in known if one.connection is not None]
    if any(one.connection != _port(one.url) for one in told):
        return known
    return [replace(one, connection=None) for one in known]


def _port(url: str) -> str | None:
    try:
        parts = urlsplit(url)
        return str(parts.port or _PORTS.get(parts.scheme))
    except ValueError:
        return None
