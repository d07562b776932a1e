"""Page loads through the gateway: both browsers, connections shared as asked, handshakes in force judged by the edge.

Not for: the gateway alone (crates/gateway), what its loads take (docs/method/gateway.md).
"""

import asyncio
import contextlib
import os
import signal

import pytest
from browser_lab import LIMIT_S, begin_trial, measured, measured_load_begins

from resolab.basics.records import (
    ConnectionRecord,
    EdgeQueryRecord,
    EdgeRequestRecord,
    GatewayConnectionRecord,
    GatewayLegRecord,
    GatewayRequestRecord,
    GatewaySpeculationRecord,
    HandshakeMode,
    PageFailure,
    PageLoadRecord,
    Speculation,
)
from resolab.plan import Corpus, parse_plan
from resolab.plan.pages.page_file import RESOLVER_NAME
from resolab.trials.page_load.runner import PageLoadRunner

pytestmark = [pytest.mark.browser, pytest.mark.privileged, pytest.mark.slow]
PLAN = """
name = "gateway"
question = "What does a load through the gateway look like?"
seed = 1
blocks = 1
[factors]
page = ["wikipedia"]
profile = ["4g"] # a request is early data if the browser sends it within a round trip of its hello: 92 ms
dns_transport = ["{transport}"]
http_version = ["h3"]
requested_handshake_mode = ["full", "zero_rtt"]
requested_dns_handshake_mode = ["full", "zero_rtt"]
connection_sharing = ["separate", "resolver_connection"]
speculation = ["off", "document"]
browser = ["{browser}"]
[resolver_path]
{transport} = ["stub", "gateway"]
[[exclude]]
requested_handshake_mode = ["full"]
requested_dns_handshake_mode = ["zero_rtt"]
[[exclude]]
requested_handshake_mode = ["zero_rtt"]
requested_dns_handshake_mode = ["full"]
[[exclude]]
resolver_path = ["stub"]
connection_sharing = ["resolver_connection"]
[[exclude]]
connection_sharing = ["separate"]
speculation = ["document"]
[baseline]
resolver_path = "gateway"
connection_sharing = "separate"
speculation = "off"
[limits]
page_timeout_s = {limit_s}
"""
HELD_MS = 1_500.0
"""How long the page's name is held back where a gateway is killed in its look-up."""


@contextlib.asynccontextmanager
async def lab(browser, transport="doh3", limit_s=30.0):
    corpus = Corpus.from_project()
    plan = parse_plan(PLAN.format(browser=browser, transport=transport, limit_s=limit_s), "gateway", corpus)
    async with PageLoadRunner(plan, corpus, plan.seed) as testbed:
        yield testbed, [one for one in plan.conditions() if one.resolver_path == "gateway"]


async def trials(browser, transport):
    async with lab(browser, transport) as (testbed, conditions):
        return [
            (one, await testbed.run_trial(one, f"b000-t{number:03}"), testbed.lab.sites[one.page])
            for number, one in enumerate(conditions)
        ]


async def killed(browser):
    """A gateway that is killed in a measured load, and the load after it."""
    async with lab(browser, limit_s=LIMIT_S) as (testbed, conditions):
        await testbed.edge.set_name_behaviour("wikipedia.resolab.test", delay_ms=HELD_MS)
        trial = await begin_trial(testbed, conditions[0])
        await measured_load_begins(testbed)
        await asyncio.sleep(HELD_MS / 3 / 1000)
        os.kill(testbed.between.program(conditions[0]).process.pid, signal.SIGKILL)
        result = await trial
        await testbed.edge.set_name_behaviour("wikipedia.resolab.test")
        return result, await testbed.run_trial(conditions[0], "b000-t001")


@pytest.mark.parametrize("browser", ["chromium", "firefox"])
def test_a_killed_gateway_is_a_failed_load_that_says_so_and_the_next_is_good(browser, privileged):
    result, after = asyncio.run(killed(browser))
    assert measured(result).failure is PageFailure.LAB_ENDED
    assert measured(result).failure_detail.startswith("dns")
    assert "gateway_ended" in result.flags
    assert measured(after).failure is None
    assert set(after.flags) <= {"lateness_exceeded"}


@pytest.mark.parametrize(("browser", "transport"), [("chromium", "doh3"), ("firefox", "doh3"), ("chromium", "doq")])
def test_a_load_goes_on_the_connections_its_condition_asks_for(browser, transport, privileged):
    for condition, result, site in asyncio.run(trials(browser, transport)):
        check_trial(condition, result, site)


def in_force(condition):
    """Tell the handshake that a document has had.

    On the resolver's connection its name's query is the early data: unless it is asked for with that, the document comes
    after the answer, when the handshake has ended.
    """
    asked = condition.requested_handshake_mode
    in_turn = condition.connection_sharing == "resolver_connection" and condition.speculation == "off"
    return HandshakeMode.RESUMED if asked is HandshakeMode.ZERO_RTT and in_turn else asked


def check_trial(condition, result, site):
    (load,) = [one for one in result.records if isinstance(one, PageLoadRecord) and one.measured]
    assert (load.failure, load.failure_detail) == (None, None), condition.id
    assert load.handshake_mode is in_force(condition), condition.id
    # Firefox opens a connection over TCP, too, and takes the one that is ready first.
    assert load.next_hop_protocol == "h3", condition.id
    # The load began with the last batch of requests: those of the warm-up are before it.
    loads = {one.load for one in result.records if isinstance(one, GatewayRequestRecord)}
    requests = [one for one in result.records if isinstance(one, GatewayRequestRecord) and one.load == max(loads)]
    assert {one.status for one in requests} <= {200, 304}, condition.id
    assert len(requests) >= site.request_count, condition.id
    connections = [one for one in result.records if isinstance(one, GatewayConnectionRecord) and one.load == max(loads)]
    assert [one for one in result.records if isinstance(one, GatewayLegRecord) and one.load == max(loads)]
    shared = condition.connection_sharing == "resolver_connection"
    if shared:
        assert {one.host for one in connections if one.requests_count} <= {RESOLVER_NAME}, condition.id
    else:
        assert {one.host for one in connections} == {site.host}, condition.id
    documents = [one for one in result.records if isinstance(one, EdgeRequestRecord) and one.path == site.path]
    document = max(documents, key=lambda one: one.received_ns)
    names = {one.connection_id: one.server_name for one in result.records if isinstance(one, ConnectionRecord)}
    queries = {one.connection_id for one in result.records if isinstance(one, EdgeQueryRecord)}
    assert (document.connection_id in queries) == shared, condition.id
    assert names[document.connection_id] == (RESOLVER_NAME if shared else site.host), condition.id
    assert document.in_early_data == (in_force(condition) is HandshakeMode.ZERO_RTT), condition.id
    speculations = [one for one in result.records if isinstance(one, GatewaySpeculationRecord)]
    asked = condition.speculation == "document"
    assert [one.speculation for one in speculations] == ([Speculation.USED] if asked else []), condition.id
