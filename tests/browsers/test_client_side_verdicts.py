"""What a load's client side tells of handshakes, the resolver's connection and a failed look-up is what the edge saw."""

import asyncio

import pytest
from chromium_lab import ADDRESS, PLAIN, RESOLVER, browser_lab

from resolab.basics.records import BrowserKind, ConnectionState, DnsFailure, HandshakeMode
from resolab.browser import Chromium, DohSettings, Firefox
from resolab.trials.live.client_side import FailureSource, judge_load, log_settings

pytestmark = [pytest.mark.browser, pytest.mark.privileged, pytest.mark.slow]
MAKERS = {BrowserKind.CHROMIUM: Chromium, BrowserKind.FIREFOX: Firefox}
POLICIES = {
    "none": HandshakeMode.FULL,
    "resume": HandshakeMode.RESUMED,
    "early_data": HandshakeMode.ZERO_RTT,
}


@pytest.fixture(scope="module", params=sorted(MAKERS))
def judged(request, privileged, tmp_path_factory):
    """Loads over h3 with the browser's own DoH: what the edge saw and what the client's side tells of each."""
    folder = tmp_path_factory.mktemp("verdicts")
    # A request is early data if the browser sends it within a round trip of its hello: 92 ms here.
    with browser_lab(folder, "4g") as lab:
        lab.set_policy(RESOLVER, "none")
        return asyncio.run(scenes(request.param, lab, folder))


async def scenes(name, lab, folder):
    doh = DohSettings(host=RESOLVER, address=ADDRESS)
    settings, log = log_settings(name, lab.settings(doh=doh, h3_hosts=(PLAIN,)), folder / "browser.log")
    browser, found = MAKERS[name](), {}
    try:
        async with asyncio.timeout(90):
            await browser.start(lab.prefix(with_hosts=True), settings)
            # Firefox makes the first load of its life over h2, whatever it has been told.
            await lab.load(browser, PLAIN, warmup=False)
            for policy in POLICIES:
                lab.set_policy(PLAIN, policy)
                log.mark()
                load = await lab.load(browser, PLAIN, close=PLAIN if name is BrowserKind.CHROMIUM else None)
                found[policy] = load, judge_load(load.result, log.read(), (), ())
            lab.edge.command("set_name_behaviour", name=PLAIN, failure="servfail")
            log.mark()
            load = await lab.load(browser, PLAIN, warmup=False)
            found["servfail"] = load, judge_load(load.result, log.read(), (), ())
    finally:
        await browser.close()
    return found


@pytest.mark.parametrize("policy", POLICIES)
def test_the_documents_handshake_is_the_one_the_edge_saw(judged, policy):
    load, verdict = judged[policy]
    request, connection = load.document()
    assert load.measured.failure is None
    assert (request["in_early_data"], connection["handshake_mode"]) == (policy == "early_data", POLICIES[policy])
    assert verdict.handshake_mode is POLICIES[policy]
    (row,) = [one for one in verdict.connections if one.host == PLAIN and one.handshake_mode is not None]
    assert (row.http_version, row.tls_version, row.handshake_mode) == ("h3", "TLS 1.3", POLICIES[policy])
    assert row.address is not None
    assert row.address.startswith("10.77.1.1")


@pytest.mark.parametrize("policy", POLICIES)
def test_the_resolvers_connection_is_the_one_the_edge_saw(judged, policy):
    load, verdict = judged[policy]
    assert load.queries()
    assert (verdict.dns_handshake_mode, verdict.dns_connection_state) == (HandshakeMode.FULL, ConnectionState.COLD)
    resolvers = [one for one in verdict.connections if one.is_resolver]
    assert resolvers
    assert {(one.host, one.http_version) for one in resolvers} == {(RESOLVER, "h2")}


def test_a_failed_look_up_is_told_by_the_browsers_log(judged):
    load, verdict = judged["servfail"]
    assert {one["rcode"] for one in load.queries()} == {"SERVFAIL"}
    assert (verdict.dns_failure, verdict.dns_failure_told_by) == (DnsFailure.SERVFAIL, FailureSource.BROWSER_LOG)
    assert verdict.handshake_mode is None
