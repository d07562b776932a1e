"""Whose page a URL is: caps count sites, and a site is a registrable domain (Public Suffix List).

For: one name under which loads are counted. Not for: resolvers (`resolvers`).
"""

import ipaddress
from functools import cache
from urllib.parse import urlsplit

from publicsuffixlist import PublicSuffixList

from resolab.errors import ConfigurationError


@cache
def _suffixes() -> PublicSuffixList:
    return PublicSuffixList()


def host_of(url: str) -> str:
    """Return the host of an http or https URL, or a host as it is; lower case, in ASCII, without a final dot.

    An address has one spelling, so that it is counted once.
    """
    text = url if "://" in url else f"//{url}"
    try:
        host = urlsplit(text).hostname
        # In ASCII as it is asked for; what the codec cannot write can be no host.
        found = (host or "").encode("idna").decode().lower().rstrip(".") if host else ""
    except (ValueError, UnicodeError):
        found = ""
    if not found:
        raise ConfigurationError(f"{url!r} has no host: write a site as https://HOST/ or HOST")
    return _spelt(found)


def is_looked_up(url: str) -> bool:
    """Whether a URL's host is a name, for which somebody has to be asked."""
    return not is_address(host_of(url))


def is_address(host: str) -> bool:
    """Whether a host is an IP address."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _spelt(host: str) -> str:
    return str(ipaddress.ip_address(host)) if is_address(host) else host


def site_of(url: str) -> str:
    """Name the site of a URL or host: its registrable domain, or the host itself where it has none."""
    host = host_of(url)
    return (_suffixes().privatesuffix(host) or host) if is_looked_up(url) else host
