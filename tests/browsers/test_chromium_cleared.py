"""What Chromium is made to forget between warm-up and measured load, and what it keeps, judged by the edge's records."""

import itertools

import pytest
from chromium_lab import ALTERNATIVE, PLAIN, RACES_COUNT, RESOLVER, browser_lab, play, play_in_turn, usual_winner

from resolab.basics.errors import UnsupportedError
from resolab.basics.records import HttpVersion
from resolab.browser import Chromium, ClearedState, DohSettings, H3Discovery

pytestmark = [pytest.mark.browser, pytest.mark.privileged, pytest.mark.slow]

DOH = {version: DohSettings(host=RESOLVER, address="10.77.0.1", http_version=HttpVersion(version)) for version in ("h2", "h3")}  # fmt: skip
COMBINATIONS = list(itertools.product((True, False), repeat=3))


@pytest.fixture(scope="module")
def lab(tmp_path_factory, privileged):
    with browser_lab(tmp_path_factory.mktemp("cleared")) as running:
        yield running


def check(load, protocol="h3"):
    assert (load.measured.failure, load.measured.failure_detail) == (None, None)
    assert load.measured.timings.next_hop_protocol == protocol


def test_dns_cache_http_cache_and_sockets_go_one_by_one(lab):
    async def scene(browser):
        loads = {}
        for dns_cache, http_cache, sockets in COMBINATIONS:
            cleared = ClearedState(dns_cache=dns_cache, http_cache=http_cache, sockets=sockets)
            loads[dns_cache, http_cache, sockets] = await lab.load(browser, PLAIN, cleared=cleared)
        return loads

    lab.set_policy(PLAIN, "early_data")
    for (dns_cache, http_cache, sockets), load in play(Chromium, lab, scene, h3_hosts=(PLAIN,)).items():
        case = f"dns cache {dns_cache}, HTTP cache {http_cache}, sockets {sockets}"
        check(load)
        (warm, _), (request, connection) = load.document(warmup=True), load.document()
        assert request["status"] == (200 if http_cache else 304), case
        assert (request["connection_id"] != warm["connection_id"]) is sockets, case
        # An open connection needs no address.
        assert bool(load.queries()) is (dns_cache and sockets), case
        assert load.queries(warmup=True), case
        # Whether the request itself was early is a race of the browser's: its handshake ends after a round trip.
        assert connection["handshake_mode"] == ("zero_rtt" if sockets else "full"), case
        assert sockets or not request["in_early_data"], case


def test_tickets_go_with_everything_else_or_not_at_all(lab):
    async def scene(browser):
        for kept in ("dns_cache", "http_cache", "sockets"):
            with pytest.raises(UnsupportedError, match="only with their whole context"):
                await lab.load(browser, PLAIN, cleared=ClearedState(tickets=True, **{kept: False}))
        return [await lab.load(browser, PLAIN, cleared=ClearedState(tickets=tickets)) for tickets in (True, False)]

    lab.set_policy(PLAIN, "early_data")
    without, with_tickets = play(Chromium, lab, scene, h3_hosts=(PLAIN,))
    for load, mode in ((without, "full"), (with_tickets, "zero_rtt")):
        check(load)
        assert load.document()[1]["handshake_mode"] == mode
        assert load.document(warmup=True)[1]["handshake_mode"] == "full"
        assert load.queries()


@pytest.fixture(scope="module")
def warm_and_cold(lab):
    """By the version of DoH: loads that keep the resolver's connection, and one that keeps none."""

    async def scene(browser):
        with pytest.raises(UnsupportedError, match="all its connections or none"):
            await lab.load(browser, PLAIN, cleared=ClearedState(doh_connection=False))
        cleared = ClearedState(sockets=False, doh_connection=False)
        loads = [await lab.load(browser, PLAIN, cleared=cleared, close=PLAIN) for _ in range(2)]
        return loads, [await lab.load(browser, PLAIN, close="all")]

    lab.set_policy(PLAIN, "early_data")
    lab.set_policy(RESOLVER, "early_data")
    settings_of = {version: {"h3_hosts": (PLAIN,), "doh": doh} for version, doh in DOH.items()}
    return play_in_turn(Chromium, lab, scene, settings_of)


@pytest.mark.parametrize("version", DOH)
def test_the_resolvers_connection_stays_warm_while_the_pages_is_cold(warm_and_cold, version):
    warm, cold = warm_and_cold[version]
    for load in (*warm, *cold):
        check(load)
        (before, _), (request, connection) = load.document(warmup=True), load.document()
        assert request["connection_id"] != before["connection_id"]
        assert (request["http_version"], connection["handshake_mode"]) == ("h3", "zero_rtt")
        assert {query["dns_transport"] for query in load.queries()} == {"doh" if version == "h2" else "doh3"}
        used = {query["connection_id"] for query in load.queries()}
        assert (used <= {query["connection_id"] for query in load.queries(warmup=True)}) is (load in warm)


def test_alt_svc_is_kept_while_the_http_cache_goes(lab):
    async def scene(browser):
        with pytest.raises(UnsupportedError, match="forgets Alt-Svc"):
            await lab.load(browser, ALTERNATIVE, cleared=ClearedState(tickets=True))
        loads = {}
        for policy, http_cache in itertools.product(("none", "resume", "early_data"), (True, False)):
            lab.set_policy(ALTERNATIVE, policy)
            cleared = ClearedState(http_cache=http_cache)
            loads[policy, http_cache] = [
                await lab.load(browser, ALTERNATIVE, cleared=cleared, close="all") for _ in range(RACES_COUNT)
            ]
        return loads

    settings = {"h3_discovery": H3Discovery.ALT_SVC, "h3_hosts": (ALTERNATIVE,)}
    modes = {"none": "full", "resume": "resumed", "early_data": "zero_rtt"}
    for (policy, http_cache), loads in play(Chromium, lab, scene, **settings).items():
        load = usual_winner(loads)
        # A stored answer that was found to be good still has the protocol it first came by.
        check(load, "h3" if http_cache else "h2")
        assert load.document(warmup=True)[0]["http_version"] == "h2"
        request, connection = load.document()
        assert (request["http_version"], request["status"]) == ("h3", 200 if http_cache else 304)
        assert connection["handshake_mode"] == modes[policy], (policy, http_cache)
        assert load.queries()
