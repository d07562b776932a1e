"""The additional parts of a live plan: vantage point, operator, sites and resolvers.

For: data only. Not for: reading the parts (`network`, `sites`, `resolvers`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from resolab.basics.records import DnsTransport
from resolab.basics.urls import host_of_split

LAB = "lab"
"""The resolver and vantage point of every trial in the lab."""
LIVE_PROFILE = "live"
"""The profile of live plans, for the machine's own access link."""


@dataclass(frozen=True, slots=True)
class LiveSite:
    """One site, a page of the plan."""

    name: str
    """The page's, e.g. `example_com`."""
    url: str
    rank: int | None = None
    """The site's rank in the list used for drawing."""

    @property
    def host(self) -> str:
        """Return the name of the first look-up of the load."""
        return host_of_split(urlsplit(self.url))


@dataclass(frozen=True, slots=True)
class SiteList:
    """The list sites were drawn from."""

    list_id: str
    file: str
    """The file's path, as in the plan."""
    sha256: str | None
    """Hash of the file; `None` when the file was not available while reading the plan."""
    ranks: tuple[tuple[int, int], ...]
    """First and last of each range."""
    sample: int | None
    """The number of sites to draw; `None`: all sites of the ranges."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A resolver's endpoint for one transport."""

    url: str
    """The URL in the form for `resolab-core query`; only for the machine's own resolver the address is added later."""
    host: str
    """Name or address; empty for the machine's own."""
    port: int
    path: str = ""
    """The path of a DoH URL."""


@dataclass(frozen=True, slots=True)
class LiveResolver:
    """One resolver, with its name in the plan."""

    name: str
    endpoints: Mapping[DnsTransport, Endpoint]

    @property
    def is_system(self) -> bool:
        """Return True for the machine's own resolver, for any transport."""
        return any(not one.host for one in self.endpoints.values())


@dataclass(frozen=True, slots=True)
class LiveSettings:
    """The settings of a live plan beside factors."""

    vantage_point: str
    operator_url: str
    """Goes into every user agent."""
    resolvers: Mapping[str, LiveResolver]
    sites: Mapping[str, LiveSite] = field(default_factory=dict)
    """Sites by the page's name; empty without the list's file, as when reading a dataset."""
    site_list: SiteList | None = None
    opt_out: str | None = None
    """URL or file of the list of domains never to be contacted."""
    caps: Mapping[str, object] = field(default_factory=dict)
    """The limits lowered by the plan."""
    known_names_first: bool = False
    """True when our client looks up the known names before the load, to meet cold caches."""
