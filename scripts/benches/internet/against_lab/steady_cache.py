"""A box with resolvers' caches always in one state: all hits, or all misses of one length. Pure except for the box.

For: live loads comparable to the lab's two levels of `resolver_cache`. Not for: the lab's side (`comparison_files`).

In an ordinary box, names live for 2 s to an hour and lie in zones at three distances; a load's look-ups are a mixture.
Here every name of the sites, and every negative answer, is kept for a day (`hit`), or not kept, with servers at one
distance (`miss`).
"""

import re
from collections.abc import Iterable

import msgspec

from resolab.basics.records import DnsTransport, ResolverCache
from resolab.extras.internet import Box, BoxLayout, BoxResolver, ResolverKnowledge, truth
from resolab.extras.internet.layout import DAY_S, BoxSite, Zone
from resolab.extras.internet.servers import ServerProgram
from resolab.extras.internet.standard import SITE_SERVERS
from resolab.extras.internet.zones import NEGATIVE_TTL_S
from resolab.plan.pages.page_file import registrable_domain

TTL_S = {ResolverCache.HIT: DAY_S, ResolverCache.MISS: 0}
_START_OF_ZONE = re.compile(rf"(IN SOA .* ){NEGATIVE_TTL_S}$", re.MULTILINE)


def steady_layout(layout: BoxLayout, cache: ResolverCache) -> BoxLayout:
    """Give the names of all sites one TTL and, with recursion on each look-up, a common server for their zones."""
    domains = {registrable_domain(origin.host) for site in layout.sites for origin in site.origins}
    zones = tuple(_steady(zone, cache) if zone.origin in domains else zone for zone in layout.zones)
    return msgspec.structs.replace(layout, zones=zones)


def _steady(zone: Zone, cache: ResolverCache) -> Zone:
    records = tuple(msgspec.structs.replace(one, ttl_s=TTL_S[cache]) for one in zone.records)
    server = SITE_SERVERS[0] if cache is ResolverCache.MISS else zone.server
    return msgspec.structs.replace(zone, records=records, server=server)


def steady_program(program: ServerProgram, cache: ResolverCache) -> ServerProgram:
    """Give negative answers the same TTL as the other answers."""
    files = {
        name: _START_OF_ZONE.sub(rf"\g<1>{TTL_S[cache]}", text) if name.endswith(".zone") else text
        for name, text in program.files.items()
    }
    return msgspec.structs.replace(program, files=files)


def recursion_ms(layout: BoxLayout, resolver: BoxResolver, sites: Iterable[BoxSite], cache: ResolverCache) -> float:
    """Return the wait of each look-up beyond the resolver; by the box's truth, all look-ups must wait equally."""
    if cache is ResolverCache.HIT:
        return 0.0
    hosts = [origin.host for site in sites for origin in site.origins]
    found = {
        truth(
            layout, resolver, DnsTransport.DOUDP, host, connection="cold", knowledge=ResolverKnowledge.ZONE
        ).recursion_ms
        for host in hosts
    }  # fmt: skip
    if len(found) != 1:
        raise ValueError(f"misses of one length were asked for, and the box has {sorted(found)}")
    return found.pop()


class SteadyBox(Box):
    """A box with steady zones."""

    cache = ResolverCache.HIT

    def programs(self) -> list[ServerProgram]:
        """List the servers, with the zones changed."""
        return [steady_program(program, self.cache) for program in super().programs()]
