"""What a live plan is beside an ordinary one: where it runs, who answers for it, its sites and its resolvers.

For: data only. Not for: reading it (`network`, `sites`, `resolvers`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from resolab.records import DnsTransport

LAB = "lab"
"""Resolver and vantage point of every trial that is not live."""
LIVE_PROFILE = "live"
"""Stands for the access link: it is whatever the machine has."""


@dataclass(frozen=True, slots=True)
class LiveSite:
    """One site, which is a page of the plan."""

    name: str
    """The page's, e.g. `example_com`."""
    url: str
    rank: int | None = None
    """In the list it was drawn from."""

    @property
    def host(self) -> str:
        """Name whose look-up begins the load."""
        return urlsplit(self.url).hostname or ""


@dataclass(frozen=True, slots=True)
class SiteList:
    """The list sites were drawn from."""

    list_id: str
    file: str
    """As the plan has it."""
    sha256: str | None
    """Of the file; None where it was not at hand when the plan was read."""
    ranks: tuple[tuple[int, int], ...]
    """First and last of each range."""
    sample: int | None
    """How many were drawn; None: all of the ranges."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a resolver answers over one transport."""

    url: str
    """As `resolab-core query` takes it; the address alone for a machine's own is put in later."""
    host: str
    """Name or address; empty for the machine's own."""
    port: int
    path: str = ""
    """Of DoH."""


@dataclass(frozen=True, slots=True)
class LiveResolver:
    """One resolver, by the name the plan gives it."""

    name: str
    endpoints: Mapping[DnsTransport, Endpoint]

    @property
    def is_system(self) -> bool:
        """Whether it is the machine's own for some transport."""
        return any(not one.host for one in self.endpoints.values())


@dataclass(frozen=True, slots=True)
class LiveSettings:
    """What a live plan has beside factors."""

    vantage_point: str
    operator_url: str
    """Goes into every user agent."""
    resolvers: Mapping[str, LiveResolver]
    sites: Mapping[str, LiveSite] = field(default_factory=dict)
    """By the page's name; empty where a list is not at hand, as when a dataset is read."""
    site_list: SiteList | None = None
    opt_out: str | None = None
    """URL or file of the list of domains never to be contacted."""
    caps: Mapping[str, object] = field(default_factory=dict)
    """What the plan lowers."""
    known_names_first: bool = False
    """Whether our client asks for names it knows of before the load, so that it meets cold caches."""
