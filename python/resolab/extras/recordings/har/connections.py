"""The connection of a request, in HARs of different makers.

For: numbers of connections. Chromium's makers write Chromium's own number, 0 without a connection. Firefox and Firebug
write the server's port (HAR 1.2 permits the port), useless as a number of connections. Not for: the host of a
connection (`inference.hosts`).
"""

from collections.abc import Iterable
from dataclasses import replace
from urllib.parse import urlsplit

from resolab.extras.recordings.recording import RecordedExchange
from resolab.extras.recordings.values import text

_NONE = "0"
_PORTS = {"http": 80, "https": 443}


def read_connection(said: object) -> str | None:
    """Read an entry's connection; `None` for a missing connection or the number 0."""
    told = text(said)
    return None if told == _NONE else told


def remove_ports(exchanges: Iterable[RecordedExchange]) -> list[RecordedExchange]:
    """Remove all connections when each equals the port of its URL."""
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
