"""The opt-out list: domains that are never to be contacted, each with all names below it.

For: reading a list, and whom it covers. Not for: fetching it (`fetching`).

A list has one domain or IP address a line; what follows `#` is a comment. A line that is neither makes the whole list
unreadable: an error page in the list's place must not pass for a list without entries.
"""

import ipaddress
import re
from dataclasses import dataclass
from typing import Self

from resolab.errors import ConfigurationError
from resolab.manners.sites import is_address

_DOMAIN = re.compile(r"(?=.{1,253}$)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")


@dataclass(frozen=True, slots=True)
class OptOut:
    """Domains in lower case and ASCII, and addresses in their one spelling."""

    domains: frozenset[str] = frozenset()

    @classmethod
    def read(cls, text: str, *, source: str) -> Self:
        """Read a list; raises `ConfigurationError` for a line that is no domain."""
        found = set()
        for number, line in enumerate(text.splitlines(), start=1):
            word = line.partition("#")[0].strip()
            if word:
                found.add(_domain(word, f"line {number} of the opt-out list {source}"))
        return cls(frozenset(found))

    def covers(self, host: str) -> bool:
        """Whether a host (as `sites.host_of` writes it) or a domain above it is listed."""
        if is_address(host):
            return host in self.domains
        labels = host.lower().rstrip(".").split(".")
        return any(".".join(labels[start:]) in self.domains for start in range(len(labels)))


NOBODY = OptOut()
"""The list of a plan that names none."""


def _domain(word: str, where: str) -> str:
    if is_address(word):
        return str(ipaddress.ip_address(word))
    bare = word.removeprefix("*.").rstrip(".")
    try:
        name = (bare if bare.isascii() else bare.encode("idna").decode()).lower()
    except UnicodeError:
        name = ""
    if not _DOMAIN.fullmatch(name):
        raise ConfigurationError(f"{where} is no domain: {word[:60]!r}; nothing is contacted until it is mended")
    return name
