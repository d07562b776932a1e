"""What the edge is told for a condition, and what it is not told again."""

import asyncio
from dataclasses import replace

import pytest
from made_loads import CONDITION, HOST

from resolab.plan import RESOLVER_NAME
from resolab.records import (
    BrowserName,
    ConnectionState,
    H3Discovery,
    HandshakeMode,
    ResolverCache,
    ResolverPath,
    TicketPolicy,
)
from resolab.testbed.in_force import EdgeInForce
from resolab.testbed.layout import EVERY_PAGES_NAME, Origin, Site

SITE = Site(page="example", host=HOST, address="10.77.1.1", folder="/pages", path="/")
WARM = replace(CONDITION, dns_connection_state=ConnectionState.WARM)
FIREFOX = replace(CONDITION, browser=BrowserName.FIREFOX)
ALT_SVC = replace(CONDITION, h3_discovery=H3Discovery.ALT_SVC)


class Edge:
    def __init__(self):
        self.told = []

    async def set_ticket_policy(self, name, policy):
        self.told.append((name, policy))

    async def load_site(self, host, folder, *, address, settings):
        self.told.append((host, settings))

    async def close_connections(self, names=None):
        self.told.append(("close", names))

    async def set_name_behaviour(self, name, *, delay_ms=None):
        self.told.append((name, delay_ms))


def told(*conditions, method="put", site=SITE):
    edge = Edge()
    in_force = EdgeInForce(edge, {"example": site}, miss_delay_ms=40)
    for condition in conditions:
        asyncio.run(getattr(in_force, method)(condition))
    return edge.told


def test_page_and_resolver_have_tickets_of_their_own():
    condition = replace(
        CONDITION,
        requested_handshake_mode=HandshakeMode.ZERO_RTT,
        requested_dns_handshake_mode=HandshakeMode.RESUMED,
    )
    assert told(condition) == [(HOST, TicketPolicy.EARLY_DATA), (RESOLVER_NAME, TicketPolicy.RESUME)]


def test_a_sites_sign_is_changed_only_when_a_condition_asks_for_another():
    settings = [what for _, what in told(CONDITION, ALT_SVC, ALT_SVC, CONDITION) if "compression" in what]
    assert ["alt_svc" in what for what in settings] == [True, False]


@pytest.mark.parametrize(
    ("condition", "closes"),
    [
        (CONDITION, []),
        (FIREFOX, []),
        (WARM, [("close", (HOST,))]),
        (replace(WARM, resolver_path=ResolverPath.STUB), []),
        (replace(WARM, browser=BrowserName.FIREFOX), []),
    ],
)
def test_the_edge_closes_only_what_the_browser_does_not_close_itself(condition, closes):
    assert told(condition, method="close_after_warmup") == closes


def test_every_name_of_a_page_is_told_and_closed_alike():
    other = Origin(host="n01." + HOST, address="10.77.1.2", folder="/n01")
    site = Site(page="example", host=HOST, address="10.77.1.1", folder="/pages", path="/", others=(other,))
    policies = {name for name, what in told(CONDITION, site=site) if what is TicketPolicy.NONE}
    assert policies == {HOST, "n01." + HOST, RESOLVER_NAME}
    loaded = [name for name, what in told(ALT_SVC, site=site) if "alt_svc" in what]
    assert loaded == [HOST, "n01." + HOST]
    # By one command: a second would close what the measured load has opened meanwhile.
    assert told(WARM, method="close_after_warmup", site=site) == [("close", (HOST, "n01." + HOST))]


def test_a_resolver_that_misses_answers_later_until_one_that_hits_is_asked_for():
    missing = replace(CONDITION, resolver_cache=ResolverCache.MISS)
    delays = [what for name, what in told(CONDITION, missing, missing, CONDITION, missing) if name == EVERY_PAGES_NAME]
    assert delays == [40, None, 40]
