"""What the edge is told for a condition, and what it is not told again."""

import asyncio
from dataclasses import replace

import pytest
from made_loads import CONDITION, HOST

from resolab.records import (
    BrowserName,
    ConnectionState,
    H3Discovery,
    HandshakeMode,
    ResolverPath,
    TicketPolicy,
)
from resolab.testbed.in_force import EdgeInForce
from resolab.testbed.layout import RESOLVER_NAME, Site

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

    async def close_connections(self, name=None):
        self.told.append(("close", name))


def told(*conditions, method="put"):
    edge = Edge()
    in_force = EdgeInForce(edge, {"example": SITE})
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
        (WARM, [("close", HOST)]),
        (replace(WARM, resolver_path=ResolverPath.STUB), []),
        (replace(WARM, browser=BrowserName.FIREFOX), []),
    ],
)
def test_the_edge_closes_only_what_the_browser_does_not_close_itself(condition, closes):
    assert told(condition, method="close_after_warmup") == closes
