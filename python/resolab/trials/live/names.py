"""The contacted hosts of a load: names, servers, and URLs without private parts.

For: pure functions over a load's requests. Not for: judging the load (`client_side`).
"""

from collections.abc import Iterable, Mapping
from ipaddress import ip_address
from urllib.parse import urlsplit, urlunsplit

from resolab.basics.protocols import OVER_HTTP
from resolab.basics.records import BrowserKind, DnsTransport
from resolab.basics.urls import host_of_split
from resolab.browser import PageLoad

_OF_THE_NETWORK = {"http", "https", "ws", "wss"}


def metadata_url(url: str) -> str:
    """Return a URL without query, fragment and user: the location only, without transmitted content."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    if parts.scheme not in _OF_THE_NETWORK:
        return f"{parts.scheme}:"
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def list_names(load: PageLoad) -> list[str]:
    """List the host names requested by a load, the document's first, each once, including failed requests."""
    urls = [load.url, *(one.url for one in load.network), *(one.url for one in load.resources)]
    hosts = (_host(url) for url in urls)
    return list(dict.fromkeys(host for host in hosts if host and not _is_address(host)))


def list_servers(load: PageLoad) -> list[str]:
    """List the responding servers, `HOST=ADDRESS:PORT`, each once."""
    found: dict[str, None] = {}
    for one in load.network:
        host = _host(one.url)
        if host and one.remote_address and not one.from_cache:
            found[f"{host}={one.remote_address}"] = None
    return list(found)


def list_statuses(load: PageLoad) -> list[int | None]:
    """List the HTTP statuses of all requests of a load."""
    return [*(one.status for one in load.network), *(one.status for one in load.resources)]


def find_retry_after(load: PageLoad) -> str | None:
    """Return the Retry-After of the first request answered with 429 or 503."""
    asked = (one.retry_after for one in load.network if one.status in (429, 503))
    return next((one for one in asked if one is not None), None)


def look_ups_expected(
    names: Iterable[str], *, ipv6: bool, browser: BrowserKind, dns_transport: DnsTransport
) -> Mapping[tuple[str, str], None]:
    """List a browser's own queries for these names: A, and AAAA when the machine has an IPv6 route.

    Firefox always asks for both over its own DoH.
    """
    asks_both = ipv6 or (browser is BrowserKind.FIREFOX and dns_transport in OVER_HTTP)
    types = ("A", "AAAA") if asks_both else ("A",)
    return {(name, qtype): None for name in names for qtype in types}


def look_up_spans(load: PageLoad) -> dict[str, tuple[float, float]]:
    """Return the first and last instant of each name's look-up, when known: ms since the load's begin."""
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
    return host_of_split(parts) if parts.scheme in _OF_THE_NETWORK else ""


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
