"""What a load tells of whom it asked: names, servers, and URLs without what is nobody's business.

For: pure functions over a load's requests. Not for: judging the load (`judged`).
"""

from collections.abc import Iterable, Mapping
from ipaddress import ip_address
from urllib.parse import urlsplit, urlunsplit

from resolab.browser import PageLoad
from resolab.protocols import OVER_HTTP
from resolab.records import BrowserName, DnsTransport

_OF_THE_NETWORK = {"http", "https", "ws", "wss"}


def metadata_url(url: str) -> str:
    """Return a URL without query, fragment and user: only where something was, not what was said."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    if parts.scheme not in _OF_THE_NETWORK:
        return f"{parts.scheme}:"
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def names_of(load: PageLoad) -> list[str]:
    """List the host names that a load asked for, the document's first, each once, failed requests included."""
    urls = [load.url, *(one.url for one in load.network), *(one.url for one in load.resources)]
    hosts = (_host(url) for url in urls)
    return list(dict.fromkeys(host for host in hosts if host and not _is_address(host)))


def servers_of(load: PageLoad) -> list[str]:
    """List the servers that answered, `HOST=ADDRESS:PORT`, each once."""
    found: dict[str, None] = {}
    for one in load.network:
        host = _host(one.url)
        if host and one.remote_address and not one.from_cache:
            found[f"{host}={one.remote_address}"] = None
    return list(found)


def statuses_of(load: PageLoad) -> list[int | None]:
    """List the HTTP statuses of all its requests."""
    return [*(one.status for one in load.network), *(one.status for one in load.resources)]


def retry_after_of(load: PageLoad) -> str | None:
    """Find the Retry-After of a request whose answer was 429 or 503."""
    asked = (one.retry_after for one in load.network if one.status in (429, 503))
    return next((one for one in asked if one is not None), None)


def look_ups_expected(
    names: Iterable[str], *, ipv6: bool, browser: BrowserName, dns_transport: DnsTransport
) -> Mapping[tuple[str, str], None]:
    """List what a browser asked by itself to reach these names: A, and AAAA where the machine has a route for it.

    Firefox asks for both over its own DoH, wherever it is.
    """
    asks_both = ipv6 or (browser is BrowserName.FIREFOX and dns_transport in OVER_HTTP)
    types = ("A", "AAAA") if asks_both else ("A",)
    return {(name, qtype): None for name in names for qtype in types}


def look_up_spans(load: PageLoad) -> dict[str, tuple[float, float]]:
    """Say when each name was looked up, first to last, where the browser tells: ms since the load's begin."""
    found: dict[str, tuple[float, float]] = {}
    for one in load.network:
        if one.dns_start_ms is not None and one.dns_end_ms is not None and (host := _host(one.url)):
            begin_ms, end_ms = found.get(host, (one.dns_start_ms, one.dns_end_ms))
            found[host] = min(begin_ms, one.dns_start_ms), max(end_ms, one.dns_end_ms)
    return found


def _host(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return (parts.hostname or "").rstrip(".").lower() if parts.scheme in _OF_THE_NETWORK else ""


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
