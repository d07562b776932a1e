"""The opt-out list: domains never to be contacted, each with all names below.

For: reading a list and matching hosts. Not for: fetching the list (`opt_out_fetch`).

A list has one domain or IP address a line; `#` begins a comment. Any other line makes the whole list unreadable: an
error page instead of the list must not pass for a list without entries.
"""

import ipaddress
import re
from dataclasses import dataclass
from typing import Self

from resolab.basics.errors import ConfigurationError
from resolab.basics.urls import host_in_ascii
from resolab.plan.manners.sites import is_address

_DOMAIN = re.compile(r"(?=.{1,253}$)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")


@dataclass(frozen=True, slots=True)
class OptOut:
    """The listed domains in lower case and ASCII, and the addresses in canonical form."""

    domains: frozenset[str] = frozenset()

    @classmethod
    def read(cls, text: str, *, source: str) -> Self:
        """Read a list; raises `ConfigurationError` for a line without a valid domain."""
        found = set()
        for number, line in enumerate(text.splitlines(), start=1):
            word = line.partition("#")[0].strip()
            if word:
                found.add(_domain(word, f"line {number} of the opt-out list {source}"))
        return cls(frozenset(found))

    def covers(self, host: str) -> bool:
        """Return True when a host (in the form of `sites.host_of`) or a domain above the host is listed."""
        if is_address(host):
            return host in self.domains
        labels = host.lower().rstrip(".").split(".")
        return any(".".join(labels[start:]) in self.domains for start in range(len(labels)))


NOBODY = OptOut()
"""The empty list, for a plan without an opt-out list."""


def _domain(word: str, where: str) -> str:
    if is_address(word):
        return str(ipaddress.ip_address(word))
    name = host_in_ascii(word.removeprefix("*.")).rstrip(".")
    if not _DOMAIN.fullmatch(name):
        raise ConfigurationError(f"{where} is no domain: {word[:60]!r}; nothing is contacted until it is mended")
    return name
