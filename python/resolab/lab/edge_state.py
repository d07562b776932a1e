"""Put a condition into force at the edge: tickets, HTTP/3 offers, the cache, and closing connections before a load.

For: the commands in order, and remembering the current state. Not for: browsers and stubs.

A site's HTTP/3 offer is changed by command between trials, when a condition asks for another offer than before. A
separate host name for each offer would need no commands. But the page would change with the condition: its URL, its
certificate, and every absolute address inside.

Pages with too many names for the edge's memory are loaded by command for a condition, and removed before the next. When
the resolver's connections carry pages, its certificate covers the names of the condition's page.

A resolver without the answer in its cache is emulated by a later answer: for every name of the lab, any client and any
type, after the same time. A resolver lacking a share of a page's names delays these names (`cache_misses`), from the
load on.
"""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet

from resolab.basics.records import ConnectionSharing, ResolverCache, TicketPolicy
from resolab.basics.toml_text import key_lines
from resolab.lab import engine, layout
from resolab.lab.layout import Http3Offer, PageSite
from resolab.lab.offers import POLICIES, choose_offer
from resolab.plan import RESOLVER_NAME, Condition


class AppliedEdgeState:
    """The settings sent to an edge."""

    def __init__(
        self,
        edge: engine.Edge,
        sites: Mapping[str, PageSite],
        *,
        miss_delay_ms: float = 0.0,
        pages_at_resolver: bool = False,
        tells_origins: bool = False,
    ) -> None:
        self.edge = edge
        self._sites = sites
        self._pages_at_resolver = pages_at_resolver
        self._covered: str | None = None
        self._miss_delay_ms = miss_delay_ms
        self._resident = layout.are_resident(list(sites.values()))
        self._offers = dict.fromkeys(sites, Http3Offer.NOTHING) if self._resident else {}
        """The HTTP/3 offers of the pages at the edge."""
        self._policies: dict[str, TicketPolicy] = {}
        self._tells_origins = tells_origins
        self._cache = ResolverCache.HIT
        self._missed: AbstractSet[str] = frozenset()

    async def put(self, condition: Condition) -> None:
        """Set up the condition's page and resolver at the edge."""
        await self._load(condition.page, choose_offer(condition))
        await self._cover(condition.page)
        for host in self._sites[condition.page].hosts:
            await self._ticket_policy(host, POLICIES[condition.page_handshake_mode])
        await self._ticket_policy(RESOLVER_NAME, POLICIES[condition.requested_dns_handshake_mode])
        await self._tell_origins(telling=condition.connection_sharing is ConnectionSharing.ORIGIN_FRAME)
        await self._answer_from(condition.resolver_cache)
        await self.miss(frozenset())

    async def miss(self, names: AbstractSet[str]) -> None:
        """Make the resolver lack these names, and have all others in the condition's cache."""
        for name in sorted(self._missed - names):
            await self.edge.set_name_behaviour(name)
        for name in sorted(names - self._missed):
            await self.edge.set_name_behaviour(name, delay_ms=self._miss_delay_ms)
        self._missed = frozenset(names)

    async def close_page_connections(self, page: str) -> None:
        """Close all connections to a page's servers.

        One command: a second would choose anew, and close what the measured load has opened by then.
        """
        await self.edge.close_connections(self._sites[page].hosts)

    async def _load(self, page: str, offer: Http3Offer) -> None:
        """Load a page into the edge, with its HTTP/3 offer."""
        if self._offers.get(page) is offer:
            return
        if not self._resident:
            await self._remove_others(page)
        # A site that is there keeps its policy.
        policy = {} if page in self._offers else {"ticket_policy": TicketPolicy.NONE.value}
        for origin in self._sites[page].origins:
            settings = policy | layout.site_settings(offer, origin.settings)
            lines = "\n".join(key_lines(settings))
            await self.edge.load_site(origin.host, origin.folder, address=origin.address, settings=lines)
        self._offers[page] = offer

    async def _cover(self, page: str) -> None:
        """Make the resolver's certificate cover this page's names only.

        A certificate with the names of many pages would fill many packets.
        """
        if self._pages_at_resolver and page != self._covered:
            await self.edge.cover_names(layout.resolver_covers(self._sites[page]))
            self._covered = page

    async def _remove_others(self, page: str) -> None:
        for other in [one for one in self._offers if one != page]:
            del self._offers[other]
            for host in self._sites[other].hosts:
                await self.edge.remove_site(host)
                self._policies.pop(host, None)

    async def _ticket_policy(self, name: str, policy: TicketPolicy) -> None:
        if self._policies.get(name) is not policy:
            await self.edge.set_ticket_policy(name, policy)
            self._policies[name] = policy

    async def _tell_origins(self, *, telling: bool) -> None:
        """Switch the servers' ORIGIN frames on or off.

        Browsers reading ORIGIN frames share connections and look up names accordingly.
        """
        if telling is not self._tells_origins:
            await self.edge.set_origin_frames(telling=telling)
            self._tells_origins = telling

    async def _answer_from(self, cache: ResolverCache) -> None:
        if cache is not self._cache:
            delay_ms = self._miss_delay_ms if cache is ResolverCache.MISS else None
            await self.edge.set_name_behaviour(layout.EVERY_PAGES_NAME, delay_ms=delay_ms)
            self._cache = cache
