"""Values of recordings, possibly of any type, or missing. Not for: the values' meaning."""

import math
import re
from datetime import datetime, tzinfo
from urllib.parse import urljoin, urlsplit

from resolab.basics.urls import host_in_ascii, host_of_split

_PROTOCOLS = (
    (re.compile(r"^(h3|http/3|quic|hq)", re.IGNORECASE), "h3"),
    (re.compile(r"^(h2|http/2|spdy|2($|[ .]))", re.IGNORECASE), "h2"),
    (re.compile(r"^(http/)?1(\.[01])?$", re.IGNORECASE), "h1"),
)

_PORTS = {"http": 80, "https": 443}
_WITH_PORT = re.compile(r"(.*)(:[0-9]*)", re.DOTALL)


def number(value: object) -> float | None:
    """Return a number, written as number or text; `None` for infinite or other values."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return None
    return found if math.isfinite(found) else None


def count(value: object) -> int | None:
    """Return a non-negative whole number or `None`; recorders write -1 for unknown values."""
    found = number(value)
    return None if found is None or found < 0 or found > 1 << 50 else int(found)


def duration(value: object) -> float | None:
    """Return a time in ms, non-negative and below a day, or `None`."""
    found = number(value)
    return None if found is None or not 0 <= found < 86_400_000 else found


def text(value: object) -> str | None:
    """Return a non-empty text, stripped, or `None`."""
    return value.strip() or None if isinstance(value, str) else None


def instant(value: object) -> datetime | None:
    """Return an instant in ISO 8601 form or `None`; RFC 3339 section 5.6 allows small letters."""
    written = text(value)
    if written is None:
        return None
    try:
        return datetime.fromisoformat(written.upper())
    except ValueError:
        return None


def unix_ms(value: object, zone: tzinfo) -> float | None:
    """Return an instant as Unix time in ms; without a zone `zone` is valid, never this machine's."""
    found = instant(value)
    if found is None:
        return None
    try:
        return (found if found.tzinfo else found.replace(tzinfo=zone)).timestamp() * 1e3
    except (ValueError, OverflowError):
        return None


def protocol(value: object) -> str | None:
    """Return an HTTP version from a recorder's spelling; `None` for the unusable values of older recorders."""
    written = text(value)
    if written is None:
        return None
    return next((name for pattern, name in _PROTOCOLS if pattern.match(written)), None)


def read_host(url: str) -> str | None:
    """Return the host of an http or https URL as looked up: in A-labels, without the final dot."""
    try:
        parts = urlsplit(url)
        return host_of_split(parts) or None if parts.scheme in _PORTS else None
    except ValueError:
        return None


def same_url(url: str) -> str:
    """Normalise a URL: no fragment, a path of at least /, A-labels, no default port."""
    url = url.partition("#")[0]
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    user, at, host = parts.netloc.rpartition("@")
    name, port = host, ""
    if (with_port := _WITH_PORT.fullmatch(host)) is not None:
        name, port = with_port.groups()
    port = "" if port in {":", f":{_PORTS.get(parts.scheme)}"} else port
    netloc = user + at + (host_in_ascii(name) or name.lower()) + port
    return parts._replace(path=parts.path or "/", netloc=netloc).geturl()


def resolve_target(url: str, location: str) -> str:
    """Return a redirect's target URL; an invalid location is returned unchanged."""
    try:
        return same_url(urljoin(url, location))
    except ValueError:
        return location
