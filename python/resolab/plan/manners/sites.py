"""The site of a URL: caps count sites, and a site is a registrable domain (Public Suffix List).

For: the name for counting loads. Not for: resolvers (`resolvers`).
"""

import ipaddress
import re
import socket
from functools import cache
from urllib.parse import urlsplit, urlunsplit

from publicsuffixlist import PublicSuffixList

from resolab.basics.errors import ConfigurationError
from resolab.basics.urls import host_as_written, host_in_ascii, plain_escapes

_HOST = re.compile(r"(?=.{1,253}\Z)[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*|(?=[^%]*:)[0-9a-f:.]+(?:%[a-z0-9._-]+)?")
"""A name in ASCII or an address. A browser may read any other host of Python's parser differently: browsers treat a
backslash as a slash, and decode percent signs (WHATWG's URL standard)."""
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
"""A host whose last label is a number is an address of version 4 (URL Standard, "ends in a number")."""
PORTS = {"http": 80, "https": 443}
"""The ports of URLs without an explicit port (RFC 9110 section 4.2)."""


@cache
def _suffixes() -> PublicSuffixList:
    return PublicSuffixList()


def read_host(url: str) -> str:
    """Return the host of an http or https URL, or of a bare host; lower case, in ASCII, without a final dot.

    Addresses are in canonical form, so each address is counted once. Raises `ConfigurationError` without a valid host.
    """
    text = url if "://" in url else f"//{url}"
    try:
        found = spelt_host(host_as_written(urlsplit(text)))
    except ValueError:
        found = ""
    if not found:
        raise ConfigurationError(f"{url!r} has no host: write a site as https://HOST/ or HOST")
    return found


def spelt_host(host: str) -> str:
    """Return the one spelling of a host, so it is counted once: in ASCII, lower case, without a final dot.

    Addresses are in canonical form, also those of numbers alone (`127.1`). Empty for a text impossible as a host.
    """
    found = host_in_ascii(host).rstrip(".")
    if not _HOST.fullmatch(found):
        return ""
    if is_address(found):
        return str(ipaddress.ip_address(found))
    if not _NUMBER.fullmatch(found.rpartition(".")[2]):
        return found
    try:
        return socket.inet_ntoa(socket.inet_aton(found))
    except OSError:
        return ""


def plain_url(url: str) -> str:
    """Return a page's URL in normal form (RFC 3986 sections 6.2.2 and 6.2.3), so the same page is recognised again.

    Raises `ConfigurationError` for a URL without a host. Users and fragments stay, for the caller to refuse.
    """
    host = read_host(url)
    parts = urlsplit(url)
    try:
        port = parts.port
    except ValueError as error:
        raise ConfigurationError(f"{url!r}: {error}; write a site as https://HOST/ or HOST") from error
    user = parts.netloc.rpartition("@")[0]
    bracketed = f"[{host}]" if ":" in host else host
    written = bracketed if port in {None, PORTS.get(parts.scheme)} else f"{bracketed}:{port}"
    netloc = f"{user}@{written}" if user else written
    path, query = plain_escapes(parts.path) or "/", plain_escapes(parts.query)
    return urlunsplit((parts.scheme, netloc, path, query, parts.fragment))


def is_looked_up(url: str) -> bool:
    """Return True when a URL's host is a name and needs a look-up."""
    return not is_address(read_host(url))


def is_address(host: str) -> bool:
    """Return True when a host is an IP address."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def find_site(url: str) -> str:
    """Return the site of a URL or host: the registrable domain, or the host itself without a registrable domain."""
    host = read_host(url)
    return (_suffixes().privatesuffix(host) or host) if is_looked_up(url) else host
