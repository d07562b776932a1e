"""What the edge is told for a condition, and what it is not told again."""

import asyncio
import tomllib
from dataclasses import replace

import msgspec
import pytest
from made_loads import CONDITION, HOST, ORIGIN, OTHER, SITE

from resolab.basics.records import (
    BrowserKind,
    ConnectionSharing,
    ConnectionState,
    H3Discovery,
    HandshakeMode,
    ResolverCache,
    TicketPolicy,
)
from resolab.lab import layout
from resolab.lab.edge_state import AppliedEdgeState
from resolab.lab.layout import EVERY_PAGES_NAME, PageSite
from resolab.plan import RESOLVER_NAME
from resolab.plan.pages.serving import Serving

WARM = replace(CONDITION, dns_connection_state=ConnectionState.WARM)
FIREFOX = replace(CONDITION, browser=BrowserKind.FIREFOX)
ALT_SVC = replace(CONDITION, h3_discovery=H3Discovery.ALT_SVC)


class Edge:
    def __init__(self):
        self.told = []

    async def set_ticket_policy(self, name, policy):
        self.told.append((name, policy))

    async def load_site(self, host, folder, *, address, settings):
        self.told.append((host, settings))

    async def remove_site(self, host):
        self.told.append(("remove", host))

    async def set_origin_frames(self, *, telling):
        self.told.append(("telling", telling))

    async def cover_names(self, names):
        self.told.append(("cover", names))

    async def close_connections(self, names=None):
        self.told.append(("close", names))

    async def set_name_behaviour(self, name, *, delay_ms=None):
        self.told.append((name, delay_ms))


def told(*conditions, site=SITE, others=()):
    edge = Edge()
    sites = {one.page: one for one in (site, *others)}
    in_force = AppliedEdgeState(edge, sites, miss_delay_ms=40)
    for condition in conditions:
        asyncio.run(in_force.put(condition))
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


def test_every_name_of_a_page_is_told_and_closed_alike():
    site = PageSite(page="example", origins=(ORIGIN, OTHER), path="/")
    policies = {name for name, what in told(CONDITION, site=site) if what is TicketPolicy.NONE}
    assert policies == {HOST, "n01." + HOST, RESOLVER_NAME}
    loaded = [name for name, what in told(ALT_SVC, site=site) if "alt_svc" in what]
    assert loaded == [HOST, "n01." + HOST]
    # By one command: a second would close what the measured load has opened meanwhile.
    edge = Edge()
    asyncio.run(AppliedEdgeState(edge, {site.page: site}).close_page_connections(site.page))
    assert edge.told == [("close", (HOST, "n01." + HOST))]


def test_a_site_that_shows_another_sign_stays_what_its_page_made_it():
    serving = Serving(settings={"cors": True, "response": [{"path": "/0", "status": 404}]})
    site = PageSite(page="example", origins=(msgspec.structs.replace(ORIGIN, serving=serving), OTHER), path="/")
    loaded = {name: tomllib.loads(what) for name, what in told(ALT_SVC, site=site) if "compression" in what}
    signs = {"compression": [], "alt_svc": True, "cache_control": "no-store"}
    assert loaded == {HOST: {**signs, **serving.settings}, OTHER.host: signs}


def test_pages_of_too_many_names_come_when_they_are_needed_and_go_before_the_next(monkeypatch):
    other = PageSite(page="other", origins=(OTHER,), path="/")
    on_other = replace(CONDITION, page="other")
    quiet = [what for _, what in told(CONDITION, on_other, CONDITION, others=[other])]
    assert not any("compression" in str(what) for what in quiet)
    monkeypatch.setattr("resolab.lab.layout.RESIDENT_NAMES_LIMIT", 1)
    policy, settings = (HOST, TicketPolicy.NONE), 'ticket_policy = "none"\ncompression = []'
    resolver = (RESOLVER_NAME, TicketPolicy.NONE)
    assert told(CONDITION, CONDITION, on_other, CONDITION, others=[other]) == [
        (HOST, settings), policy, resolver,
        ("remove", HOST), (OTHER.host, settings), (OTHER.host, TicketPolicy.NONE),
        ("remove", OTHER.host), (HOST, settings), policy,
    ]  # fmt: skip
    # A sign is changed without taking the site away, or its policy.
    changed = told(CONDITION, ALT_SVC, others=[other])
    assert [name for name, _ in changed].count("remove") == 0
    assert "ticket_policy" not in changed[-1][1]
    assert "alt_svc" in changed[-1][1]


def test_a_resolver_that_misses_answers_later_until_one_that_hits_is_asked_for():
    missing = replace(CONDITION, resolver_cache=ResolverCache.MISS)
    delays = [what for name, what in told(CONDITION, missing, missing, CONDITION, missing) if name == EVERY_PAGES_NAME]
    assert delays == [40, None, 40]


def test_names_that_the_resolver_lacks_are_late_until_the_next_condition():
    edge = Edge()
    in_force = AppliedEdgeState(edge, {SITE.page: SITE}, miss_delay_ms=40)

    async def tell():
        await in_force.put(CONDITION)
        edge.told.clear()
        await in_force.miss({"a.test", "b.test"})
        await in_force.miss({"b.test", "c.test"})
        await in_force.put(CONDITION)

    asyncio.run(tell())
    assert edge.told == [
        ("a.test", 40), ("b.test", 40), ("a.test", None), ("c.test", 40), ("b.test", None), ("c.test", None)
    ]  # fmt: skip


@pytest.mark.parametrize("most", [1, 100])
@pytest.mark.parametrize("carries", [False, True])
def test_the_resolvers_certificate_covers_the_condition_s_page_where_its_connections_carry_pages(
    monkeypatch, carries, most
):
    monkeypatch.setattr(layout, "RESIDENT_NAMES_LIMIT", most)
    other = PageSite(
        page="b",
        origins=tuple(
            layout.PageOrigin(host=host, address="10.77.1.9", folder=None)
            for host in ("h0.s0-b.test", "h1.s0-b.test", "h2.s1-b.test")
        ),
        path="/",
    )
    edge = Edge()
    in_force = AppliedEdgeState(edge, {SITE.page: SITE, "b": other}, pages_at_resolver=carries)
    for condition in (replace(CONDITION, page="b"), replace(ALT_SVC, page="b"), CONDITION):
        asyncio.run(in_force.put(condition))
    covered = [names for what, names in edge.told if what == "cover"]
    assert covered == ([["*.s0-b.test", "*.s1-b.test"], [HOST]] if carries else [])


def test_servers_tell_their_origins_in_the_conditions_that_share_by_them_and_in_no_other():
    edge = Edge()
    in_force = AppliedEdgeState(edge, {SITE.page: SITE}, tells_origins=True)
    telling = replace(CONDITION, connection_sharing=ConnectionSharing.ORIGIN_FRAME)
    for condition in (CONDITION, CONDITION, telling, telling, CONDITION):
        asyncio.run(in_force.put(condition))
    assert [what for name, what in edge.told if name == "telling"] == [False, True, False]
    assert "telling" not in dict(told(CONDITION))
