"""A condition put into force at the edge: profile, tickets, signs of HTTP/3, and what is closed before a load.

For: the commands, in their order, and remembering what holds already. Not for: browsers and stubs.

How a site shows that it speaks HTTP/3 is changed by command between trials, when a condition asks for another way than
the one before. A host name of its own for each way would do without commands, but changes the page with the condition:
its URL, its certificate, and every absolute address inside it.
"""

from collections.abc import Mapping

from resolab import engine
from resolab.plan import Condition
from resolab.testbed import layout
from resolab.testbed.layout import Offer, Site
from resolab.testbed.ways import POLICIES, cleared_for, offer_of


class EdgeInForce:
    """What an edge has been told."""

    def __init__(self, edge: engine.Edge, sites: Mapping[str, Site]) -> None:
        self.edge = edge
        self._sites = sites
        self._offers = dict.fromkeys(sites, Offer.NOTHING)

    async def put(self, condition: Condition) -> None:
        """Tell it what the condition's page and resolver are to be like."""
        await self._offer(condition.page, offer_of(condition))
        page_policy = POLICIES[condition.requested_handshake_mode]
        await self.edge.set_ticket_policy(self._sites[condition.page].host, page_policy)
        await self.edge.set_ticket_policy(layout.RESOLVER_NAME, POLICIES[condition.requested_dns_handshake_mode])

    async def close_after_warmup(self, condition: Condition) -> None:
        """Close what the measured load must not find open and the browser does not close itself.

        Elsewhere the browser alone closes: one that found HTTP/3 by itself, and Firefox always, goes back to h2 after
        the server closed its QUIC connection, and Chromium keeps sockets it has not used yet, on which nobody reads
        what the server says.
        """
        if not cleared_for(condition).sockets:
            await self.edge.close_connections(self._sites[condition.page].host)

    async def _offer(self, page: str, offer: Offer) -> None:
        if self._offers[page] is offer:
            return
        site = self._sites[page]
        settings = "\n".join(layout.site_settings(offer))
        await self.edge.load_site(site.host, site.folder, address=site.address, settings=settings)
        self._offers[page] = offer
