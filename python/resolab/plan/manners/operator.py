"""The operator of a measurement: the URL in every user agent, for questions and objections of contacted hosts.

For: the suffix and the checks of its URL. Not for: giving the suffix to a browser. There is no default: resolab's
authors measure nothing for others.
"""

import ipaddress
from collections.abc import Iterable
from urllib.parse import urlsplit

import resolab
from resolab.basics.errors import ConfigurationError
from resolab.plan.manners.sites import read_host

EXAMPLE_DOMAINS = ("example.com", "example.net", "example.org", "example", "invalid", "localhost", "local")
"""Domains without any server (RFC 2606, 6761, 6762); documents use these domains as placeholders for your own URL."""
TEST_DOMAIN = "test"
"""A domain in use only in an internet in a box (RFC 6761)."""
ADVICE = "give the http or https URL of a page of your own that says who measures, why, and how to be left out"


def user_agent_suffix(operator_url: str) -> str:
    """Return `resolab/VERSION (+URL)`; raises `ConfigurationError` for a URL without a reachable operator."""
    _host(operator_url)
    return f"resolab/{resolab.__version__} (+{operator_url})"


def check_operator(operator_url: str, contacted: Iterable[str]) -> None:
    """Reject a URL of the internet in a box when hosts outside a box would be contacted."""
    if not _is_below(_host(operator_url), TEST_DOMAIN):
        return
    for one in contacted:
        if not _is_below(read_host(one), TEST_DOMAIN):
            raise ConfigurationError(
                f"operator_url {operator_url} leads nowhere outside an internet in a box, and {read_host(one)} is "
                f"outside: {ADVICE}"
            )


def _host(operator_url: str) -> str:
    # It stands in a header, in parentheses.
    printable = operator_url.isascii() and operator_url.isprintable() and not set(operator_url) & set(' ()<>"\\')
    scheme = operator_url.partition("://")[0].lower()
    if not printable or scheme not in {"http", "https"} or not urlsplit(operator_url).hostname:
        raise ConfigurationError(f"operator_url {operator_url!r} is no URL for a user agent: {ADVICE}")
    host = read_host(operator_url)
    if any(_is_below(host, domain) for domain in EXAMPLE_DOMAINS) or _is_address(host) or "." not in host:
        raise ConfigurationError(f"operator_url {operator_url} leads to nobody: {ADVICE}")
    return host


def _is_below(host: str, domain: str) -> bool:
    return host == domain or host.endswith(f".{domain}")


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
